// SPDX-License-Identifier: Apache-2.0
// Shared by the tests against other projects' numbers: the worst error of a comparison, ulps, tensors of a case.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "locus/value.h"
#include "support/oracle.h"

namespace locus::testing {

/// Case names as test names, so that failures and the manifest name the case.
inline std::string case_name(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

/// The cases that have this array.
inline std::vector<std::string> cases_with(const std::string& folder, const std::string& array) {
  std::vector<std::string> chosen;
  for (const std::string& name : oracle_cases(folder)) {
    if (OracleCase(folder, name).has(array)) chosen.push_back(name);
  }
  return chosen;
}

/// Collects errors as shares of their bounds; the worst is judged once and recorded in the XML report.
class Worst {
 public:
  explicit Worst(std::string what) : what_(std::move(what)) {}
  Worst(const Worst&) = delete;
  Worst& operator=(const Worst&) = delete;

  void see(double got, double want, double bound, std::size_t where) {
    ++seen_;
    const double error = std::fabs(got - want);
    if (!(error <= largest_error_)) largest_error_ = error;  // a NaN stays
    const double share = error == 0 ? 0 : error / bound;
    if (share <= share_) return;
    share_ = std::isnan(share) ? HUGE_VAL : share;
    detail_ = "entry " + std::to_string(where) + ": got " + ::testing::PrintToString(got) + ", want " +
              ::testing::PrintToString(want) + ", error " + ::testing::PrintToString(error) + ", bound " +
              ::testing::PrintToString(bound);
  }

  ~Worst() {
    ::testing::Test::RecordProperty(what_ + ".share_of_bound", ::testing::PrintToString(share_));
    ::testing::Test::RecordProperty(what_ + ".largest_error", ::testing::PrintToString(largest_error_));
    EXPECT_GT(seen_, 0U) << what_ << ": nothing was compared";
    EXPECT_LE(share_, 1.0) << what_ << ", " << detail_;
  }

 private:
  std::string what_;
  std::string detail_;
  std::size_t seen_ = 0;
  double share_ = 0;
  double largest_error_ = 0;
};

/// The number of float32 values between two finite ones of the same sign.
inline std::int64_t ulps_between(float a, float b) {
  return std::abs(static_cast<std::int64_t>(std::bit_cast<std::int32_t>(a)) -
                  static_cast<std::int64_t>(std::bit_cast<std::int32_t>(b)));
}

inline Tensor tensor_of(const OracleCase& peer, const std::string& array) {
  return {.shape = peer.shape(array), .data = peer.floats(array)};
}

/// Element types of `values` are widened, never narrowed.
template <class T>
std::vector<double> widened(const std::vector<T>& values) {
  return {values.begin(), values.end()};
}

}  // namespace locus::testing
