// SPDX-License-Identifier: Apache-2.0
// pope/: PoPE-pytorch's polar queries and keys, their similarity and the attention on them.
#include "attend_check.h"
#include "locus/polar.h"
#include "locus/reference.h"
#include "rotation_check.h"

namespace locus::testing {
namespace {

class PopeOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"pope", GetParam()};
  const Json settings_ = peer_.json().at("settings");
  std::vector<std::int64_t> query_shape_ = peer_.shape("q"), key_shape_ = peer_.shape("k");

  std::int64_t integer(const char* key) const { return settings_.at(key).get<std::int64_t>(); }

  Encoding encoding() const {
    Arguments arguments{{"heads", integer("kv_heads")},
                        {"head_dim", integer("head_dim")},
                        {"channels", integer("rotate_dim")},
                        {"base", settings_.at("theta").get<double>()},
                        {"phases", tensor_of(peer_, "bias")}};
    if (!settings_.at("axial_dims").is_null()) {
      arguments.set("axis_channels", settings_.at("axial_dims").get<std::vector<double>>());
    }
    return Encoding("pope", arguments);
  }

  /// Ids of the last `count` tokens; the peer has [tokens, axes].
  PositionIds ids(std::int64_t count) const {
    const std::vector<std::int64_t> shape = peer_.shape("positions");
    const std::vector<double> all = peer_.doubles("positions");  // whole numbers
    const std::int64_t axes = shape.size() > 1 ? shape[1] : 1, first = shape[0] - count;
    PositionIds result{.axes = axes, .tokens = count, .ids = {}};
    for (std::int64_t axis = 0; axis < axes; ++axis) {
      for (std::int64_t t = 0; t < count; ++t) {
        const double position = all[static_cast<std::size_t>((first + t) * axes + axis)];
        result.ids.push_back(static_cast<Position>(position) + integer("position_offset"));
      }
    }
    return result;
  }

  /// [batch, heads, tokens, wide], in double.
  std::vector<double> polar(const Encoding& pope, const std::string& array, Role role, bool by_reference) const {
    const std::vector<std::int64_t> shape = peer_.shape(array);
    std::vector<std::int64_t> wide = shape;
    wide[3] = pope.rotation().head_dim;
    std::vector<double> in = peer_.doubles(array), out(static_cast<std::size_t>(wide[0] * wide[1] * wide[2] * wide[3]));
    const PositionIds places = ids(shape[2]);
    if (!by_reference) {
      rotate(pope,
             RotateViews{heads_view(in.data(), ElementType::float64, "bhtd", shape),
                         heads_view(out.data(), ElementType::float64, "bhtd", wide)},
             places, role);
      return out;
    }
    out.clear();
    for (std::int64_t i = 0; i < shape[0] * shape[1] * shape[2]; ++i) {
      const auto head =
          std::span(in).subspan(static_cast<std::size_t>(i * shape[3]), static_cast<std::size_t>(shape[3]));
      const std::int64_t key_head = i / shape[2] % shape[1];
      const auto one =
          reference::rotate(pope.rotation(), role, Direction::forward, ids_at(places, 0, i % shape[2]),
                            reference::to_polar(*pope.rotation().polar, role, head, role == Role::key ? key_head : 0));
      out.insert(out.end(), one.begin(), one.end());
    }
    return out;
  }

