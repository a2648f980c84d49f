// SPDX-License-Identifier: Apache-2.0
#include "doctor/bar/cases.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <sstream>

namespace locus::bar {
namespace {

using Ids = std::vector<std::int64_t>;
using Kind = RuleOf::Kind;

template <class T>
T one_of(Random& random, const std::vector<T>& choices) {
  return choices[std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(random)];
}

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, std::max(least, most))(random);
}

// ---- the expectation and the engine that meets it

void use_rule(Case& one, const RuleOf& rule) {
  one.engine.w = frequencies(rule, one.engine.width);
  one.engine.magnitude = magnitude(rule);
}

void expect_rule(Case& one, const RuleOf& rule) {
  one.rule = rule;
  one.arguments.set("rule", std::string(name_of(rule.kind)));
  one.arguments.set("base", rule.base);
  if (rule.kind == Kind::linear || rule.kind == Kind::ntk || rule.kind == Kind::yarn || rule.kind == Kind::llama3) {
    one.arguments.set("factor", rule.factor);
  }
  if (rule.kind == Kind::yarn || rule.kind == Kind::llama3) {
    one.arguments.set("original_length", static_cast<std::int64_t>(rule.original));
  }
  if (rule.kind == Kind::proportional) one.arguments.set("rotary_fraction", rule.fraction);
  use_rule(one, rule);
}

RuleOf draw_rule(Random& random, Kind kind) {
  const double odd = std::exp(std::uniform_real_distribution<double>(std::log(2e3), std::log(5e6))(random));
  return {.kind = kind,
          .base = one_of<double>(random, {1e4, 1e4, 5e5, 1e6, 1e5, odd}),
          .factor = one_of<double>(random, {2, 4, 8, 16, 2.5}),
          .original = one_of<double>(random, {2048, 4096, 8192, 32768})};
}

const std::vector<Kind> any_rule = {Kind::none, Kind::linear, Kind::ntk, Kind::yarn, Kind::llama3, Kind::proportional};
const std::vector<Kind> scaled_rule = {Kind::linear, Kind::ntk, Kind::yarn, Kind::llama3};

Ids counted(const Shape& shape, std::int64_t first = 0) {
  Ids ids;
  for (std::int64_t n = 0; n < shape.rows(); ++n) ids.push_back(first + n % shape.tokens);
  return ids;
}

void set_ids(Case& one, const Ids& ids) {
  one.ids = {ids};
  one.engine.ids = {ids};
  one.ids_given = true;
}

// The id of each row of the engine, from that of the expectation.
void change_ids(Case& one, const std::function<std::int64_t(std::int64_t token, std::int64_t id)>& change) {
  for (std::size_t n = 0; n < one.ids[0].size(); ++n) {
    one.engine.ids[0][n] = change(static_cast<std::int64_t>(n) % one.shape.tokens, one.ids[0][n]);
  }
}

void draw_case(Case& one, Random& random, const std::vector<Kind>& rules) {
  one.shape.batch = one.shape.tokens <= 64 && between(random, 0, 3) == 0 ? 2 : 1;
  one.shape.heads = one.shape.tokens > 64 ? between(random, 1, 2) : between(random, 1, 4);
  one.shape.head_dim =
      one.shape.tokens > 512 ? one_of<std::int64_t>(random, {32, 64}) : one_of<std::int64_t>(random, {32, 64, 64, 128});
  one.engine.interleaved = between(random, 0, 1) == 1;
  const Kind kind = one_of(random, rules);
  one.engine.width = one.shape.head_dim;
  if (kind != Kind::proportional && between(random, 0, 3) == 0) one.engine.width /= 2;
  one.arguments = {{"head_dim", one.shape.head_dim},
                   {"rotary_dim", one.engine.width},
                   {"pairing", std::string(one.engine.interleaved ? "interleaved" : "half")}};
  expect_rule(one, draw_rule(random, kind));
  one.ids = {counted(one.shape)};
  one.engine.ids = one.ids;
  const std::int64_t first = one_of<std::int64_t>(random, {0, 0, 0, 5, 100});
  if (first > 0) set_ids(one, counted(one.shape, first));
}

// ---- plants

struct Plant {
  std::set<std::string> right;
  std::function<bool(Case&, Random&)> apply;  // false: not with this draw
  std::vector<Kind> rules = any_rule;
};

std::int64_t cut_of(const Case& one, Random& random) { return between(random, 2, one.shape.tokens - 3); }

