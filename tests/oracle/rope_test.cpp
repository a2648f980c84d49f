// SPDX-License-Identifier: Apache-2.0
// rope/: frequencies, attention factor and cos/sin tables of transformers, from the models' own configs.
#include <algorithm>

#include "locus/rows.h"
#include "rotation_check.h"

namespace locus::testing {
namespace {

class RopeOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"rope", GetParam()};
  std::vector<Position> positions_ = peer_.json().at("positions").get<std::vector<Position>>();

  Encoding encoding(const std::string& profile) const { return rope_case_encoding(peer_.json(), profile); }

  /// Calls visit(row, position, pair, entry) for each entry of a table; a table of width d repeats its halves.
  template <class Visit>
  void for_each_entry(const Rotation& rotation, Visit visit) const {
    const auto width = static_cast<std::size_t>(peer_.shape("cos_f64").at(1));
    const auto pairs = static_cast<std::size_t>(rotation.pairs());
    ASSERT_TRUE(width == pairs || width == 2 * pairs);
    for (std::size_t row = 0; row < positions_.size(); ++row) {
      for (std::size_t j = 0; j < width; ++j) {
        visit(row, static_cast<double>(positions_[row]), j % pairs, row * width + j);
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, RopeOracle, ::testing::ValuesIn(oracle_cases("rope")), case_name);

struct Tables {
  std::vector<std::vector<double>> cos;
  std::vector<std::vector<double>> sin;
};

template <class Row>
Tables tables(const Rotation& rotation, const std::vector<Position>& positions, Row row) {
  Tables result;
  for (const Position position : positions) {
    std::vector<double> cos(static_cast<std::size_t>(rotation.pairs()));
    std::vector<double> sin(cos.size());
    const std::vector<Position> ids(static_cast<std::size_t>(rotation.axes), position);
    row(rotation, Role::query, ids, cos, sin);
    result.cos.push_back(cos);
    result.sin.push_back(sin);
  }
  return result;
}

void exact_row(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<double> cos,
               std::span<double> sin) {
  rotation_row(rotation, role, ids, cos, sin);
}

TEST_P(RopeOracle, FrequenciesAndFactorInDouble) {
  const Encoding exact = encoding("exact");
  const Rotation& rotation = exact.rotation();
  EXPECT_EQ(rotation.rotary_dim, peer_.json().at("rotary_dim").get<std::int64_t>());
  const double factor = peer_.json().at("attention_factor").get<double>();
  EXPECT_NEAR(rotation.magnitude, factor, 1e-12 * factor);
  const auto want = peer_.json().at("inv_freq_f64").get<std::vector<double>>();
  ASSERT_EQ(rotation.inv_freq.size(), want.size());
  Worst worst("inv_freq_f64");
  for (std::size_t i = 0; i < want.size(); ++i) worst.see(rotation.inv_freq[i], want[i], 1e-12 * want[i], i);
}

// The peer's angle starts from a double frequency. Its rounding times the position adds to the bound: up to two last
// bits (a power and a reciprocal), or 2.2e-16 per position where the frequency is near 1.
TEST_P(RopeOracle, TablesInDouble) {
  const Encoding exact = encoding("exact");
  const Rotation& rotation = exact.rotation();
  const std::vector<double> want_cos = peer_.doubles("cos_f64");
  const std::vector<double> want_sin = peer_.doubles("sin_f64");
  const auto peer_freq = peer_.json().at("inv_freq_f64").get<std::vector<double>>();
  const auto lost = [&](std::size_t pair) {
    const double w = rotation.inv_freq[pair];
    return std::min(std::fabs(peer_freq[pair] - w - rotation.inv_freq_low[pair]), 0x1p-52 * w);
  };
  const auto compare = [&](const std::string& what, const Tables& got) {
    Worst worst(what);
    for_each_entry(rotation, [&](std::size_t row, double position, std::size_t pair, std::size_t entry) {
      const double bound = rotation.magnitude * (double_bound(position) + position * lost(pair));
      worst.see(got.cos[row][pair], want_cos[entry], bound, entry);
      worst.see(got.sin[row][pair], want_sin[entry], bound, entry);
    });
  };
  compare("rows", tables(rotation, positions_, exact_row));
  compare("reference", tables(rotation, positions_, reference::rotation_row));
}

TEST_P(RopeOracle, FrequenciesOfProfileHf) {
  const Encoding hf = encoding("hf");
  const auto want = peer_.json().at("inv_freq_f32").get<std::vector<float>>();
  const std::vector<float>& got = hf.rotation().single_freq;
  ASSERT_EQ(got.size(), want.size());
  const std::int64_t allowed = peer_.json().at("rope_type") == "default" ? 2 : 5;
  std::int64_t most = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_LE(ulps_between(got[i], want[i]), allowed) << "pair " << i << ": " << got[i] << " for " << want[i];
    most = std::max(most, ulps_between(got[i], want[i]));
  }
  RecordProperty("inv_freq_f32.ulps", std::to_string(most));
}

TEST_P(RopeOracle, TablesOfProfileHf) {
  const Encoding hf = encoding("hf");
  const Rotation& rotation = hf.rotation();
  const std::vector<float> want_cos = peer_.floats("cos_f32");
  const std::vector<float> want_sin = peer_.floats("sin_f32");
  const Tables got = tables(rotation, positions_, exact_row);
  Worst worst("tables_f32");
  for_each_entry(rotation, [&](std::size_t row, double position, std::size_t pair, std::size_t entry) {
    const double bound = rotation.magnitude * single_bound(position, rotation.inv_freq[pair]);
    worst.see(got.cos[row][pair], static_cast<double>(want_cos[entry]), bound, entry);
    worst.see(got.sin[row][pair], static_cast<double>(want_sin[entry]), bound, entry);
  });
}

// The bound above is wide at large positions; the profile must be closer to the peer than the true values are.
TEST_P(RopeOracle, ProfileHfIsCloserToTransformersThanTheTrueValuesAre) {
  const Encoding hf = encoding("hf");
  const Encoding exact = encoding("exact");
  const std::vector<float> want = peer_.floats("cos_f32");
  const Tables ours = tables(hf.rotation(), positions_, exact_row);
  const Tables truth = tables(exact.rotation(), positions_, exact_row);
  double error = 0;
  double true_error = 0;
  for_each_entry(hf.rotation(), [&](std::size_t row, double, std::size_t pair, std::size_t entry) {
    error += std::fabs(ours.cos[row][pair] - static_cast<double>(want[entry]));
    true_error += std::fabs(truth.cos[row][pair] - static_cast<double>(want[entry]));
  });
  RecordProperty("share_of_the_true_values_error", ::testing::PrintToString(error / true_error));
  EXPECT_LT(error, true_error);
}

}  // namespace
}  // namespace locus::testing
