// SPDX-License-Identifier: Apache-2.0
// distance_mlp/: biases that a small network makes of the offset (Swin V2, DynamicPositionBias, FIRE).
#include "attend_check.h"
#include "locus/bias.h"
#include "locus/positions.h"

namespace locus::testing {
namespace {

class DistanceMlpOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"distance_mlp", GetParam()};
  const Json settings_ = peer_.json().at("settings");

  std::int64_t integer(const char* key) const { return settings_.at(key).get<std::int64_t>(); }

  Encoding swin_v2() const {
    const auto side = [&](const char* key, std::size_t i) { return settings_.at(key).at(i).get<std::int64_t>(); };
    return Encoding("swin_v2", {{"heads", integer("heads")},
                                {"window_height", side("window", 0)},
                                {"window_width", side("window", 1)},
                                {"pretrained_height", side("pretrained_window", 0)},
                                {"pretrained_width", side("pretrained_window", 1)},
                                {"width", peer_.shape("w1").at(0)},
                                {"w1", tensor_of(peer_, "w1")},
                                {"b1", tensor_of(peer_, "b1")},
                                {"w2", tensor_of(peer_, "w2")}});
  }

  // The layers after the first, one behind the other: [depth - 1, ...] of arrays called prefix1, prefix2, ...
  Tensor stacked(const std::string& prefix, std::int64_t first, std::int64_t end) const {
    Tensor all{.shape = {end - first}, .data = {}};
    for (std::int64_t i = first; i < end; ++i) {
      const Tensor one = tensor_of(peer_, prefix + std::to_string(i));
      if (i == first) all.shape.insert(all.shape.end(), one.shape.begin(), one.shape.end());
      all.data.insert(all.data.end(), one.data.begin(), one.data.end());
    }
    return all;
  }

  Encoding dynamic_bias() const {
    const std::int64_t depth = integer("depth");
    Arguments arguments{{"heads", integer("heads")},
                        {"width", integer("dim")},
                        {"depth", depth},
                        {"log_distance", settings_.at("log_distance").get<bool>()},
                        {"norm", settings_.at("norm").get<bool>()},
                        {"w_in", tensor_of(peer_, "w0")},
                        {"b_in", tensor_of(peer_, "b0")},
                        {"w_out", tensor_of(peer_, "w_out")},
                        {"b_out", tensor_of(peer_, "b_out")}};
    if (depth > 1) {
      arguments.set("w", stacked("w", 1, depth));
      arguments.set("b", stacked("b", 1, depth));
    }
    if (settings_.at("norm").get<bool>()) {
      arguments.set("gamma", stacked("gamma", 0, depth));
      if (depth > 1) arguments.set("beta", stacked("beta", 1, depth));
    }
    return Encoding("dynamic_bias", arguments);
  }

  Encoding fire() const {
    const double threshold = std::fabs(settings_.at("L_multiplier").get<double>() * settings_.at("L").get<double>());
    return Encoding("fire", {{"heads", integer("heads")},
                             {"width", integer("mlp_width")},
                             {"w1", tensor_of(peer_, "w1")},
                             {"b1", tensor_of(peer_, "b1")},
                             {"w2", tensor_of(peer_, "w2")},
                             {"b2", tensor_of(peer_, "b2")},
                             {"c", std::vector<double>{settings_.at("c").get<double>()}},
                             {"threshold", std::vector<double>{threshold}}});
  }

  bool is_window() const { return settings_.contains("window"); }
  Encoding encoding() const { return is_window() ? swin_v2() : settings_.contains("depth") ? dynamic_bias() : fire(); }
};

INSTANTIATE_TEST_SUITE_P(Oracle, DistanceMlpOracle, ::testing::ValuesIn(oracle_cases("distance_mlp")), case_name);

TEST_P(DistanceMlpOracle, Bias) {
  const std::vector<std::int64_t> shape = peer_.shape("bias_f64");
  const std::vector<Position> keys = positions::prefill(shape.at(2)).ids;
  std::vector<Position> queries;  // the last query is at the last key
  for (std::int64_t i = 0; i < shape.at(1); ++i) queries.push_back(shape.at(2) - shape.at(1) + i);
  const std::vector<double> want = peer_.doubles("bias_f64"), got = bias_matrix(encoding(), queries, keys);
  ASSERT_EQ(got.size(), want.size());
  Worst worst("bias_f64");
  for (std::size_t i = 0; i < want.size(); ++i) worst.see(got[i], want[i], 1e-12 * (1 + std::fabs(want[i])), i);
}

// Swin V2's scores are cosines times a factor of the head, to which the bias is added.
TEST_P(DistanceMlpOracle, SwinV2Attention) {
  if (!is_window()) return;  // the other cases have a bias only, which the test above compares
  PeerTensors tensors = PeerTensors::of(peer_, "bthd");
  const auto width = static_cast<std::size_t>(tensors.query_shape.at(3));
  const auto heads = static_cast<std::size_t>(tensors.query_shape.at(2));
  const std::vector<double> logit_scale = peer_.doubles("logit_scale");
  for (auto* vectors : {&tensors.q, &tensors.k}) {
    for (std::size_t i = 0; i < vectors->size(); i += width) {
      double square = 0;
      for (std::size_t j = 0; j < width; ++j) square += (*vectors)[i + j] * (*vectors)[i + j];
      double factor = 1 / std::sqrt(square);
      if (vectors == &tensors.q) factor *= std::exp(std::min(logit_scale.at(i / width % heads), std::log(100.0)));
      for (std::size_t j = 0; j < width; ++j) (*vectors)[i + j] *= factor;
    }
  }
  const Encoding encoding = swin_v2();
  AttentionCall call;
  call.encoding = &encoding;
  expect_attention<double>(tensors, call, {peer_.doubles("out_f64"), peer_.doubles("scores_f64")});
  expect_attention<float>(tensors, call, {peer_.doubles("out_f64"), peer_.doubles("scores_f64"), 0x1p-24});
}

}  // namespace
}  // namespace locus::testing
