// SPDX-License-Identifier: Apache-2.0
// Encodings that declare more than the rotation of pairs: query temperature, turned output, axes as data, mixed tables,
// offset maps; right and with their faults.
#include <cmath>
#include <memory>

#include "doctor/bar/plant.h"

namespace locus::bar {
namespace {

// ---- query temperature

struct Temperature {
  std::int64_t length = 8, shift = 0;
  double beta = 0.1;
  bool logarithm = false;
  double at(std::int64_t p) const {
    if (logarithm)
      return std::max(1.0, std::log(static_cast<double>(p + shift)) / std::log(static_cast<double>(length)));
    return 1 + beta * std::log(1 + std::floor(static_cast<double>(p + shift) / static_cast<double>(length)));
  }
};

// Steps of at most half of the tokens, from one of the first steps on, so that the factor changes within the dump.
Temperature expect_temperature(Case& one, Random& random, bool logarithm = false) {
  Temperature temperature{.length = between(random, 4, one.shape.tokens / 2),
                          .shift = logarithm ? 1 : between(random, 0, 1),
                          .logarithm = logarithm};
  one.arguments.set("temperature", std::string(logarithm ? "logarithm" : "steps"));
  one.arguments.set("temperature_length", temperature.length);
  one.arguments.set("temperature_shift", temperature.shift);
  if (!logarithm) {
    temperature.beta = one_of<double>(random, {0.1, 0.1, 0.3});
    one.arguments.set("temperature_beta", temperature.beta);
  }
  set_ids(one, counted(one.shape, temperature.length * one_of<std::int64_t>(random, {0, 1, 3})));
  return temperature;
}

// Multiplies the vectors of a token, given its id.
void multiply(Case& one, const std::function<double(std::int64_t id)>& factor, bool rotated_only = false) {
  const std::int64_t end = rotated_only ? one.engine.width : one.shape.head_dim;
  one.engine.spoil = [=, ids = one.engine.ids[0]](std::int64_t row, std::int64_t, double* vector) {
    for (std::int64_t j = 0; j < end; ++j) vector[j] *= factor(ids[static_cast<std::size_t>(row)]);
  };
}

void add_temperature(Plants& all) {
  const auto add = [&](const std::string& name, const std::set<std::string>& right, bool logarithm, auto factor) {
    all[name] = {right, [=](Case& one, Random& random) {
                   const Temperature t = expect_temperature(one, random, logarithm);
                   multiply(one, [=](std::int64_t id) { return factor(t, id); });
                   return true;
                 }};
  };
  const auto right = [](const Temperature& t, std::int64_t id) { return t.at(id); };
  add("right_temperature", {"as_expected"}, false, right);
  add("right_logarithm", {"as_expected"}, true, right);
  add("temperature_missing", {"temperature_missing"}, false, [](const Temperature&, std::int64_t) { return 1.0; });
  add("temperature_late", {"temperature_off_by_one"}, false,
      [](const Temperature& t, std::int64_t id) { return t.at(id + 1); });
  add("temperature_twice", {"temperature_squared"}, false,
      [](const Temperature& t, std::int64_t id) { return t.at(id) * t.at(id); });
  add("temperature_divides", {"temperature_inverted"}, false,
      [](const Temperature& t, std::int64_t id) { return 1 / t.at(id); });
  add("temperature_of_another_beta", {"temperature_wrong"}, false,
      [](const Temperature& t, std::int64_t id) { return 1 + 3.3 * (t.at(id) - 1); });
  all["temperature_rotated_only"] = {{"temperature_on_rotated_only"}, [](Case& one, Random& random) {
                                       const Temperature t = expect_temperature(one, random);
                                       multiply(
                                           one, [=](std::int64_t id) { return t.at(id); }, true);
                                       return one.engine.width < one.shape.head_dim;
                                     }};
  all["right_temperature_key"] = {{"as_expected"}, [](Case& one, Random& random) {
                                    expect_temperature(one, random);
                                    one.expected.role = Role::key;
                                    return true;
                                  }};
  all["temperature_on_keys"] = {{"temperature_on_keys"}, [](Case& one, Random& random) {
                                  const Temperature t = expect_temperature(one, random);
                                  one.expected.role = Role::key;
                                  multiply(one, [=](std::int64_t id) { return t.at(id); });
                                  return true;
                                }};
  all["temperature_and_offset"] = {{"position_offset"}, [](Case& one, Random& random) {  // one fault: the positions
                                     const Temperature t = expect_temperature(one, random);
                                     const std::int64_t by = one_of<std::int64_t>(random, {1, 5, 40});
                                     change_ids(one, [by](std::int64_t, std::int64_t id) { return id + by; });
                                     multiply(one, [=](std::int64_t id) { return t.at(id); });
                                     return true;
                                   }};
  const auto unrotated = [](Case& one, Random& random) {
    const Temperature t = expect_temperature(one, random);
    one.scheme = "query_temperature";
    Arguments own;
    for (const auto& [name, value] : one.arguments.all()) {
      if (name == "head_dim" || name.starts_with("temperature")) own.set(name, value);
    }
    one.arguments = own;
    multiply(one, [=](std::int64_t id) { return t.at(id); });
  };
  all["right_unrotated"] = {{"as_expected"}, [=](Case& one, Random& random) {
                              unrotated(one, random);
                              one.engine.treat = [](auto, auto) { return Treatment{.times = 0}; };
                              return true;
                            }};
  all["unrotated_is_rotated"] = {{"rotation_unexpected"},
                                 [=](Case& one, Random& random) {
                                   unrotated(one, random);
                                   return true;
                                 },
                                 {Kind::none}};
}

// ---- turned output

void add_turned(Plants& all) {
  const auto add = [&](const std::string& name, const std::set<std::string>& right, int times, bool output,
                       std::int64_t by) {
    all[name] = {right,
                 [=](Case& one, Random&) {
                   one.arguments.set("turned_output", true);
                   one.expected.output = output;
                   one.expected.values = !output;
                   set_ids(one, counted(one.shape, 3));
                   change_ids(one, [by](std::int64_t, std::int64_t id) { return id + by; });
                   one.engine.treat = [times](auto, auto) { return Treatment{.times = times}; };
                   return true;
                 },
                 {Kind::none, Kind::linear, Kind::yarn}};
  };
  add("right_output", {"as_expected"}, -1, true, 0);
  add("output_not_turned", {"output_not_turned", "positions_all_zero"}, 0, true, 0);
  add("output_forward", {"output_turned_forward", "positions_negated"}, 1, true, 0);
  add("output_offset", {"position_offset"}, -1, true, 1);
  add("right_turned_values", {"as_expected"}, 1, false, 0);
  add("turned_values_still", {"values_not_rotated", "positions_all_zero"}, 0, false, 0);
}

// ---- axes as data

// Two axes of different widths, restarting frequencies; ids of a picture with seven columns.
bool expect_sections(Case& one, bool restarts) {
  if (one.engine.width % 16 != 0) return false;
  const std::int64_t pairs = one.engine.width / 2, first = pairs / 4;
  one.arguments.set("axes", std::string("sections"));
  one.arguments.set("sections", std::vector<double>{static_cast<double>(first), static_cast<double>(pairs - first)});
  one.arguments.set("frequency_index", std::string(restarts ? "restarting" : "running"));
  one.engine.axis.clear();
  for (std::int64_t i = 0; i < pairs; ++i) one.engine.axis.push_back(i < first ? 0 : 1);
  one.ids.assign(2, {});
  for (std::int64_t n = 0; n < one.shape.rows(); ++n) {
    const std::int64_t t = n % one.shape.tokens;
    one.ids[0].push_back(1 + t / 7);
    one.ids[1].push_back(1 + t % 7);
  }
  one.engine.ids = one.ids;
  one.ids_given = true;
  return true;
}

std::vector<long double> restarting(const Case& one) {
  const std::int64_t pairs = one.engine.width / 2, first = pairs / 4;
  std::vector<long double> w;
  for (std::int64_t i = 0; i < pairs; ++i) {
    const std::int64_t own = i < first ? first : pairs - first, at = i < first ? i : i - first;
    w.push_back(std::pow(static_cast<long double>(one.rule.base),
                         -static_cast<long double>(at) / static_cast<long double>(own)));
  }
  return w;
}

void add_axes(Plants& all) {
  const std::vector<Kind> plain = {Kind::none};
  all["right_sections"] = {{"as_expected"},
                           [](Case& one, Random& random) {
                             const bool restarts = between(random, 0, 1) == 1;
                             if (!expect_sections(one, restarts)) return false;
                             if (restarts) one.engine.w = restarting(one);
                             return true;
                           },
                           plain};
  all["sections_run_on"] = {{"axis_frequencies"}, [](Case& one, Random&) { return expect_sections(one, true); }, plain};
  all["sections_restart"] = {{"axis_frequencies"},
                             [](Case& one, Random&) {
                               if (!expect_sections(one, false)) return false;
                               one.engine.w = restarting(one);
                               return true;
                             },
                             plain};
  all["sections_exchanged"] = {{"sections_swapped"},
                               [](Case& one, Random&) {
                                 if (!expect_sections(one, false)) return false;
                                 for (int& axis : one.engine.axis) axis = 1 - axis;
                                 return true;
                               },
                               plain};
  const auto scaled = [](Case& one, bool applied) {
    if (!expect_sections(one, false)) return false;
    one.arguments.set("id_scale", std::vector<double>{0.5, 2.5});
    one.arguments.set("id_shift", std::vector<double>{0.25, -1.5});
    if (!applied) return true;
    const std::vector<long double> w = one.engine.w;
    const std::vector<int> axes = one.engine.axis;
    for (std::size_t i = 0; i < w.size(); ++i) one.engine.w[i] *= axes[i] == 0 ? 0.5L : 2.5L;
    one.engine.bend = [w, axes](std::int64_t, std::int64_t, std::int64_t pair, long double angle) {
      const auto i = static_cast<std::size_t>(pair);
      return angle + w[i] * (axes[i] == 0 ? 0.25L : -1.5L);
    };
    return true;
  };
  all["right_coordinates"] = {{"as_expected"}, [=](Case& one, Random&) { return scaled(one, true); }, plain};
  all["coordinates_not_scaled"] = {
      {"coordinates_not_scaled"}, [=](Case& one, Random&) { return scaled(one, false); }, plain};
}

// ---- mixed tables

struct Mix {
  std::int64_t heads = 1, size = 1;
  std::vector<float> cos, sin;  // [heads, size, size]
};

std::shared_ptr<Mix> expect_mix(Case& one, Random& random) {
  one.scheme = "fope";
  one.shape.heads = 4;
  auto mix = std::make_shared<Mix>();
  mix->heads = one.expected.role == Role::key ? 4 : 2;
  mix->size = one.shape.head_dim / 2;
  std::normal_distribution<float> normal(0, 0.3F);
  for (std::vector<float>* matrix : {&mix->cos, &mix->sin}) {
    for (std::int64_t n = 0; n < mix->heads * mix->size * mix->size; ++n) {
      const bool diagonal = n / mix->size % mix->size == n % mix->size;
      matrix->push_back(normal(random) / std::sqrt(static_cast<float>(mix->size)) + (diagonal ? 1.0F : 0.0F));
    }
  }
  const std::vector<std::int64_t> shape = {mix->heads, mix->size, mix->size};
  one.arguments = {{"heads", mix->heads},
                   {"head_dim", one.shape.head_dim},
                   {"base", one.rule.base},
                   {"pairing", one.arguments.text("pairing")},
                   {"cos_mix", Tensor{shape, mix->cos}},
                   {"sin_mix", Tensor{shape, mix->sin}}};
  set_ids(one, counted(one.shape, between(random, 1, 2000)));
  return mix;
}

// Vectors come unrotated; `key_head` gives the matrices of a head, `by` moves positions.
void turn_mixed(Case& one, const std::shared_ptr<Mix>& mix, const std::function<std::int64_t(std::int64_t)>& key_head,
                std::int64_t by, bool mixed = true) {
  one.engine.treat = [](auto, auto) { return Treatment{.times = 0}; };
  one.engine.spoil = [=, ids = one.ids[0], w = one.engine.w, interleaved = one.engine.interleaved](
                         std::int64_t row, std::int64_t head, double* vector) {
    const std::int64_t size = mix->size;
    std::vector<double> turned(vector, vector + 2 * size);
    for (std::int64_t j = 0; j < size; ++j) {
      long double cos = 0, sin = 0;
      for (std::int64_t i = 0; i < size; ++i) {
        const long double angle =
            w[static_cast<std::size_t>(i)] * static_cast<long double>(ids[static_cast<std::size_t>(row)] + by);
        const auto at = static_cast<std::size_t>((key_head(head) * size + i) * size + j);
        cos += std::cos(angle) * (mixed ? mix->cos[at] : (i == j ? 1.0L : 0.0L));
        sin += std::sin(angle) * (mixed ? mix->sin[at] : (i == j ? 1.0L : 0.0L));
      }
      const std::int64_t x = interleaved ? 2 * j : j, y = interleaved ? 2 * j + 1 : j + size;
      turned[static_cast<std::size_t>(x)] = static_cast<double>(vector[x] * cos - vector[y] * sin);
      turned[static_cast<std::size_t>(y)] = static_cast<double>(vector[x] * sin + vector[y] * cos);
    }
    std::copy(turned.begin(), turned.end(), vector);
  };
}

void add_mixed(Plants& all) {
  const std::vector<Kind> plain = {Kind::none};
  const auto whole = [](const Case& one) {  // FoPE rotates whole heads; the mix of many tokens is slow to make
    return one.engine.width == one.shape.head_dim && one.shape.head_dim <= 64 && one.shape.tokens <= 128;
  };
  const auto own = [](std::int64_t head) { return head / 2; };
  const auto add = [&](const std::string& name, const std::set<std::string>& right,
                       const std::function<std::int64_t(std::int64_t)>& key_head, std::int64_t by, bool mixed) {
    all[name] = {right,
                 [=](Case& one, Random& random) {
                   if (one.shape.tokens > 128) one.shape.tokens = 128;
                   if (!whole(one)) return false;
                   turn_mixed(one, expect_mix(one, random), key_head, by, mixed);
                   return true;
                 },
                 plain};
  };
  add("right_mix", {"as_expected"}, own, 0, true);
  add("mix_missing", {"mix_missing"}, own, 0, false);
  add(
      "mix_by_remainder", {"mix_of_another_head"}, [](std::int64_t head) { return head % 2; }, 0, true);
  add(
      "mix_of_the_first", {"mix_of_another_head"}, [](std::int64_t) { return std::int64_t{0}; }, 0, true);
  add("mix_off_by_one", {"position_offset"}, own, 1, true);
}

// ---- offset maps

void add_offset_maps(Plants& all) {
  const auto expect = [](Case& one) {
    one.scheme = "offset_map";
    one.arguments.set("map", std::string("self_extend"));
    one.arguments.set("window", std::int64_t{8});
    one.arguments.set("group", std::int64_t{4});
    set_ids(one, counted(one.shape, 16));
  };
  all["right_offset_map"] = {{"as_expected"},
                             [=](Case& one, Random&) {
                               expect(one);
                               return true;
                             },
                             {Kind::none}};
  all["offset_region"] = {{"offset_region"},
                          [=](Case& one, Random&) {  // floor(p / 4) + 8 - 8 / 4
                            expect(one);
                            change_ids(one, [](std::int64_t, std::int64_t id) { return id / 4 + 6; });
                            return true;
                          },
                          {Kind::none}};
}

}  // namespace

void add_encodings(Plants& all) {
  add_temperature(all);
  add_turned(all);
  add_axes(all);
  add_mixed(all);
  add_offset_maps(all);
}

}  // namespace locus::bar
