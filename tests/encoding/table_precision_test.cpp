// SPDX-License-Identifier: Apache-2.0
// Compares rows of cos and sin with MPFR, with the frequency as the real number base^(-2i/d), not its rounding.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "locus/encoding.h"
#include "locus/reference.h"
#include "locus/rows.h"
#include "support/mpfr_real.h"

namespace locus {
namespace {

using testing::absolute_error;
using testing::MpfrReal;

MpfrReal real(std::int64_t value) { return static_cast<double>(value); }
MpfrReal frequency(double base, std::int64_t index, std::int64_t denominator) {
  return pow(MpfrReal(base), real(-index) / real(denominator));
}

// Both ends, powers of two, and random positions of both signs.
std::vector<Position> positions(std::uint64_t seed, int count) {
  std::vector<Position> all = {0, 1, -1, 4095, 1 << 20, (1 << 24) + 1, max_position, -max_position};
  std::mt19937_64 engine(seed);
  std::uniform_int_distribution<Position> any(0, max_position);
  for (int i = 0; i < count; ++i) {
    all.push_back(any(engine));
    all.push_back(-any(engine));
  }
  return all;
}

// The true cos and sin of each pair of a plain rotation.
struct TrueRow {
  std::vector<MpfrReal> cos, sin;
};

class TrueRotation {
 public:
  TrueRotation(std::int64_t d, double base) {
    for (std::int64_t i = 0; i < d / 2; ++i) w_.push_back(frequency(base, 2 * i, d));
  }
  TrueRow row(Position position, const MpfrReal& magnitude = 1.0) const {
    TrueRow row;
    for (const MpfrReal& w : w_) {
      row.cos.push_back(cos(real(position) * w) * magnitude);
      row.sin.push_back(sin(real(position) * w) * magnitude);
    }
    return row;
  }

 private:
  std::vector<MpfrReal> w_;
};

template <class T>
double worst_error(const std::vector<T>& got, const std::vector<MpfrReal>& want) {
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    worst = std::max(worst, absolute_error(static_cast<double>(got[i]), want[i]));
  }
  return worst;
}

template <class T>
struct Row {
  std::vector<T> cos, sin;

