// SPDX-License-Identifier: Apache-2.0
// The example and the variants of a scheme, which tests and verify run, cover every choice of its parameters.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "locus/encoding.h"
#include "locus/registry.h"

namespace locus {
namespace {

std::set<std::string> choices_in_examples(const Scheme& scheme, const Parameter& parameter) {
  const auto choice = [&](const Arguments& given) {
    return Encoding(scheme.name, given).arguments().text(parameter.name);
  };
  std::set<std::string> found = {choice(scheme.example)};
  for (const Example& variant : scheme.variants) found.insert(choice(variant.arguments));
  return found;
}

TEST(SchemeVariants, CoverEveryChoice) {
  const std::set<std::string_view> other_arithmetic = {"profile", "table_type"};
  const std::vector<Parameter>& of_rope = find_scheme("rope").parameters;
  for (const Scheme* scheme : schemes()) {
    for (const Parameter& parameter : scheme->parameters) {
      if (parameter.kind != ValueKind::choice || other_arithmetic.contains(parameter.name)) continue;
      // A scheme that takes the parameters of rope leaves their choices to rope's variants.
      const bool borrowed =
          scheme->parameters_for != nullptr && scheme->name != "rope" &&
          std::any_of(of_rope.begin(), of_rope.end(), [&](const Parameter& one) { return one.name == parameter.name; });
      if (borrowed) continue;
      const std::set<std::string> tried = choices_in_examples(*scheme, parameter);
      for (const std::string_view choice : parameter.choices) {
        EXPECT_TRUE(tried.contains(std::string(choice))) << scheme->name << "." << parameter.name << "=" << choice;
      }
    }
  }
}

}  // namespace
}  // namespace locus
