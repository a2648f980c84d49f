// SPDX-License-Identifier: Apache-2.0
// A fixed sample of the planted faults and of the right implementations; verify_mutants runs all of them.
#include <gtest/gtest.h>

#include "doctor/mutants/mutants.h"

namespace {

TEST(VerifyMutants, PlantedFaultsAreCaughtAndNamed) {
  const std::vector<mutants::Subject> planted = mutants::planted_faults();
  EXPECT_GE(planted.size(), 400u);
  const mutants::Score score = mutants::run_planted(planted, 31, false);
  EXPECT_GE(score.caught, 0.98 * score.all);
  EXPECT_GE(score.named, 0.85 * score.all);
}

TEST(VerifyMutants, RightOnesPass) {
  for (const std::string& one : mutants::refused(mutants::right_ones(), 23)) ADD_FAILURE() << one;
}

}  // namespace
