// SPDX-License-Identifier: Apache-2.0
// A fixture that runs a test once for every SIMD target that this CPU has and the library was compiled for. The last
// one is Highway's fallback (SCALAR, or EMU128 under clang): the forced-scalar run.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstdint>
#include <string>

#include "locus/rotate.h"

namespace locus::testing {

class OnEveryTarget : public ::testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    ASSERT_EQ(simd_target(), hwy::TargetName(GetParam())) << "the kernels must run the requested target";
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }

  /// The number of float32 values in a vector of this target; for scalable vectors, the current maximum.
  static std::int64_t lanes() {
    const std::string name = hwy::TargetName(GetParam());
    if (name == "SCALAR") return 1;
    if (name == "AVX2" || name == "WASM_EMU256") return 8;
    if (name.starts_with("AVX3") || name.starts_with("SVE") || name == "RVV") return 16;
    return 4;
  }
};

inline std::string target_name(const ::testing::TestParamInfo<std::int64_t>& info) {
  return hwy::TargetName(info.param);
}

}  // namespace locus::testing

#define LOCUS_ON_EVERY_TARGET(fixture)                                                              \
  INSTANTIATE_TEST_SUITE_P(Simd, fixture, ::testing::ValuesIn(hwy::SupportedAndGeneratedTargets()), \
                           ::locus::testing::target_name)
