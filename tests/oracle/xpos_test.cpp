// SPDX-License-Identifier: Apache-2.0
// xpos/: torchscale's XPOS, whose centre moves with the length, for queries (scaled) and keys (divided).
#include <cmath>

#include "locus/positions.h"
#include "rotation_check.h"

namespace locus::testing {
namespace {

class XposOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"xpos", GetParam()};
  const Json& json_ = peer_.json();
  std::int64_t head_dim_ = json_.at("head_dim").get<std::int64_t>();
  std::int64_t offset_ = json_.at("offset").get<std::int64_t>();
  std::int64_t length_ = peer_.shape("x").at(1);
  double scale_base_ = json_.at("scale_base").get<double>();
  Encoding encoding_{"xpos",
                     {{"head_dim", head_dim_},
                      {"pairing", std::string("interleaved")},
                      {"scale_base", scale_base_},
                      {"moving_centre", true},
                      {"length", length_ + offset_}}};
  PositionIds ids_ = positions::prefill(length_, offset_);

  /// x is [batch, tokens, dim]: one head.
  Heads heads() const {
    const std::vector<std::int64_t> shape = peer_.shape("x");
    return {peer_.floats("x"), "bthd", {shape[0], shape[1], 1, shape[2]}};
  }

  double position(std::int64_t token) const { return static_cast<double>(offset_ + token); }

  /// The scale's exponent in torchscale: (token + floor(-(L + offset) / 2)) / base.
  double scale(std::int64_t token, std::size_t pair, Role role) const {
    const double d = static_cast<double>(head_dim_);
    const double zeta = (2 * static_cast<double>(pair) + 0.4 * d) / (1.4 * d);
    const double steps = (position(token) + std::floor(-static_cast<double>(length_ + offset_) / 2)) / scale_base_;
    return std::pow(zeta, role == Role::query ? steps : -steps);
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, XposOracle, ::testing::ValuesIn(oracle_cases("xpos")), case_name);

TEST_P(XposOracle, QueriesAndKeys) {
  const Heads input = heads();
  for (const auto& [name, role] : {std::pair{std::string("q"), Role::query}, std::pair{std::string("k"), Role::key}}) {
    const Role as = role;
    const PairBound twice = [&](std::int64_t, std::int64_t t, std::size_t pair) {
      return scale(t, pair, as) * double_bound(position(t));
    };
    const std::vector<double> want = peer_.doubles(name + "_out_f64");
    expect_rotated(name + ".kernel", encoding_.rotation(), input,
                   rotated(encoding_, input, widened(input.data), ids_, role), want, twice);
    expect_rotated(name + ".reference", encoding_.rotation(), input, rotated_by_reference(encoding_, input, ids_, role),
                   want, twice);

    // float32: torchscale's angle as elsewhere; its scale is a rounded zeta raised to a rounded exponent below 1 and
    // multiplied in (4 roundings), 6 for the products and sums of both sides.
    const PairBound single = [&](std::int64_t, std::int64_t t, std::size_t pair) {
      return scale(t, pair, as) * (single_bound(position(t), encoding_.rotation().inv_freq[pair]) + 10 * 0x1p-24);
    };
    expect_rotated(name + ".float32", encoding_.rotation(), input,
                   widened(rotated(encoding_, input, input.data, ids_, role)), peer_.doubles(name + "_out_f32"),
                   single);
  }
}

}  // namespace
}  // namespace locus::testing
