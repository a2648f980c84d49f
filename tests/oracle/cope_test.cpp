// SPDX-License-Identifier: Apache-2.0
// cope/: positions counted by gates, with mixed heads and grouped queries.
#include "attend_check.h"

namespace locus::testing {
namespace {

class CopeOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"cope", GetParam()};
  const Json settings_ = peer_.json().at("settings");

  // x-transformers gives query head h the key head h % kv_heads: here every query head has a separate key head.
  static std::vector<double> spread(const std::vector<double>& keys, const std::vector<std::int64_t>& shape,
                                    std::int64_t heads) {
    const std::int64_t row = shape.at(2) * shape.at(3);
    std::vector<double> all;
    for (std::int64_t b = 0; b < shape.at(0); ++b) {
      for (std::int64_t h = 0; h < heads; ++h) {
        const auto from = keys.begin() + (b * shape.at(1) + h % shape.at(1)) * row;
        all.insert(all.end(), from, from + row);
      }
    }
    return all;
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, CopeOracle, ::testing::ValuesIn(oracle_cases("cope")), case_name);

TEST_P(CopeOracle, ScoresAndOutputs) {
  const auto heads = settings_.at("heads").get<std::int64_t>();
  Arguments arguments{{"heads", heads},
                      {"head_dim", settings_.at("head_dim").get<std::int64_t>()},
                      {"max_positions", settings_.at("max_pos").get<std::int64_t>()},
                      {"table", tensor_of(peer_, "pos_emb")}};
  if (peer_.has("W_talk")) arguments.set("gate_mix", tensor_of(peer_, "W_talk"));
  const Encoding encoding("cope", arguments);
  PeerTensors tensors = PeerTensors::of(peer_, "bhtd");
  tensors.k = spread(tensors.k, tensors.key_shape, heads);
  tensors.v = spread(tensors.v, tensors.key_shape, heads);
  tensors.key_shape[1] = heads;
  AttentionCall call;
  call.encoding = &encoding;
  call.mask.causal = true;
  expect_attention(tensors, call, {peer_.doubles("out_f64"), peer_.doubles("scores_f64")});
}

}  // namespace
}  // namespace locus::testing
