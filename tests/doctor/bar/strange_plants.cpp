// SPDX-License-Identifier: Apache-2.0
// Faults without a name in the catalogue, and combined faults. The doctor may say that it does not know, or name what
// is there, but nothing else.
#include <cmath>
#include <numbers>

#include "doctor/bar/plant.h"

namespace locus::bar {
namespace {

using Spoil = std::function<void(std::int64_t row, std::int64_t head, double* vector)>;
using Bend = std::function<long double(std::int64_t row, std::int64_t head, std::int64_t pair, long double angle)>;

const std::set<std::string> unknown = {
    "unexplained",         "no_rotation",     "tokens_unexplained", "heads_unexplained", "coordinates_unexplained",
    "lengths_unexplained", "magnitude_varies"};

std::set<std::string> unknown_or(std::set<std::string> more) {
  more.insert(unknown.begin(), unknown.end());
  return more;
}

bool long_enough_to_tell(const Case& one) { return one.shape.tokens >= 16; }

void add_spoilt_vectors(Plants& all) {
  all["strange_token_scaled"] = {{"tokens_unexplained"}, [](Case& one, Random& random) {
                                   const std::int64_t t = cut_of(one, random), d = one.shape.head_dim;
                                   const double by = one_of<double>(random, {1.5, 0.7, 1.1});
                                   one.engine.spoil = [=, n = one.shape.tokens](auto row, auto, double* vector) {
                                     for (std::int64_t j = 0; j < d && row % n == t; ++j) vector[j] *= by;
                                   };
                                   return true;
                                 }};
  all["strange_head_scaled"] = {{"heads_unexplained"}, [](Case& one, Random& random) {
                                  const std::int64_t h = between(random, 0, one.shape.heads - 1);
                                  const double by = one_of<double>(random, {1.03, 0.9, 1.5});
                                  one.engine.spoil = [=, d = one.shape.head_dim](auto, auto head, double* vector) {
                                    for (std::int64_t j = 0; j < d && head == h; ++j) vector[j] *= by;
                                  };
                                  return one.shape.heads > 2;
                                }};
  all["strange_one_element"] = {unknown, [](Case& one, Random& random) {
                                  const std::int64_t t = cut_of(one, random);
                                  const std::int64_t j = between(random, 0, one.shape.head_dim - 1);
                                  const double more = 2 * one.engine.sizes[static_cast<std::size_t>(j)];
                                  one.engine.spoil = [=](auto row, auto head, double* vector) {
                                    if (row == t && head == 0) vector[j] += more;
                                  };
                                  return true;
                                }};
  all["strange_sign_of_head"] = {{"heads_unexplained", "unexplained"}, [](Case& one, Random& random) {
                                   const std::int64_t h = between(random, 0, one.shape.heads - 1);
                                   one.engine.bend = [=](auto, auto head, auto, auto angle) {
                                     return head == h ? angle + std::numbers::pi_v<long double> : angle;
                                   };
                                   return one.shape.heads > 1 && one.rule.kind != Kind::proportional;
                                 }};
  all["strange_sign"] = {unknown, [](Case& one, Random&) {
                           one.engine.spoil = [d = one.shape.head_dim](auto, auto, double* vector) {
                             for (std::int64_t j = 0; j < d; ++j) vector[j] = -vector[j];
                           };
                           return true;
                         }};
  all["strange_growing"] = {unknown_or({"magnitude_varies"}), [](Case& one, Random&) {
                              const std::int64_t n = one.shape.tokens, d = one.shape.head_dim;
                              one.engine.spoil = [=](auto row, auto, double* vector) {
                                const double by = 1 + 0.3 * static_cast<double>(row % n) / static_cast<double>(n);
                                for (std::int64_t j = 0; j < d; ++j) vector[j] *= by;
                              };
                              return true;
                            }};
  all["strange_normalised"] = {unknown_or({"magnitude_varies"}), [](Case& one, Random&) {
                                 one.engine.spoil = [d = one.shape.head_dim](auto, auto, double* vector) {
                                   double sum = 0;
                                   for (std::int64_t j = 0; j < d; ++j) sum += vector[j] * vector[j];
                                   for (std::int64_t j = 0; j < d; ++j) vector[j] /= std::sqrt(sum);
                                 };
                                 return true;
                               }};
  all["strange_clipped"] = {unknown, [](Case& one, Random&) {
                              const double most = one.engine.sizes[0];
                              one.engine.spoil = [=, d = one.shape.head_dim](auto, auto, double* vector) {
                                for (std::int64_t j = 0; j < d; ++j) vector[j] = std::clamp(vector[j], -most, most);
                              };
                              return true;
                            }};
  all["strange_added"] = {unknown, [](Case& one, Random& random) {
                            const double more = one.engine.sizes[0] * one_of<double>(random, {0.1, 0.5});
                            one.engine.spoil = [=, d = one.shape.head_dim](auto, auto, double* vector) {
                              for (std::int64_t j = 0; j < d; ++j) vector[j] += more;
                            };
                            return true;
                          }};
  all["strange_mean"] = {{"tokens_unexplained"}, [](Case& one, Random& random) {
                           const std::int64_t t = cut_of(one, random), d = one.shape.head_dim;
                           one.engine.spoil = [=, n = one.shape.tokens](auto row, auto, double* vector) {
                             for (std::int64_t j = 1; j < d && row % n == t; ++j) {
                               vector[j] = (vector[j] + vector[j - 1]) / 2;
                             }
                           };
                           return true;
                         }};
}

void add_moved_numbers(Plants& all) {
  all["strange_rolled"] = {unknown, [](Case& one, Random&) {
                             one.engine.spoil = [d = one.shape.head_dim](auto, auto, double* vector) {
                               std::rotate(vector, vector + 1, vector + d);
                             };
                             return true;
                           }};
  all["strange_two_coordinates"] = {
      {"coordinates_unexplained"}, [](Case& one, Random&) {
        one.engine.spoil = [](auto, auto, double* vector) { std::swap(vector[1], vector[4]); };
        return one.engine.width == one.shape.head_dim && one.rule.kind != Kind::proportional;
      }};
  all["strange_last_coordinate"] = {unknown_or({"coordinates_zero"}), [](Case& one, Random& random) {
                                      const std::int64_t last = one.engine.width - 1;
                                      const double left = one_of<double>(random, {0.5, -1});
                                      one.engine.spoil = [=](auto, auto, double* vector) { vector[last] *= left; };
                                      return true;
                                    }};
  all["strange_axes"] = {unknown_or({"tokens_swapped", "tokens_repeated", "wrong_heads", "heads_miscounted",
                                     "tokens_zero", "positions_differ", "magnitude_varies"}),
                         [](Case& one, Random&) {  // written as [heads, tokens], read as [tokens, heads]
                           if (one.shape.heads < 2 || one.shape.batch > 1 || one.rule.kind == Kind::proportional) {
                             return false;
                           }
                           const std::int64_t n = one.shape.tokens, heads = one.shape.heads;
                           one.engine.source = [=](std::int64_t row, std::int64_t head) {
                             const std::int64_t at = row * heads + head;
                             return std::pair{at % n, at / n};
                           };
                           one.engine.bend = [=, ids = one.ids[0], w = one.engine.w](auto row, auto head, auto pair,
                                                                                     auto) -> long double {
                             const auto from = static_cast<std::size_t>((row * heads + head) % n);
                             return static_cast<long double>(ids[from]) * w[static_cast<std::size_t>(pair)];
                           };
                           return true;
                         }};
  all["strange_after_repeated"] = {{"tokens_repeated"}, [](Case& one, Random& random) {  // its rotation too
                                     const std::int64_t n = one.shape.tokens, a = cut_of(one, random);
                                     one.engine.source = [=](std::int64_t row, std::int64_t head) {
                                       return std::pair{row % n == a ? row - 1 : row, head};
                                     };
                                     change_ids(one, [&](auto t, auto id) { return t == a ? id - 1 : id; });
                                     return true;
                                   }};
}

void add_bent_angles(Plants& all) {
  const auto bent = [](const std::set<std::string>& right, const std::function<Bend(Case&, Random&)>& make) {
    return Plant{right,
                 [make](Case& one, Random& random) {
                   one.engine.bend = make(one, random);
                   return one.engine.bend != nullptr && long_enough_to_tell(one);
                 },
                 {Kind::none, Kind::linear, Kind::ntk, Kind::yarn, Kind::llama3}};
  };
  all["strange_base_of_head"] = bent({"heads_unexplained"}, [](Case& one, Random& random) -> Bend {
    if (one.shape.heads < 3) return nullptr;
    const std::int64_t h = between(random, 0, one.shape.heads - 1);
    const double width = static_cast<double>(one.engine.width);
    return [=](auto, auto head, auto pair, auto angle) {
      return head == h ? angle * std::pow(0.1L, static_cast<long double>(2.0 * static_cast<double>(pair) / width))
                       : angle;
    };
  });
  all["strange_base_from"] = bent(unknown, [](Case& one, Random& random) -> Bend {
    const std::int64_t cut = one.shape.tokens / 2 + between(random, -2, 2), n = one.shape.tokens;
    const double width = static_cast<double>(one.engine.width);
    return [=](auto row, auto, auto pair, auto angle) {
      return row % n >= cut ? angle * std::pow(0.1L, static_cast<long double>(2.0 * static_cast<double>(pair) / width))
                            : angle;
    };
  });
  all["strange_half_a_position"] = bent(unknown, [](Case& one, Random&) -> Bend {
    return
        [w = one.engine.w](auto, auto, auto pair, auto angle) { return angle + w[static_cast<std::size_t>(pair)] / 2; };
  });
  all["strange_cos_and_sin"] = bent(unknown, [](Case&, Random&) -> Bend {
    return [](auto, auto, auto, auto angle) { return std::numbers::pi_v<long double> / 2 - angle; };
  });
  all["strange_quarter_turn"] = bent(unknown, [](Case&, Random&) -> Bend {
    return [](auto, auto, auto, auto angle) { return angle + std::numbers::pi_v<long double> / 2; };
  });
  all["strange_half_backwards"] = bent(unknown, [](Case& one, Random&) -> Bend {
    return
        [pairs = one.engine.width / 2](auto, auto, auto pair, auto angle) { return 2 * pair < pairs ? -angle : angle; };
  });
  all["strange_head_offset"] = bent({"heads_unexplained"}, [](Case& one, Random&) -> Bend {
    if (one.shape.heads < 2) return nullptr;
    return [w = one.engine.w](auto, auto head, auto pair, auto angle) {
      return angle + static_cast<long double>(head) * w[static_cast<std::size_t>(pair)];
    };
  });
  all["strange_slowing"] = bent(unknown, [](Case& one, Random&) -> Bend {
    return [n = one.shape.tokens](auto row, auto, auto, auto angle) {
      return angle * (1 - 0.2L * static_cast<long double>(row % n) / static_cast<long double>(n));
    };
  });
  all["strange_jitter"] = bent(unknown, [](Case&, Random& random) -> Bend {
    const std::uint64_t seed = random();
    return [=](auto row, auto, auto pair, auto angle) {
      Random own(seed + static_cast<std::uint64_t>(row * 1000 + pair));
      return angle + 0.2L * static_cast<long double>(std::normal_distribution<double>()(own));
    };
  });
}

Plant of_form(Form form) {
  return {unknown,
          [form](Case& one, Random&) {
            one.engine.form = form;
            return true;
          },
          {Kind::none, Kind::linear, Kind::ntk, Kind::yarn, Kind::llama3}};
}

Plant with_frequencies(std::set<std::string> right, const std::function<void(std::vector<long double>&)>& change) {
  return {std::move(right),
          [change](Case& one, Random&) {
            change(one.engine.w);
            return long_enough_to_tell(one);
          },
          {Kind::none, Kind::linear, Kind::ntk, Kind::llama3}};
}

void add_frequencies_of_others(Plants& all) {
  all["strange_reflected"] = of_form(Form::reflected);
  all["strange_no_sin"] = of_form(Form::no_sin);
  all["strange_late_sin"] = of_form(Form::late_sin);
  all["strange_frequencies_reversed"] =
      with_frequencies(unknown, [](std::vector<long double>& w) { std::reverse(w.begin(), w.end()); });
  all["strange_frequencies_repeated"] = with_frequencies(unknown, [](std::vector<long double>& w) {
    for (std::size_t i = 0; i + 1 < w.size(); i += 2) w[i + 1] = w[i];
  });
  all["strange_frequencies_rotated"] =
      with_frequencies(unknown, [](std::vector<long double>& w) { std::rotate(w.begin(), w.begin() + 3, w.end()); });
}

// Two faults at once: either is right as the first verdict.
void add_company(Plants& all) {
  all["two_pairing_offset"] = {{"wrong_pairing", "position_offset"}, [](Case& one, Random&) {
                                 one.engine.interleaved = !one.engine.interleaved;
                                 change_ids(one, [](auto, auto id) { return id + 1; });
                                 return one.rule.kind != Kind::proportional;
                               }};
  all["two_zero_base"] = {{"tokens_zero", "base_wrong"},
                          [](Case& one, Random& random) {
                            RuleOf other = one.rule;
                            other.base *= 10;
                            use_rule(one, other);
                            const std::int64_t t = cut_of(one, random), n = one.shape.tokens;
                            one.engine.treat = [=](std::int64_t row, std::int64_t) {
                              return Treatment{.zero = row % n == t};
                            };
                            return true;
                          },
                          {Kind::none, Kind::linear}};
  all["two_head_still_offset"] = {{"heads_not_rotated", "position_offset"}, [](Case& one, Random& random) {
                                    const std::int64_t h = between(random, 0, one.shape.heads - 1);
                                    one.engine.treat = [=](std::int64_t, std::int64_t head) {
                                      return Treatment{.times = head == h ? 0 : 1};
                                    };
                                    change_ids(one, [](auto, auto id) { return id + 3; });
                                    return one.shape.heads > 1;
                                  }};
  all["two_swapped_reversed"] = {{"tokens_swapped", "positions_reversed"}, [](Case& one, Random& random) {
                                   const std::int64_t n = one.shape.tokens, a = cut_of(one, random), b = (a + 2) % n;
                                   one.engine.source = [=](std::int64_t row, std::int64_t head) {
                                     const std::int64_t t = row % n;
                                     return std::pair{row - t + (t == a ? b : t == b ? a : t), head};
                                   };
                                   change_ids(one, [&](auto t, auto id) { return id + n - 1 - 2 * t; });
                                   return true;
                                 }};
  all["two_magnitude_offset"] = {{"magnitude_wrong", "position_offset"}, [](Case& one, Random&) {
                                   one.engine.magnitude *= 1.3;
                                   change_ids(one, [](auto, auto id) { return id + 1; });
                                   return true;
                                 }};
}

}  // namespace

void add_strangers(Plants& all) {
  add_spoilt_vectors(all);
  add_moved_numbers(all);
  add_bent_angles(all);
  add_frequencies_of_others(all);
  add_company(all);
}

}  // namespace locus::bar
