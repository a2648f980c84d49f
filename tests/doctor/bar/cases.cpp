// SPDX-License-Identifier: Apache-2.0
#include "doctor/bar/cases.h"

#include <algorithm>
#include <sstream>

#include "doctor/bar/plant.h"

namespace locus::bar {
namespace {

const Plants& plants() {
  static const Plants all = [] {
    Plants made;
    add_legitimate(made);
    add_ids(made);
    add_frequencies(made);
    add_rotations(made);
    add_coverage(made);
    add_strangers(made);
    return made;
  }();
  return all;
}

const Plants& plants_of_encodings() {
  static const Plants all = [] {
    Plants made;
    add_encodings(made);
    return made;
  }();
  return all;
}

std::vector<std::string> names_of(const Plants& plants) {
  std::vector<std::string> names;
  for (const auto& [name, plant] : plants) names.push_back(name);
  return names;
}

// Vector n of [tokens, heads] is treated as token n / 4.
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

// Faults that no dump can distinguish.
const std::map<std::string, std::string> twins = {{"negated", "positions_negated"},
                                                  {"inverse", "inverse_rotation"},
                                                  {"doubled", "positions_doubled"},
                                                  {"twice", "rotated_twice"},
                                                  {"all_zero", "positions_all_zero"},
                                                  {"not_rotated", "not_rotated"},
                                                  {"output_not_turned", "output_not_turned"},
                                                  {"output_forward", "output_turned_forward"},
                                                  {"turned_values_still", "values_not_rotated"}};

// True if float32 angles may be off by 0.001 radians, which is a separate finding.
bool coarse_angles(const Case& one) {
  const auto [least, most] = std::minmax_element(one.ids[0].begin(), one.ids[0].end());
  return one.numerics.float32_angles && static_cast<double>(std::max(-*least, *most)) > 0x1p13;
}

std::string describe(const Case& one) {
  std::ostringstream text;
  text << one.plant << ": " << one.shape.batch << "x" << one.shape.tokens << "x" << one.shape.heads << "x"
       << one.shape.head_dim << " rule " << name_of(one.rule.kind) << " base " << one.rule.base << " factor "
       << one.rule.factor << " length " << one.rule.original << (one.engine.interleaved ? " interleaved" : " half")
       << " width " << one.engine.width << " from " << one.ids[0][0] << "; " << name_of(one.numerics.before) << " to "
       << name_of(one.numerics.after) << " by " << name_of(one.numerics.steps) << (one.numerics.fused ? " fused" : "")
       << (one.numerics.float32_angles ? ", float32 angles" : "") << ", noise " << one.numerics.noise << ", size "
       << one.engine.sizes.front();
  return text.str();
}

}  // namespace

const std::vector<std::string>& rotation_plants() {
  static const std::vector<std::string> names = names_of(plants());
  return names;
}

const std::vector<std::string>& encoding_plants() {
  static const std::vector<std::string> names = names_of(plants_of_encodings());
  return names;
}

Case make_case(const std::string& name, std::int64_t tokens, const Numerics& numerics, Random& random) {
  const bool common = plants().contains(name);
  const Plant& plant = common ? plants().at(name) : plants_of_encodings().at(name);
  for (int attempt = 0;; ++attempt) {
    Case one{.plant = name, .right = plant.right};
    one.shape.tokens = attempt < 200 ? tokens : 64;  // a few plants need more tokens
    one.numerics = numerics;
    draw_case(one, random, plant.rules);
    if (!plant.apply(one, random)) continue;
    if (const auto twin = twins.find(name); twin != twins.end()) one.truth = twin->second;
    if (one.right.contains("as_expected") && coarse_angles(one)) one.right.insert("float32_angles");
    one.about = describe(one);
    one.dump.batch = one.shape.batch;
    one.dump.tokens = one.shape.tokens;
    one.dump.heads = one.shape.heads;
    one.dump.head_dim = one.shape.head_dim;
    if (name == "heads_miscounted") {
      run_miscounted(one, random);
    } else {
      run_engine(one.dump, one.engine, one.numerics, random);
    }
    one.expected.encoding = Encoding(one.scheme, one.arguments);
    if (one.ids_given) one.expected.positions = to_ids(one);
    return one;
  }
}

}  // namespace locus::bar