  double bound() const {
    double most = 1;
    for (const double angle : peer_.doubles("angles_f64")) most = std::max(most, std::fabs(angle));
    double size = 1;
    for (const char* array : {"q", "k"}) size = std::max(size, 1 + largest_of(peer_.doubles(array)));
    return size * (1e-12 + 4e-16 * most);
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, PopeOracle, ::testing::ValuesIn(oracle_cases("pope")), case_name);

TEST_P(PopeOracle, FrequenciesAndPhases) {
  const Encoding pope = encoding();
  const std::vector<double> want = peer_.doubles("inv_freq_f64"), phases = peer_.doubles("bias_clamped_f64");
  ASSERT_EQ(pope.rotation().inv_freq.size(), want.size());
  Worst frequency("inv_freq"), phase("phases");
  for (std::size_t i = 0; i < want.size(); ++i) frequency.see(pope.rotation().inv_freq[i], want[i], 1e-12 * want[i], i);
  ASSERT_EQ(pope.rotation().polar->phases.size(), phases.size());
  for (std::size_t i = 0; i < phases.size(); ++i) phase.see(pope.rotation().polar->phases[i], phases[i], 1e-15, i);
}

TEST_P(PopeOracle, QueriesAndKeys) {
  const Encoding pope = encoding();
  for (const auto& [array, role] : {std::pair{"q", Role::query}, std::pair{"k", Role::key}}) {
    const std::vector<double> want = peer_.doubles(std::string(array) + "_out_f64");
    for (const bool by_reference : {false, true}) {
      const std::vector<double> got = polar(pope, array, role, by_reference);
      ASSERT_EQ(got.size(), want.size());
      Worst worst(std::string(array) + (by_reference ? ".reference" : ".kernel"));
      for (std::size_t i = 0; i < got.size(); ++i) worst.see(got[i], want[i], bound(), i);
    }
  }
}

// Query head h of the peer uses key head h % kv_heads: here every query head gets a key head of its own. Values are
// padded with zeros to the width of polar heads. A case of decoding has no results; its scale is compared.
TEST_P(PopeOracle, Attention) {
  const Encoding pope = encoding();
  const std::int64_t heads = query_shape_[1], wide = pope.rotation().head_dim, d = integer("head_dim");
  const auto spread = [&](const std::vector<double>& rows, std::int64_t width) {
    std::vector<double> all;
    const std::int64_t row = key_shape_[2] * width;
    for (std::int64_t b = 0; b < key_shape_[0]; ++b) {
      for (std::int64_t h = 0; h < heads; ++h) {
        for (std::int64_t t = 0; t < key_shape_[2]; ++t) {
          const auto from = rows.begin() + (b * key_shape_[1] + h % key_shape_[1]) * row + t * width;
          all.insert(all.end(), from, from + width);
          all.insert(all.end(), static_cast<std::size_t>(wide - width), 0.0);
        }
      }
    }
    return all;
  };
  PeerTensors tensors{.axes = "bhtd",
                      .q = polar(pope, "q", Role::query, false),
                      .k = spread(polar(pope, "k", Role::key, false), wide),
                      .v = spread(peer_.doubles("v"), d),
                      .query_shape = {query_shape_[0], heads, query_shape_[2], wide},
                      .key_shape = {key_shape_[0], heads, key_shape_[2], wide}};
  std::vector<double> scores, out;
  if (peer_.has("similarity_f64")) {
    scores = peer_.doubles("similarity_f64");
    const std::int64_t queries = query_shape_[2], keys = key_shape_[2];
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const auto query = static_cast<std::int64_t>(i) / keys % queries, key = static_cast<std::int64_t>(i) % keys;
      const bool seen = !settings_.at("causal").get<bool>() || key <= query + keys - queries;
      scores[i] = seen ? scores[i] * settings_.at("softmax_scale").get<double>() : -HUGE_VAL;
    }
    const std::vector<double> narrow = peer_.doubles("out_f64");
    for (auto head = narrow.begin(); head != narrow.end(); head += d) {
      out.insert(out.end(), head, head + d);
      out.insert(out.end(), static_cast<std::size_t>(wide - d), 0.0);
    }
  }
  AttentionCall call;
  call.encoding = &pope;
  call.mask.causal = settings_.at("causal").get<bool>();
  call.mask.by_index = true;
  const double given = bound();
  expect_attention<double>(tensors, call, {out, scores, given});
  expect_attention<float>(tensors, call, {out, scores, 0x1p-23 + given});
  // What the peer calls d^-0.5 is the encoding's own softmax scale.
  EXPECT_NEAR(pope.rotation().softmax_scale_factor / std::sqrt(static_cast<double>(wide)),
              settings_.at("softmax_scale").get<double>(), 1e-15);
}

}  // namespace
}  // namespace locus::testing
