// SPDX-License-Identifier: Apache-2.0
// offset_map/: scores whose rotation uses a remapped offset (ReRoPE, SelfExtend, dual chunk attention).
#include "attend_check.h"

namespace locus::testing {
namespace {

class OffsetMapOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"offset_map", GetParam()};
  const Json settings_ = peer_.json().at("settings");
  std::int64_t tokens_ = peer_.shape("q").at(2);

  std::int64_t integer(const char* key) const { return settings_.at(key).get<std::int64_t>(); }

  Encoding encoding() const {
    Arguments arguments{{"head_dim", integer("head_dim")},
                        {"pairing", settings_.at("pairing") == "half_split" ? "half" : "interleaved"},
                        {"base", settings_.at("theta").get<double>()}};
    const std::string scheme = settings_.at("scheme");
    if (scheme == "ReRoPE" || scheme == "leaky ReRoPE") {
      arguments.set("map", std::string(scheme == "ReRoPE" ? "rerope" : "leaky_rerope"));
      arguments.set("window", integer("window"));
      if (scheme != "ReRoPE") arguments.set("group", integer("scaling_factor"));
    } else if (scheme == "SelfExtend") {
      arguments.set("map", std::string("self_extend"));
      arguments.set("window", integer("neighbor_window"));
      arguments.set("group", integer("group_size"));
    } else {
      arguments.set("map", std::string("dual_chunk"));
      arguments.set("chunk_size", integer("chunk_size"));
      arguments.set("local_size", integer("local_size"));
      arguments.set("unscaled_length", integer("original_max_position_embeddings"));
      arguments.set("length", tokens_);
    }
    if (settings_.contains("query_factor") && !settings_.at("query_factor").is_null()) {
      arguments.set("temperature", std::string("logarithm"));  // max(1, ln(p + 1) / ln(length))
      arguments.set("temperature_length", integer(settings_.contains("scale_base") ? "scale_base" : "training_length"));
    }
    return Encoding("offset_map", arguments);
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, OffsetMapOracle, ::testing::ValuesIn(oracle_cases("offset_map")), case_name);

TEST_P(OffsetMapOracle, Offsets) {
  const Encoding all = encoding();
  const OffsetMap& map = *all.rotation().offsets;
  const std::vector<double> want = peer_.doubles("offsets_f64");
  Worst worst("offsets_f64");
  for (Position i = 0; i < tokens_; ++i) {
    for (Position j = 0; j <= i; ++j) {
      std::size_t region = 0;
      while (region + 1 < map.regions.size() && j < map.regions[region].first_key(i)) ++region;
      const Position units = map.regions[region].query_at(i) - map.regions[region].key_at(j);
      const auto entry = static_cast<std::size_t>(i * tokens_ + j);
      // The peer's offsets were read off its scores.
      worst.see(static_cast<double>(units) / static_cast<double>(map.denominator), want[entry], 1e-6, entry);
    }
  }
}

TEST_P(OffsetMapOracle, ScoresAndOutputs) {
  const Encoding all = encoding();
  PeerTensors tensors = PeerTensors::of(peer_, "bhtd");
  const auto rotated = [&](std::vector<double>& vectors, const std::vector<std::int64_t>& shape, Role role) {
    PositionIds ids{.tokens = tokens_, .ids = {}};
    for (Position p = 0; p < tokens_; ++p) ids.ids.push_back(p);
    rotate(all, heads_view(vectors.data(), ElementType::float64, "bhtd", shape), ids, role);
  };
  rotated(tensors.q, tensors.query_shape, Role::query);
  rotated(tensors.k, tensors.key_shape, Role::key);
  AttentionCall call;
  call.encoding = &all;
  call.mask.causal = true;
  const std::vector<double> out = peer_.doubles("out_f64"), scores = peer_.doubles("scores_f64");
  expect_attention<double>(tensors, call, {out, scores});
  expect_attention<float>(tensors, call, {out, scores, 0x1p-23});  // inputs rounded after their rotation
}

}  // namespace
}  // namespace locus::testing