  Row(const Rotation& rotation, Position position) : cos(pairs(rotation)), sin(pairs(rotation)) {
    rotation_row(rotation, Role::query, std::span(&position, 1), std::span<T>(cos), std::span<T>(sin));
  }
  static std::size_t pairs(const Rotation& rotation) { return static_cast<std::size_t>(rotation.pairs()); }
  double error(const TrueRow& want) const { return std::max(worst_error(cos, want.cos), worst_error(sin, want.sin)); }
};

Encoding rope(std::int64_t d, double base, const Arguments& more = {}) {
  Arguments arguments{{"head_dim", d}, {"pairing", "half"}, {"base", base}};
  for (const auto& [name, value] : more.all()) arguments.set(name, value);
  return Encoding("rope", arguments);
}

void report(const std::string& name, double worst) {
  std::cout << name << ": worst " << worst << "\n";
  ::testing::Test::RecordProperty("worst_error", std::to_string(worst * 1e9) + "e-9");
}

constexpr double bases[] = {1e4, 5e5, 1e6, 1e7};
constexpr std::int64_t widths[] = {64, 96, 128};

// The float32 rounding of a number below 1 is 2^-25 = 2.98e-8; the angle may add 1.2e-9.
TEST(TablePrecision, UnitFloatTableIsWithinOneRounding) {
  double worst = 0;
  for (const double base : bases) {
    for (const std::int64_t d : widths) {
      const TrueRotation truth(d, base);
      const Encoding encoding = rope(d, base);
      for (const Position p : positions(static_cast<std::uint64_t>(d), 20)) {
        const double error = Row<float>(encoding.rotation(), p).error(truth.row(p));
        EXPECT_LT(error, 3.1e-8) << "base " << base << " d " << d << " position " << p;
        worst = std::max(worst, error);
      }
    }
  }
  report("unit float32 table", worst);
}

// With a magnitude m on cos and sin: half an ulp of m plus 2e-9. Factor 1 does not change the frequencies.
TEST(TablePrecision, FloatTableWithAMagnitude) {
  for (const double magnitude : {0.7, 1.138629436111989, 1.36888794541139363, 3.9}) {
    const Encoding encoding =
        rope(128, 1e6, {{"rule", "yarn"}, {"factor", 1}, {"original_length", 4096}, {"attention_factor", magnitude}});
    const float as_float = static_cast<float>(magnitude);
    const double ulp = static_cast<double>(std::nextafter(as_float, std::numeric_limits<float>::infinity()) - as_float);
    const TrueRotation truth(128, 1e6);
    double worst = 0;
    for (const Position p : positions(7, 20)) {
      const double error = Row<float>(encoding.rotation(), p).error(truth.row(p, magnitude));
      EXPECT_LT(error, ulp / 2 + 2e-9) << "magnitude " << magnitude << " position " << p;
      worst = std::max(worst, error);
    }
    report("float32 table times " + std::to_string(magnitude) + " (half an ulp is " + std::to_string(ulp / 2 * 1e9) +
               "e-9)",
           worst);
  }
}

// rows.h states 1e-15 + |id| 2e-19, reference.h 1e-15 + |id| 1e-19; the two share no code.
TEST(TablePrecision, DoubleRowsOfLibraryAndReference) {
  double worst_row = 0;
  double worst_reference = 0;
  for (const double base : bases) {
    for (const std::int64_t d : widths) {
      const TrueRotation truth(d, base);
      const Encoding encoding = rope(d, base);
      for (const Position p : positions(static_cast<std::uint64_t>(d) + 1, 20)) {
        const TrueRow want = truth.row(p);
        const double size = std::fabs(static_cast<double>(p));
        Row<double> row(encoding.rotation(), p);
        EXPECT_LT(row.error(want), 1e-15 + size * 2e-19) << "base " << base << " d " << d << " position " << p;
        worst_row = std::max(worst_row, row.error(want));
        reference::rotation_row(encoding.rotation(), Role::query, std::span(&p, 1), row.cos, row.sin);
        EXPECT_LT(row.error(want), 1e-15 + size * 1e-19)
            << "reference, base " << base << " d " << d << " position " << p;
        worst_reference = std::max(worst_reference, row.error(want));
      }
    }
  }
  report("double row", worst_row);
  report("reference row", worst_reference);
}

// Small positions only, where the first term of the bound dominates.
TEST(TablePrecision, DoubleRowsNearZeroAreWithinRounding) {
  const TrueRotation truth(128, 1e4);
  const Encoding encoding = rope(128, 1e4);
  for (Position p = -64; p <= 64; ++p) {
    EXPECT_LT(Row<double>(encoding.rotation(), p).error(truth.row(p)), 1e-15 + 64 * 2e-19) << p;
  }
}

TEST(TablePrecision, SinusoidalRows) {
  double worst_float = 0;
  for (const double base : bases) {
    for (const bool fairseq : {false, true}) {
      const std::int64_t dim = 96;
      const Encoding encoding(
          "sinusoidal",
          {{"dim", dim}, {"base", base}, {"arrangement", "concatenated"}, {"rate", fairseq ? "fairseq" : "vaswani"}});
      for (const Position p : positions(11, 10)) {
        std::vector<MpfrReal> want(static_cast<std::size_t>(dim));
        for (std::int64_t i = 0; i < dim / 2; ++i) {
          const MpfrReal w = fairseq ? frequency(base, i, dim / 2 - 1) : frequency(base, 2 * i, dim);
          want[static_cast<std::size_t>(i)] = sin(real(p) * w);
          want[static_cast<std::size_t>(i + dim / 2)] = cos(real(p) * w);
        }
        const double size = std::fabs(static_cast<double>(p));
        std::vector<float> single(want.size());
        std::vector<double> both(want.size());
        hidden_row(encoding.hidden(), p, std::span<float>(single));
        hidden_row(encoding.hidden(), p, std::span<double>(both));
        EXPECT_LT(worst_error(single, want), 3.1e-8) << "base " << base << " position " << p;
        EXPECT_LT(worst_error(both, want), 1e-15 + size * 2e-19) << "base " << base << " position " << p;
        EXPECT_LT(worst_error(reference::hidden_row(encoding.hidden(), p), want), 1e-15 + size * 1e-19)
            << "reference, base " << base << " position " << p;
        worst_float = std::max(worst_float, worst_error(single, want));
      }
    }
  }
  report("sinusoidal float32 row", worst_float);
}

// A float32 angle below 2^20 is rounded by up to 2^-5, and its frequency (a power, then a reciprocal) by up to 2^-23
// of itself, 2^-3 of an angle: the profile that reproduces this must be off by hundredths there, and by a thousandth
// of that at a thousandth of the position.
TEST(TablePrecision, HfProfileHasTheErrorOfFloat32Angles) {
  const TrueRotation truth(128, 1e4);
  const Encoding encoding = rope(128, 1e4, {{"profile", "hf"}});
  const auto worst_from = [&](Position start) {
    double worst = 0;
    for (Position p = start; p < start + 200; ++p) {
      worst = std::max(worst, Row<float>(encoding.rotation(), p).error(truth.row(p)));
    }
    return worst;
  };
  const double at_million = worst_from(1'000'000);
  EXPECT_GT(at_million, 0.02);
  EXPECT_LT(at_million, 0x1p-5 + 0x1p-3);
  const double at_thousand = worst_from(800);
  EXPECT_GT(at_thousand, 0.02 / 1024);
  EXPECT_LT(at_thousand, (0x1p-5 + 0x1p-3) / 1024);
  report("hf profile near 1,000,000", at_million);
}

}  // namespace
}  // namespace locus
