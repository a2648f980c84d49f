// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/check.h"

#include <gtest/gtest.h>

#include <cmath>

namespace locus {
namespace {

TEST(Check, HoldsTheValueAgainstTheBound) {
  EXPECT_TRUE(at_most("a", "rope", 1, 1).pass);
  EXPECT_FALSE(at_most("a", "rope", 1.5, 1).pass);
  EXPECT_TRUE(at_least("a", "rope", 1, 1).pass);
  EXPECT_FALSE(at_least("a", "rope", 0.5, 1).pass);
}

TEST(Check, NotANumberNeverPasses) {
  EXPECT_FALSE(at_most("a", "rope", std::nan(""), 1).pass);
  EXPECT_FALSE(at_least("a", "rope", std::nan(""), 1).pass);
  EXPECT_EQ(failed({at_most("a", "rope", std::nan(""), 1), at_most("b", "rope", 0, 1)}), 1);
}

}  // namespace
}  // namespace locus
