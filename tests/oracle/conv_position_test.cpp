// SPDX-License-Identifier: Apache-2.0
// conv_position/: the grouped convolutions over tokens of wav2vec 2.0 and HuBERT.
#include "locus/add.h"
#include "locus/positions.h"
#include "locus/reference.h"
#include "oracle_check.h"

namespace locus::testing {
namespace {

class ConvPositionOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"conv_position", GetParam()};
  const Json settings_ = peer_.json().at("settings");
  std::int64_t batch_ = peer_.shape("x").at(0), tokens_ = peer_.shape("x").at(1), dim_ = peer_.shape("x").at(2);

  Encoding encoding() const {
    Arguments arguments{{"dim", dim_},
                        {"groups", settings_.at("groups").get<std::int64_t>()},
                        {"kernel", settings_.at("kernel").get<std::int64_t>()},
                        {"weight", tensor_of(peer_, peer_.has("weight_v") ? "weight_v" : "weight")},
                        {"bias", tensor_of(peer_, "bias")}};
    if (peer_.has("weight_g")) {
      arguments.set("weight_gain", Tensor{{peer_.shape("weight_g").back()}, peer_.floats("weight_g")});
    }
    if (settings_.at("batch_norm_before").get<bool>()) {
      arguments.set("norm_mean", tensor_of(peer_, "bn_mean"));
      arguments.set("norm_variance", tensor_of(peer_, "bn_var"));
      arguments.set("norm_scale", tensor_of(peer_, "bn_weight"));
      arguments.set("norm_shift", tensor_of(peer_, "bn_bias"));
      arguments.set("norm_epsilon", settings_.at("batch_norm_eps").get<double>());
    }
    return Encoding("conv_position", arguments);
  }

  /// The largest sum of absolute products.
  double size(const Encoding& conv) const {
    const Neighbours& from = *conv.hidden().neighbours;
    const std::size_t n = from.weight.size() / static_cast<std::size_t>(dim_);
    double most_weight = 0, most_input = 0;
    for (std::size_t first = 0; first < from.weight.size(); first += n) {
      double sum = 0;
      for (std::size_t i = first; i < first + n; ++i) sum += std::fabs(from.weight[i]);
      most_weight = std::max(most_weight, sum);
    }
    const std::vector<double> x = peer_.doubles("x");
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::size_t c = i % static_cast<std::size_t>(dim_);
      const double input = from.input_scale.empty() ? x[i] : x[i] * from.input_scale[c] + from.input_shift[c];
      most_input = std::max({most_input, std::fabs(input), std::fabs(x[i])});
    }
    return most_input * (1 + most_weight);
  }

  template <class T>
  void expect_added(const Encoding& conv, double bound) const {
    std::vector<T> x;
    for (const double value : peer_.doubles("x")) x.push_back(static_cast<T>(value));
    const ElementType type = sizeof(T) == 8 ? ElementType::float64 : ElementType::float32;
    add(conv, {x.data(), type, batch_, tokens_, dim_, tokens_ * dim_, dim_}, positions::prefill(tokens_));
    const std::vector<double> want = peer_.doubles("x_plus_out_f64");
    ASSERT_EQ(x.size(), want.size());
    Worst worst("kernel in " + std::string(name_of(type)));
    for (std::size_t i = 0; i < x.size(); ++i) worst.see(static_cast<double>(x[i]), want[i], bound, i);
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, ConvPositionOracle, ::testing::ValuesIn(oracle_cases("conv_position")), case_name);

TEST_P(ConvPositionOracle, Weights) {
  const std::string array = peer_.has("weight_effective_f64") ? "weight_effective_f64" : "weight";
  const Encoding conv = encoding();
  const std::vector<double> want = peer_.doubles(array);
  ASSERT_EQ(conv.hidden().neighbours->weight.size(), want.size());
  Worst worst("weight");
  for (std::size_t i = 0; i < want.size(); ++i) worst.see(conv.hidden().neighbours->weight[i], want[i], 1e-12, i);
}

TEST_P(ConvPositionOracle, Kernels) {
  const Encoding conv = encoding();
  const auto products = static_cast<double>(conv.hidden().neighbours->weight.size()) / static_cast<double>(dim_);
  expect_added<double>(conv, 1e-12 * size(conv));
  expect_added<float>(conv, (products + 6) * 0x1p-24 * size(conv));  // the bound of add.h
}

TEST_P(ConvPositionOracle, Reference) {
  const Encoding conv = encoding();
  const std::vector<double> x = peer_.doubles("x"), want = peer_.doubles("x_plus_out_f64"),
                            rows = peer_.doubles("out_f64");
  const std::vector<Position> ids = positions::prefill(tokens_).ids;
  Worst sum("x_plus_out"), row("out");
  for (std::int64_t b = 0; b < batch_; ++b) {
    const auto first = static_cast<std::size_t>(b * tokens_ * dim_), count = static_cast<std::size_t>(tokens_ * dim_);
    const std::vector<double> got = reference::add_rows(conv.hidden(), ids, std::span(x).subspan(first, count));
    for (std::size_t i = 0; i < count; ++i) {
      sum.see(got[i], want[first + i], 1e-12 * size(conv), first + i);
      row.see(got[i] - x[first + i], rows[first + i], 1e-12 * size(conv), first + i);
    }
  }
}

}  // namespace
}  // namespace locus::testing
