// SPDX-License-Identifier: Apache-2.0
// What the registry states about rules besides their numbers: which need only a factor, which are compared by default, which
// want the whole head.
#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "locus/encoding.h"
#include "locus/error.h"
#include "locus/scaling.h"

namespace locus {
namespace {

using Names = std::set<std::string_view>;

// A factor and the trained length make a frequency of each: LongRoPE has lists, proportional RoPE a share of the pairs,
// and the plain rule nothing.
TEST(RuleFacts, SomeNeedAFactorOnly) {
  Names found;
  for (const Rule* rule : rules()) {
    if (needs_factor_only(*rule)) found.insert(rule->name);
  }
  EXPECT_EQ(found, (Names{"linear", "ntk", "ntk_mixed", "dynamic_ntk", "ntk_by_parts", "yarn", "llama3"}));
}

// The four that stretch a model that was not trained for it; the others belong to their models.
TEST(RuleFacts, FourAreComparedUnasked) {
  Names found;
  for (const Rule* rule : compared_rules()) found.insert(rule->name);
  EXPECT_EQ(found, (Names{"linear", "ntk", "dynamic_ntk", "yarn"}));
}

TEST(RuleFacts, OnlyProportionalRopeNeedsTheWholeHead) {
  for (const Rule* rule : rules()) {
    Arguments arguments = rule->example;  // for a rotary width of 16
    arguments.set("head_dim", std::int64_t{32});
    arguments.set("rotary_dim", std::int64_t{16});
    arguments.set("pairing", std::string("half"));
    arguments.set("rule", std::string(rule->name));
    if (rule->name == "proportional") {
      EXPECT_THROW(Encoding("rope", arguments), Error);
    } else {
      EXPECT_NO_THROW(Encoding("rope", arguments)) << rule->name;
    }
  }
}

}  // namespace
}  // namespace locus
