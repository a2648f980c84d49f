// SPDX-License-Identifier: Apache-2.0
// Wrong frequencies and sections.
#include <cmath>

#include "doctor/bar/plant.h"

namespace locus::bar {

void add_frequencies(Plants& all) {
  all["base"] = {{"base_wrong"},
                 [](Case& one, Random& random) {
                   RuleOf other = one.rule;
                   other.base = one_of<double>(random, {1e4, 1e5, 2e6, 12345, 8e5});
                   use_rule(one, other);
                   return std::abs(std::log(other.base / one.rule.base)) > 0.1;
                 },
                 {Kind::none, Kind::linear, Kind::yarn, Kind::llama3}};
  all["factor"] = {{"factor_wrong"},
                   [](Case& one, Random& random) {
                     RuleOf other = one.rule;
                     other.factor = one_of<double>(random, {3, 6, 24});
                     use_rule(one, other);
                     return true;
                   },
                   scaled_rule};
  all["not_applied"] = {{"rule_not_applied"},
                        [](Case& one, Random&) {
                          use_rule(one, {.kind = Kind::none, .base = one.rule.base});
                          return true;
                        },
                        {Kind::linear, Kind::ntk, Kind::yarn, Kind::llama3}};
  all["applied_twice"] = {{"rule_applied_twice"},
                          [](Case& one, Random&) {
                            const auto plain = frequencies({.base = one.rule.base}, one.engine.width);
                            for (std::size_t i = 0; i < plain.size(); ++i) {
                              one.engine.w[i] *= one.engine.w[i] / plain[i];
                            }
                            return true;
                          },
                          scaled_rule};
  all["wrong_layer"] = {{"rule_of_another_layer"},
                        [](Case& one, Random& random) {
                          RuleOf other = draw_rule(random, one_of(random, scaled_rule));
                          other.base = one.rule.base;
                          if (other.kind == Kind::ntk) one.right.insert("base_wrong");  // NTK equals another base
                          use_rule(one, other);
                          return true;
                        },
                        {Kind::none}};
  all["as_partial"] = {{"proportional_as_partial"},
                       [](Case& one, Random&) {
                         one.engine.width =
                             static_cast<std::int64_t>(one.rule.fraction * static_cast<double>(one.shape.head_dim));
                         use_rule(one, {.kind = Kind::none, .base = one.rule.base});
                         return true;
                       },
                       {Kind::proportional}};
  all["as_proportional"] = {{"partial_as_proportional"},
                            [](Case& one, Random&) {
                              if (one.engine.width == one.shape.head_dim) return false;
                              one.engine.w = frequencies({.base = one.rule.base}, one.shape.head_dim);
                              one.engine.w.resize(static_cast<std::size_t>(one.engine.width / 2));
                              return true;
                            },
                            {Kind::none}};
  all["sections_swapped"] = {{"sections_swapped"}, [](Case& one, Random& random) {
                               if (!make_mrope(one, random)) return false;
                               for (int& axis : one.engine.axis) axis = axis == 0 ? 0 : 3 - axis;
                               return true;
                             }};
  all["sections_cut"] = {{"sections_cut"}, [](Case& one, Random& random) {
                           if (!make_mrope(one, random)) return false;
                           const std::int64_t way = between(random, 0, 1);
                           for (std::size_t i = 0; i < one.engine.axis.size(); ++i) {
                             one.engine.axis[i] = way == 0 ? 0 : static_cast<int>(i % 3);
                           }
                           return true;
                         }};
}

}  // namespace locus::bar