void expect_packed(Case& one, std::int64_t cut) {
  Ids ids = counted(one.shape);
  for (std::int64_t& id : ids) id = id >= cut ? id - cut : id;
  set_ids(one, ids);
}

Plant wrapping(std::int64_t modulus) {
  return {{"positions_wrapped"}, [modulus](Case& one, Random& random) {
            set_ids(one, counted(one.shape, modulus - between(random, 2, one.shape.tokens - 3)));
            change_ids(one, [&](auto, auto id) { return id % modulus; });
            return true;
          }};
}

Plant casting(Type type, const std::string& name, int what) {
  return {{name}, [=](Case& one, Random& random) {
            set_ids(one, counted(one.shape, what == 1 ? between(random, 3, 500) : between(random, 2100, 3000)));
            one.engine.angle = [=](std::int64_t id, long double w) -> long double {
              const double p = static_cast<double>(id);
              if (what == 0) return rounded(type, p) * w;
              if (what == 1) return p * rounded(type, static_cast<double>(w));
              return rounded(type, static_cast<double>(p * w));
            };
            return true;
          }};
}

Plant treating(std::set<std::string> right, int what) {  // 0: tokens, 1: heads; zero, not rotated, twice, garbage
  return {std::move(right), [what](Case& one, Random& random) {
            const bool heads = what % 2 == 1;
            if (heads && one.shape.heads < 2) return false;
            const std::int64_t size = heads ? one.shape.heads : one.shape.tokens;
            const std::int64_t first = between(random, heads ? 0 : 1, size - 2);
            const std::int64_t last =
                heads ? std::min(first, size - 1)
                      : std::min(first + between(random, 0, std::max<std::int64_t>(size / 3, 1)), size - 2);
            if (what / 2 == 2) {  // the cached ones: from the start on
              one.engine.treat = [=](std::int64_t row, std::int64_t) {
                return Treatment{.times = row % size <= last ? 2 : 1};
              };
              return last >= 1;
            }
            one.engine.treat = [=](std::int64_t row, std::int64_t head) {
              const std::int64_t at = heads ? head : row % size;
              Treatment treatment;
              if (at < first || at > last) return treatment;
              treatment.zero = what / 2 == 0;
              treatment.garbage = what / 2 == 3;
              if (what / 2 == 1) treatment.times = 0;
              return treatment;
            };
            return true;
          }};
}

bool make_mrope(Case& one, Random& random) {
  if (one.rule.kind == Kind::proportional || one.engine.width % 16 != 0) return false;
  const std::int64_t pairs = one.engine.width / 2;
  const std::vector<std::int64_t> sections = {pairs / 4, 3 * pairs / 8, pairs - pairs / 4 - 3 * pairs / 8};
  one.arguments.set("axes", std::string("mrope"));
  one.arguments.set("sections", std::vector<double>(sections.begin(), sections.end()));
  one.engine.axis.clear();
  for (int axis = 0; axis < 3; ++axis) {
    for (std::int64_t n = 0; n < sections[static_cast<std::size_t>(axis)]; ++n) one.engine.axis.push_back(axis);
  }
  const std::int64_t columns = one_of<std::int64_t>(random, {3, 4, 7});
  one.ids.assign(3, {});
  for (std::int64_t n = 0; n < one.shape.rows(); ++n) {  // some text, then an image
    const std::int64_t t = n % one.shape.tokens, image = t - 3;
    one.ids[0].push_back(t < 3 ? t : 3);
    one.ids[1].push_back(t < 3 ? t : 3 + image / columns);
    one.ids[2].push_back(t < 3 ? t : 3 + image % columns);
  }
  one.engine.ids = one.ids;
  one.ids_given = true;
  return true;
}

