// SPDX-License-Identifier: Apache-2.0
// A plant: its change of a right case, and the first verdicts that are right for it.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "doctor/bar/cases.h"

namespace locus::bar {

using Ids = std::vector<std::int64_t>;
using Kind = RuleOf::Kind;

inline const std::vector<Kind> any_rule = {Kind::none, Kind::linear, Kind::ntk,
                                           Kind::yarn, Kind::llama3, Kind::proportional};
inline const std::vector<Kind> scaled_rule = {Kind::linear, Kind::ntk, Kind::yarn, Kind::llama3};

struct Plant {
  std::set<std::string> right;
  std::function<bool(Case&, Random&)> apply;  ///< false: not possible with this case
  std::vector<Kind> rules = any_rule;
};
using Plants = std::map<std::string, Plant>;

void add_legitimate(Plants& all);
void add_ids(Plants& all);
void add_frequencies(Plants& all);
void add_rotations(Plants& all);
void add_coverage(Plants& all);
void add_strangers(Plants& all);
/// Plants of encodings that declare more than the rotation of pairs.
void add_encodings(Plants& all);

// Helpers of the plants.

template <class T>
T one_of(Random& random, const std::vector<T>& choices) {
  return choices[std::uniform_int_distribution<std::size_t>(0, choices.size() - 1)(random)];
}

inline std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, std::max(least, most))(random);
}

/// Returns a token that is neither among the first nor among the last.
std::int64_t cut_of(const Case& one, Random& random);

RuleOf draw_rule(Random& random, Kind kind);
/// Lets the engine use `rule`; the expectation is unchanged.
void use_rule(Case& one, const RuleOf& rule);
/// Lets both use it.
void expect_rule(Case& one, const RuleOf& rule);

Ids counted(const Shape& shape, std::int64_t first = 0);
/// Sets the ids of the expectation and of the engine.
void set_ids(Case& one, const Ids& ids);
/// Sets the ids of the engine, given those of the expectation.
void change_ids(Case& one, const std::function<std::int64_t(std::int64_t token, std::int64_t id)>& change);
/// Makes two packed documents; the second starts at `cut`.
void expect_packed(Case& one, std::int64_t cut);

/// Completes a right case for the tokens and numerics that it has.
void draw_case(Case& one, Random& random, const std::vector<Kind>& rules);
/// Gives the case three axes. Returns false if the width does not allow that.
bool make_mrope(Case& one, Random& random);

}  // namespace locus::bar
