// SPDX-License-Identifier: Apache-2.0
// The starting point of every plant: an expectation, and an engine that fulfils it.
#include <algorithm>
#include <cmath>

#include "doctor/bar/plant.h"

namespace locus::bar {
namespace {

// The sizes of the numbers: all near 1, all small or large, or a few coordinates far larger than the others.
void draw_sizes(Case& one, Random& random) {
  const double size = one_of<double>(random, {1, 1, 1, 0.03, 20});
  one.engine.sizes.assign(static_cast<std::size_t>(one.shape.head_dim), size);
  if (between(random, 0, 3) > 0) return;
  for (int n = 0; n < 3; ++n) {
    one.engine.sizes[static_cast<std::size_t>(between(random, 1, one.shape.head_dim - 1))] = 25 * size;
  }
}

}  // namespace

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

Ids counted(const Shape& shape, std::int64_t first) {
  Ids ids;
  for (std::int64_t n = 0; n < shape.rows(); ++n) ids.push_back(first + n % shape.tokens);
  return ids;
}

void set_ids(Case& one, const Ids& ids) {
  one.ids = {ids};
  one.engine.ids = {ids};
  one.ids_given = true;
}

void change_ids(Case& one, const std::function<std::int64_t(std::int64_t token, std::int64_t id)>& change) {
  for (std::size_t n = 0; n < one.ids[0].size(); ++n) {
    one.engine.ids[0][n] = change(static_cast<std::int64_t>(n) % one.shape.tokens, one.ids[0][n]);
  }
}

void draw_case(Case& one, Random& random, const std::vector<Kind>& rules) {
  one.shape.batch = one.shape.tokens <= 64 && between(random, 0, 3) == 0 ? 2 : 1;
  one.shape.heads = one.shape.tokens > 64 ? between(random, 1, 2) : between(random, 1, 4);
  one.shape.head_dim = one.shape.tokens > 512 ? one_of<std::int64_t>(random, {32, 64})
                                              : one_of<std::int64_t>(random, {32, 64, 64, 80, 96, 128});
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
  const std::int64_t first = one_of<std::int64_t>(random, {0, 0, 0, 5, 100, 5000, 40000, 1000000});
  if (first > 0) set_ids(one, counted(one.shape, first));
  draw_sizes(one, random);
}

std::int64_t cut_of(const Case& one, Random& random) { return between(random, 2, one.shape.tokens - 3); }

void expect_packed(Case& one, std::int64_t cut) {
  Ids ids = counted(one.shape);
  for (std::int64_t& id : ids) id = id >= cut ? id - cut : id;
  set_ids(one, ids);
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

}  // namespace locus::bar