void add_legitimate(std::map<std::string, Plant>& all) {
  const std::set<std::string> right = {"as_expected"};
  for (const Kind kind : any_rule) {
    all["right_" + std::string(name_of(kind))] = {right, [](Case&, Random&) { return true; }, {kind}};
  }
  all["right_offset"] = {right, [](Case& one, Random&) {
                           if (one.engine.width == one.shape.head_dim) return false;
                           one.engine.offset = one.shape.head_dim - one.engine.width;
                           one.arguments.set("rotary_offset", one.engine.offset);
                           return true;
                         }};
  all["right_deinterleaved"] = {right, [](Case& one, Random&) {
                                  one.engine.deinterleaved_output = one.engine.interleaved;
                                  one.arguments.set("output_order", std::string("deinterleaved"));
                                  return one.engine.interleaved;
                                }};
  all["right_far"] = {{"as_expected", "float32_angles"}, [](Case& one, Random& random) {
                        set_ids(one, counted(one.shape, one_of<std::int64_t>(random, {4000, 30000, 130000, 1000000})));
                        return true;
                      }};
  all["right_packed"] = {right, [](Case& one, Random& random) {
                           expect_packed(one, cut_of(one, random));
                           return true;
                         }};
  all["right_padded"] = {right, [](Case& one, Random& random) {
                           const std::int64_t pads = between(random, 1, one.shape.tokens / 2);
                           Ids ids = counted(one.shape);
                           for (std::int64_t& id : ids) id = std::max<std::int64_t>(0, id - pads);
                           set_ids(one, ids);
                           return true;
                         }};
  all["right_scattered"] = {right, [](Case& one, Random& random) {
                              Ids ids = counted(one.shape);
                              for (std::int64_t& id : ids) id = between(random, 0, 5000);
                              set_ids(one, ids);
                              return true;
                            }};
  all["right_mrope"] = {right, make_mrope};
  all["right_xpos"] = {right, [](Case& one, Random&) {
                         if (one.rule.kind != Kind::none || one.engine.width != one.shape.head_dim) return false;
                         one.arguments = {{"head_dim", one.shape.head_dim},
                                          {"base", one.rule.base},
                                          {"pairing", one.arguments.text("pairing")}};
                         const double d = static_cast<double>(one.engine.width);
                         one.engine.scale = [d, ids = one.ids[0]](double, std::int64_t row, std::int64_t pair) {
                           const double zeta = (2 * static_cast<double>(pair) + 0.4 * d) / (1.4 * d);
                           return std::pow(zeta, static_cast<double>(ids[static_cast<std::size_t>(row)]) / 512);
                         };
                         return true;
                       }};
}

