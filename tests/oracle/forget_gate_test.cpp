// SPDX-License-Identifier: Apache-2.0
// forget_gate/: sums of log gates between key and query (Forgetting Transformer, data-dependent ALiBi).
#include "attend_check.h"

namespace locus::testing {
namespace {

class ForgetGateOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"forget_gate", GetParam()};
  const Json settings_ = peer_.json().at("settings");
  bool fla_ = settings_.at("scheme") == "Forgetting Transformer";
  bool causal_ = settings_.at("causal").get<bool>();
  std::int64_t heads_ = settings_.at("heads").get<std::int64_t>();
  std::int64_t batch_ = peer_.shape("q").at(0), tokens_ = peer_.shape("q").at(fla_ ? 1 : 2);
  std::int64_t gates_ = causal_ ? 1 : 2;

  // [batch, tokens, heads, gates], in double.
  std::vector<double> log_gates() const {
    if (fla_) return peer_.doubles("log_gate");
    const std::vector<double> given = peer_.doubles("log_gate_f64");  // [batch, gates x heads, tokens]
    std::vector<double> gates;
    for (std::int64_t b = 0; b < batch_; ++b) {
      for (std::int64_t t = 0; t < tokens_; ++t) {
        for (std::int64_t h = 0; h < heads_; ++h) {
          for (std::int64_t g = 0; g < gates_; ++g) {
            gates.push_back(given[static_cast<std::size_t>(((b * gates_ + g) * heads_ + h) * tokens_ + t)]);
          }
        }
      }
    }
    return gates;
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, ForgetGateOracle, ::testing::ValuesIn(oracle_cases("forget_gate")), case_name);

TEST_P(ForgetGateOracle, ScoresAndOutputs) {
  const Encoding encoding("forget_gate", {{"heads", heads_}, {"bidirectional", !causal_}});
  std::vector<double> gates = log_gates();
  const std::vector<std::int64_t> extents{batch_, tokens_, heads_, gates_};
  std::vector<double> sums = running_sums(heads_view(gates.data(), ElementType::float64, "bthd", extents));
  AttentionCall call;
  call.encoding = &encoding;
  call.query_numbers = call.key_numbers = heads_view(sums.data(), ElementType::float64, "bthd", extents);
  call.mask.causal = causal_;
  if (fla_ && !settings_.at("window").is_null()) call.mask.window = settings_.at("window").get<std::int64_t>();
  expect_attention(PeerTensors::of(peer_, fla_ ? "bthd" : "bhtd"), call,
                   {peer_.doubles("out_f64"), peer_.doubles("scores_f64")});
}

}  // namespace
}  // namespace locus::testing
