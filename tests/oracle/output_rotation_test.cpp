// SPDX-License-Identifier: Apache-2.0
// output_rotation/: DeepSeek V4, whose keys are values, whose output is turned back by the query's position, and whose
// compressed keys are at i * rate.
#include "locus/attention.h"
#include "locus/positions.h"
#include "locus/turn_output.h"
#include "rotation_check.h"

namespace locus::testing {
namespace {

class OutputRotationOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"output_rotation", GetParam()};
  const Json& settings_ = peer_.json().at("settings");
  std::vector<Position> positions_ = peer_.integers("positions");
  std::int64_t tokens_ = static_cast<std::int64_t>(positions_.size());
  std::int64_t head_dim_ = settings_.at("head_dim").get<std::int64_t>();
  std::int64_t heads_ = settings_.at("heads").get<std::int64_t>();

  /// By rope_type, as the product reads a config.
  Encoding encoding() const {
    Json rope = settings_.at("rope");
    const auto rope_dim = settings_.at("rope_dim").get<std::int64_t>();
    rope.erase("partial_rotary_factor");
    return encoding_of({{"model_type", "llama"},
                        {"head_dim", rope_dim},
                        {"max_position_embeddings", settings_.at("max_position_embeddings")},
                        {"rope_parameters", rope}},
                       {.layer_type = {}, .pairing = "interleaved", .length = {}},
                       {{"head_dim", head_dim_},
                        {"rotary_dim", rope_dim},
                        {"rotary_offset", head_dim_ - rope_dim},
                        {"turned_output", true}});
  }

  HeadsView view(std::vector<double>& data, std::int64_t heads) const {
    const std::int64_t extents[] = {static_cast<std::int64_t>(data.size()) / heads / head_dim_, heads, head_dim_};
    return heads_view(data.data(), ElementType::float64, "thd", extents);
  }

  std::int64_t rate() const {
    return settings_.at("compress_rate").is_null() ? 0 : settings_.at("compress_rate").get<std::int64_t>();
  }

  /// The tokens' keys, then the compressed ones, with their ids.
  std::vector<double> keys() const {
    std::vector<double> all = peer_.doubles("kv");
    if (rate() == 0) return all;
    const std::vector<double> more = peer_.doubles("compressed_unrotated_f64");
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  positions::Compressed compressed() const { return positions::compressed(compressed_entries(), rate()); }
  std::int64_t compressed_entries() const { return settings_.at("compressed_entries").get<std::int64_t>(); }
  PositionIds key_ids() const {
    PositionIds ids{.tokens = tokens_, .ids = positions_};
    if (rate() == 0) return ids;
    const positions::Compressed more = compressed();
    ids.ids.insert(ids.ids.end(), more.ids.ids.begin(), more.ids.ids.end());
    ids.tokens += more.ids.tokens;
    return ids;
  }

  void expect_close(const std::string& what, const std::vector<double>& got, const std::vector<double>& want,
                    double bound) const {
    ASSERT_EQ(got.size(), want.size()) << what;
    Worst worst(what);
    for (std::size_t i = 0; i < got.size(); ++i) worst.see(got[i], want[i], bound, i);
  }
  double angle_bound() const {
    return 16 * double_bound(static_cast<double>(*std::max_element(positions_.begin(), positions_.end())));
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, OutputRotationOracle, ::testing::ValuesIn(oracle_cases("output_rotation")), case_name);

class OutputRotationOracleCompressed : public OutputRotationOracle {};
INSTANTIATE_TEST_SUITE_P(Oracle, OutputRotationOracleCompressed,
                         ::testing::ValuesIn(cases_with("output_rotation", "compressed_positions")), case_name);

TEST_P(OutputRotationOracleCompressed, KeysHaveTheIdsAndVisibilityOfThePeer) {
  const positions::Compressed plan = compressed();
  EXPECT_EQ(plan.ids.ids, peer_.integers("compressed_positions"));
  const std::vector<std::uint8_t> visible = positions::compressed_visible(plan, positions_);
  const std::vector<std::int64_t> want = peer_.integers("visible");
  const std::int64_t columns = peer_.shape("visible").at(1);
  for (std::int64_t q = 0; q < tokens_; ++q) {
    for (std::int64_t i = 0; i < compressed_entries(); ++i) {
      EXPECT_EQ(visible[static_cast<std::size_t>(q * compressed_entries() + i)],
                want[static_cast<std::size_t>(q * columns + tokens_ + i)])
          << "query " << q << ", entry " << i;
    }
  }
}

// Queries, keys (which are the values), attention with sinks, and the output before and after it is turned back.
TEST_P(OutputRotationOracle, InDouble) {
  const Encoding rope = encoding();
  std::vector<double> q = peer_.doubles("q"), kv = keys(), out(q.size());
  rotate(rope, view(q, heads_), {.tokens = tokens_, .ids = positions_}, Role::query);
  rotate(rope, view(kv, 1), key_ids(), Role::key);
  expect_close("kv", kv, peer_.doubles("kv_out_f64"), angle_bound());

  const std::vector<std::int64_t> seen = peer_.integers("visible");
  const std::vector<std::uint8_t> pairs(seen.begin(), seen.end());
  const std::vector<float> sinks = peer_.floats("sinks");
  const std::vector<Position> all_keys = key_ids().ids;
  const AttentionCall call{.query = view(q, heads_),
                           .key = view(kv, 1),
                           .value = view(kv, 1),
                           .output = view(out, heads_),
                           .encoding = &rope,
                           .query_ids = positions_,
                           .key_ids = all_keys,
                           .mask = {.pairs = pairs},
                           .scale = settings_.at("softmax_scale").get<double>(),
                           .sink_logits = sinks};
  attend(call);
  expect_close("before", out, peer_.doubles("attn_raw_f64"), 16 * angle_bound());
  std::vector<double> turned = out;
  turn_output(rope, view(turned, heads_), {.tokens = tokens_, .ids = positions_});
  expect_close("after", turned, peer_.doubles("out_f64"), 16 * angle_bound());

  std::vector<double> exact;
  for (std::int64_t t = 0; t < tokens_; ++t) {
    for (std::int64_t h = 0; h < heads_; ++h) {
      const Position id[] = {positions_[static_cast<std::size_t>(t)]};
      const auto head = std::span(out).subspan(static_cast<std::size_t>((t * heads_ + h) * head_dim_),
                                               static_cast<std::size_t>(head_dim_));
      const auto back = reference::rotate(rope.rotation(), Role::key, Direction::inverse, id, head);
      exact.insert(exact.end(), back.begin(), back.end());
    }
  }
  expect_close("reference", exact, peer_.doubles("out_f64"), 16 * angle_bound());
}

}  // namespace
}  // namespace locus::testing