void add_ids(std::map<std::string, Plant>& all) {
  all["offset"] = {{"position_offset"}, [](Case& one, Random& random) {
                     const std::int64_t by = one_of<std::int64_t>(random, {1, -1, 7, 100, 4096});
                     change_ids(one, [&](auto, auto id) { return id + by; });
                     return true;
                   }};
  all["offset_from"] = {
      {"position_offset_from"}, [](Case& one, Random& random) {
        const std::int64_t from = cut_of(one, random), by = one_of<std::int64_t>(random, {1, 2, 5, 30});
        change_ids(one, [&](auto t, auto id) { return id + (t >= from ? by : 0); });
        return true;
      }};
  all["page"] = {{"position_offset_from"}, [](Case& one, Random& random) {
                   if (one.shape.tokens < 64) return false;
                   const std::int64_t from = one_of<std::int64_t>(random, {16, 32});
                   change_ids(one, [&](auto t, auto id) { return id + (t >= from ? 1 : 0); });
                   return true;
                 }};
  all["draft"] = {{"position_offset_from"}, [](Case& one, Random& random) {
                    const std::int64_t from = one.shape.tokens - between(random, 2, 5);
                    change_ids(one, [&](auto t, auto id) { return id - (t >= from ? 1 : 0); });
                    return true;
                  }};
  all["reset"] = {{"positions_reset"}, [](Case& one, Random& random) {
                    const std::int64_t from = cut_of(one, random);
                    change_ids(one, [&](auto t, auto id) { return t >= from ? t - from : id; });
                    return true;
                  }};
  all["not_reset"] = {{"positions_not_reset"}, [](Case& one, Random& random) {
                        expect_packed(one, cut_of(one, random));
                        change_ids(one, [&](auto t, auto) { return t; });
                        return true;
                      }};
  all["first_document"] = {{"positions_of_first_document"}, [](Case& one, Random& random) {
                             if (one.shape.tokens < 16) return false;
                             const std::int64_t cut = between(random, 3, one.shape.tokens / 2 - 2);
                             expect_packed(one, cut);
                             change_ids(one, [&](auto t, auto) { return t % cut; });
                             return true;
                           }};
  all["first_row"] = {{"positions_of_first_document", "padding_counted"}, [](Case& one, Random& random) {
                        if (one.shape.batch < 2) return false;
                        const std::int64_t pads = between(random, 2, one.shape.tokens / 2);
                        Ids ids = counted(one.shape);
                        for (std::size_t n = static_cast<std::size_t>(one.shape.tokens); n < ids.size(); ++n) {
                          ids[n] = std::max<std::int64_t>(0, ids[n] - pads);
                        }
                        set_ids(one, ids);
                        change_ids(one, [&](auto t, auto) { return t; });
                        return true;
                      }};
  all["padding"] = {{"padding_counted"}, [](Case& one, Random& random) {
                      const std::int64_t pads = between(random, 2, one.shape.tokens / 2);
                      Ids ids = counted(one.shape);
                      for (std::int64_t& id : ids) id = std::max<std::int64_t>(0, id - pads);
                      set_ids(one, ids);
                      change_ids(one, [&](auto t, auto) { return t; });
                      return true;
                    }};
  all["all_zero"] = {{"positions_all_zero", "not_rotated"}, [](Case& one, Random&) {
                       change_ids(one, [&](auto, auto) { return 0; });
                       return one.engine.magnitude == 1;
                     }};
  all["constant"] = {{"positions_constant"}, [](Case& one, Random& random) {
                       const std::int64_t at = one_of<std::int64_t>(random, {3, 17, 511});
                       change_ids(one, [&](auto, auto) { return at; });
                       return true;
                     }};
  all["negated"] = {{"positions_negated", "inverse_rotation"}, [](Case& one, Random&) {
                      change_ids(one, [&](auto, auto id) { return -id; });
                      return true;
                    }};
  all["doubled"] = {{"positions_doubled", "rotated_twice"}, [](Case& one, Random&) {
                      change_ids(one, [&](auto, auto id) { return 2 * id; });
                      return one.engine.magnitude == 1;
                    }};
  all["reversed"] = {{"positions_reversed"}, [](Case& one, Random&) {
                       change_ids(one, [&](auto t, auto id) { return id + one.shape.tokens - 1 - 2 * t; });
                       return true;
                     }};
  all["wrapped_15"] = wrapping(1 << 15);
  all["wrapped_16"] = wrapping(1 << 16);
  all["wrapped_20"] = wrapping(1 << 20);
  all["clamped"] = {{"positions_clamped"}, [](Case& one, Random& random) {
                      const std::int64_t length = one_of<std::int64_t>(random, {2048, 4096, 8192});
                      set_ids(one, counted(one.shape, length - cut_of(one, random)));
                      change_ids(one, [&](auto, auto id) { return std::min(id, length - 1); });
                      return true;
                    }};
  all["swapped_ids"] = {
      {"positions_swapped"}, [](Case& one, Random& random) {
        const std::int64_t a = cut_of(one, random), b = (a + 2) % one.shape.tokens;
        change_ids(one, [&](auto t, auto id) { return t == a ? id + b - a : t == b ? id + a - b : id; });
        return true;
      }};
  all["other_ids"] = {{"positions_differ"}, [](Case& one, Random& random) {
                        Random own(random());
                        change_ids(one, [&](auto, auto) { return between(own, 0, 400); });
                        return true;
                      }};
}

