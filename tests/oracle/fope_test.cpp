// SPDX-License-Identifier: Apache-2.0
// fope/: Intern-S1-Pro's mixed tables and the queries and keys turned by them.
#include "locus/rows.h"
#include "rotation_check.h"

namespace locus::testing {
namespace {

class FopeOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"fope", GetParam()};
  const Json& settings_ = peer_.json().at("settings");
  PositionIds ids_{.tokens = peer_.shape("positions").at(0), .ids = peer_.integers("positions")};

  Encoding encoding() const {
    Arguments arguments{{"heads", settings_.at("kv_heads").get<std::int64_t>()},
                        {"head_dim", settings_.at("head_dim").get<std::int64_t>()},
                        {"base", settings_.at("theta").get<double>()},
                        {"max_length", settings_.at("max_position_embeddings").get<std::int64_t>()},
                        {"cos_mix", tensor_of(peer_, "cos_coef")},
                        {"sin_mix", tensor_of(peer_, "sin_coef")}};
    if (!settings_.at("num_inv_freq").is_null()) {
      arguments.set("frequencies", settings_.at("num_inv_freq").get<std::int64_t>());
    }
    return Encoding("fope", arguments);
  }

  /// What the rounding of the peer's angles, 1e-16 per position and frequency, does to a sum over the frequencies.
  double bound(std::int64_t token) const {
    double most = 1;
    for (const char* array : {"cos_coef", "sin_coef"}) {
      for (const double x : peer_.doubles(array)) most = std::max(most, std::fabs(x));
    }
    const double terms = settings_.at("kept_frequencies").get<double>();
    return most * terms * double_bound(static_cast<double>(ids_.ids[static_cast<std::size_t>(token)]));
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, FopeOracle, ::testing::ValuesIn(oracle_cases("fope")), case_name);

TEST_P(FopeOracle, Frequencies) {
  const Rotation rotation = encoding().rotation();
  const std::vector<double> want = peer_.doubles("inv_freq_f64");
  ASSERT_EQ(rotation.mix->frequencies, static_cast<std::int64_t>(want.size()));
  Worst worst("inv_freq");
  for (std::size_t i = 0; i < want.size(); ++i) worst.see(rotation.inv_freq[i], want[i], 1e-12 * want[i], i);
}

TEST_P(FopeOracle, MixedTables) {
  const Encoding fope = encoding();
  const Rotation& rotation = fope.rotation();
  const std::vector<double> cos = peer_.doubles("cos_f64"), sin = peer_.doubles("sin_f64");
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  Worst kernel("kernel"), exact("reference");
  std::size_t at = 0;
  for (std::int64_t t = 0; t < ids_.tokens; ++t) {
    const Position id[] = {ids_.ids[static_cast<std::size_t>(t)]};
    for (std::int64_t head = 0; head < rotation.mix->heads; ++head) {
      std::vector<double> c(pairs), s(pairs), c2(pairs), s2(pairs);
      head_row(rotation, Role::key, id, head, c, s);
      reference::rotation_row(rotation, Role::key, id, c2, s2);
      reference::mix_row(rotation, head, c2, s2);
      for (std::size_t i = 0; i < pairs; ++i, ++at) {
        kernel.see(c[i], cos[at], bound(t), at);
        kernel.see(s[i], sin[at], bound(t), at);
        exact.see(c2[i], cos[at], bound(t), at);
        exact.see(s2[i], sin[at], bound(t), at);
      }
    }
  }
  EXPECT_EQ(at, cos.size());
}

TEST_P(FopeOracle, InDouble) {
  const Encoding fope = encoding();
  const PairBound pair_bound = [&](std::int64_t, std::int64_t t, std::size_t) { return bound(t); };
  for (const auto& [array, role] : {std::pair{"q", Role::query}, std::pair{"k", Role::key}}) {
    const Heads input = heads_of(peer_, array, "thd");
    const std::vector<double> want = peer_.doubles(std::string(array) + "_out_f64");
    expect_rotated(std::string(array) + ".kernel", fope.rotation(), input,
                   rotated(fope, input, widened(input.data), ids_, role), want, pair_bound);
    std::vector<double> exact;
    const auto d = static_cast<std::size_t>(input.shape[2]);
    const std::int64_t heads = input.shape[1], group = heads / fope.rotation().mix->heads;
    const std::vector<double> given = widened(input.data);
    for (std::int64_t t = 0; t < ids_.tokens; ++t) {
      for (std::int64_t h = 0; h < heads; ++h) {
        const Position id[] = {ids_.ids[static_cast<std::size_t>(t)]};
        const auto head = std::span(given).subspan(static_cast<std::size_t>(t * heads + h) * d, d);
        const auto out = reference::rotate(fope.rotation(), role, Direction::forward, id, head, h / group);
        exact.insert(exact.end(), out.begin(), out.end());
      }
    }
    expect_rotated(std::string(array) + ".reference", fope.rotation(), input, exact, want, pair_bound);
  }
}

}  // namespace
}  // namespace locus::testing