void add_frequencies(std::map<std::string, Plant>& all) {
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
                          if (other.kind == Kind::ntk) one.right.insert("base_wrong");  // NTK is another base
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

void add_rotations(std::map<std::string, Plant>& all) {
  all["not_rotated"] = {{"not_rotated", "positions_all_zero"}, [](Case& one, Random&) {
                          one.engine.treat = [](auto, auto) { return Treatment{.times = 0}; };
                          return true;
                        }};
  all["twice"] = {{"rotated_twice", "positions_doubled"}, [](Case& one, Random&) {
                    one.engine.treat = [](auto, auto) { return Treatment{.times = 2}; };
                    return true;
                  }};
  all["inverse"] = {{"inverse_rotation", "positions_negated"}, [](Case& one, Random&) {
                      one.engine.treat = [](auto, auto) { return Treatment{.times = -1}; };
                      return true;
                    }};
  all["values"] = {{"values_rotated"}, [](Case& one, Random&) { return one.expected.values = true; }};
  all["values_right"] = {{"as_expected"}, [](Case& one, Random&) {
                           one.engine.treat = [](auto, auto) { return Treatment{.times = 0}; };
                           return one.expected.values = true;
                         }};
  all["pairing"] = {{"wrong_pairing"}, [](Case& one, Random&) {
                      one.engine.interleaved = !one.engine.interleaved;
                      return true;
                    }};
  all["output_order"] = {{"wrong_output_order"},
                         [](Case& one, Random&) { return one.engine.deinterleaved_output = one.engine.interleaved; }};
  all["width"] = {{"wrong_width"},
                  [](Case& one, Random&) {
                    one.engine.width /= 2;
                    use_rule(one, one.rule);
                    return true;
                  },
                  {Kind::none, Kind::linear, Kind::yarn}};
  all["offset_slice"] = {{"wrong_offset"}, [](Case& one, Random&) {
                           one.engine.offset = one.shape.head_dim - one.engine.width;
                           return one.engine.offset > 0;
                         }};
  all["magnitude_missing"] = {{"magnitude_missing"},
                              [](Case& one, Random&) {
                                one.engine.magnitude = 1;
                                return true;
                              },
                              {Kind::yarn}};
  all["magnitude_twice"] = {{"magnitude_squared"},
                            [](Case& one, Random&) {
                              one.engine.magnitude *= one.engine.magnitude;
                              return true;
                            },
                            {Kind::yarn}};
  all["magnitude_wrong"] = {{"magnitude_wrong"}, [](Case& one, Random& random) {
                              one.engine.magnitude *= one_of<double>(random, {1.1, 0.5, 0.125});
                              return true;
                            }};
  all["bfloat16_positions"] = casting(Type::bfloat16, "bfloat16_angles", 0);
  all["float16_positions"] = casting(Type::float16, "float16_angles", 0);
  all["bfloat16_frequencies"] = casting(Type::bfloat16, "bfloat16_angles", 1);
  all["bfloat16_angle"] = casting(Type::bfloat16, "bfloat16_angles", 2);
}

void add_coverage(std::map<std::string, Plant>& all) {
  all["tokens_zero"] = treating({"tokens_zero"}, 0);
  all["heads_zero"] = treating({"heads_zero"}, 1);
  all["tokens_not_rotated"] = treating({"tokens_not_rotated"}, 2);
  all["heads_not_rotated"] = treating({"heads_not_rotated"}, 3);
  all["cached_twice"] = treating({"cached_rotated_twice"}, 4);
  all["tokens_garbage"] = treating({"tokens_unexplained"}, 6);
  all["heads_garbage"] = treating({"heads_unexplained"}, 7);
  all["coordinates_zero"] = {{"coordinates_zero"}, [](Case& one, Random& random) {
                               const std::int64_t first = between(random, 0, one.shape.head_dim / 2);
                               one.engine.zeroes = [=](auto j) { return j >= first && j < first + 3; };
                               return true;
                             }};
  all["pairs_skipped"] = {{"coordinates_not_rotated", "wrong_offset", "wrong_width"}, [](Case& one, Random& random) {
                            if (one.rule.kind == Kind::proportional) return false;
                            const std::int64_t first = between(random, 0, 3), count = between(random, 1, 3);
                            one.engine.skips = [=](auto i) { return i >= first && i < first + count; };
                            one.right = first == 0 ? one.right : std::set<std::string>{"coordinates_not_rotated"};
                            return true;
                          }};
  all["tokens_swapped"] = {{"tokens_swapped"}, [](Case& one, Random& random) {
                             const std::int64_t n = one.shape.tokens, a = cut_of(one, random), b = (a + 2) % n;
                             one.engine.source = [=](std::int64_t row, std::int64_t head) {
                               const std::int64_t t = row % n;
                               return std::pair{row - t + (t == a ? b : t == b ? a : t), head};
                             };
                             return true;
                           }};
  all["token_repeated"] = {{"tokens_repeated"}, [](Case& one, Random& random) {
                             const std::int64_t n = one.shape.tokens, a = cut_of(one, random);
                             one.engine.source = [=](std::int64_t row, std::int64_t head) {
                               return std::pair{row % n == a ? row - 1 : row, head};
                             };
                             return true;
                           }};
  all["heads_exchanged"] = {{"wrong_heads", "heads_tiled"}, [](Case& one, Random&) {
                              const std::int64_t heads = one.shape.heads;
                              one.engine.source = [=](std::int64_t row, std::int64_t head) {
                                return std::pair{row, (head + 1) % heads};
                              };
                              return heads > 1;
                            }};
  all["heads_tiled"] = {{"heads_tiled"}, [](Case& one, Random& random) {
                          one.shape.heads = 4;
                          std::normal_distribution<double> normal;
                          const std::int64_t d = one.shape.head_dim;
                          for (std::int64_t n = 0; n < one.shape.rows() * 4 * d; ++n) {  // key heads 0 0 1 1
                            const bool again = n / d % 2 == 1;
                            one.dump.before.push_back(again ? one.dump.before[static_cast<std::size_t>(n - d)]
                                                            : rounded(one.numerics.before, normal(random)));
                          }
                          one.engine.source = [](std::int64_t row, std::int64_t head) {
                            return std::pair{row, head % 2 * 2};
                          };
                          return true;
                        }};
  all["heads_miscounted"] = {{"heads_miscounted"}, [](Case& one, Random&) {
                               if (one.shape.heads < 2 || one.shape.batch > 1 || one.ids_given) return false;
                               one.right.insert("heads_miscounted");
                               one.engine.ids.assign(1, {});
                               return one.shape.heads != 4;
                             }};
  all["noise_only"] = {{"no_rotation", "unexplained"}, [](Case& one, Random&) {
                         one.engine.treat = [](auto, auto) { return Treatment{.garbage = true}; };
                         return true;
                       }};
}

const std::map<std::string, Plant>& plants() {
  static const std::map<std::string, Plant> all = [] {
    std::map<std::string, Plant> made;
    add_legitimate(made);
    add_ids(made);
    add_frequencies(made);
    add_rotations(made);
    add_coverage(made);
    return made;
  }();
  return all;
}

// Vector n of [tokens, heads] is taken for token n / 4.
void run_miscounted(Case& one, Random& random) {
  RotationDump each{
      .batch = 1, .tokens = one.shape.tokens * one.shape.heads, .heads = 1, .head_dim = one.shape.head_dim};
  for (std::int64_t n = 0; n < each.tokens; ++n) one.engine.ids[0].push_back(n / 4);
  run_engine(each, one.engine, one.numerics, random);
  one.dump.before = each.before;
  one.dump.after = each.after;
}

PositionIds to_ids(const Case& one) {
  PositionIds ids{.axes = static_cast<std::int64_t>(one.ids.size()),
                  .batch = one.shape.batch,
                  .tokens = one.shape.tokens,
                  .ids = {}};
  for (const Ids& axis : one.ids) ids.ids.insert(ids.ids.end(), axis.begin(), axis.end());
  return ids;
}

std::string describe(const Case& one) {
  std::ostringstream text;
  text << one.plant << ": " << one.shape.batch << "x" << one.shape.tokens << "x" << one.shape.heads << "x"
       << one.shape.head_dim << " rule " << name_of(one.rule.kind) << " base " << one.rule.base << " factor "
       << one.rule.factor << " length " << one.rule.original << (one.engine.interleaved ? " interleaved" : " half")
       << " width " << one.engine.width << " from " << one.ids[0][0] << "; " << name_of(one.numerics.before) << " to "
       << name_of(one.numerics.after) << " by " << name_of(one.numerics.steps) << (one.numerics.fused ? " fused" : "")
       << (one.numerics.float32_angles ? ", float32 angles" : "") << ", noise " << one.numerics.noise;
  return text.str();
}

}  // namespace

const std::vector<std::string>& rotation_plants() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, plant] : plants()) all.push_back(name);
    return all;
  }();
  return names;
}

Case make_case(const std::string& name, std::int64_t tokens, const Numerics& numerics, Random& random) {
  const Plant& plant = plants().at(name);
  for (int attempt = 0;; ++attempt) {
    Case one{.plant = name, .right = plant.right};
    one.shape.tokens = attempt < 200 ? tokens : 64;  // a few plants need room
    one.numerics = numerics;
    draw_case(one, random, plant.rules);
    if (!plant.apply(one, random)) continue;
    one.about = describe(one);
    one.dump.batch = one.shape.batch;
    one.dump.tokens = one.shape.tokens;
    one.dump.heads = one.shape.heads;
    one.dump.head_dim = one.shape.head_dim;
    if (name == "heads_miscounted") {
      run_miscounted(one, random);
    } else {
      run_engine(one.dump, one.engine, numerics, random);
    }
    one.expected.encoding = Encoding(name == "right_xpos" ? "xpos" : "rope", one.arguments);
    if (one.ids_given) one.expected.positions = to_ids(one);
    return one;
  }
}

}  // namespace locus::bar
