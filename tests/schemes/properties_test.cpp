// SPDX-License-Identifier: Apache-2.0
// Property tests selected by claims: every claim of a scheme is tested on random positions, and a claim without a
// test at the scheme's site fails.
//
// Claims are about the mathematics, so the subjects have the profile `exact`; other tests compare float32 profiles
// with their engines.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "locus/encoding.h"
#include "locus/error.h"
#include "locus/reference.h"
#include "locus/rotate.h"
#include "locus/rows.h"
#include "locus/scaling.h"
#include "neighbour_rows.h"
#include "subjects.h"

namespace locus {
namespace {

using testing::Subject;
using testing::subjects;

// ---- random positions

Position position_in(const PositionRange& range) { return *rc::gen::inRange<Position>(range.first, range.last + 1); }

PositionRange narrowed(const PositionRange& range, Position reach) {
  return {std::max(range.first, -reach), std::min(range.last, reach)};
}

// Query and key, and the same two moved by one shift.
struct Moved {
  std::array<Position, 2> before;
  std::array<Position, 2> after;
};

Moved moved_pair(const PositionRange& whole) {
  const Position reach = *rc::gen::element<Position>(100, 100'000, 1'000'000'000);
  const PositionRange range = narrowed(whole, reach);
  const Position query = position_in(range);
  const Position key = position_in(range);
  const Position lowest = std::min(query, key);
  const Position highest = std::max(query, key);
  const Position shift = *rc::gen::inRange<Position>(whole.first - lowest, whole.last - highest + 1);
  return {{query, key}, {query + shift, key + shift}};
}

std::vector<double> vector_of(std::int64_t size) {
  return *rc::gen::container<std::vector<double>>(
      static_cast<std::size_t>(size), rc::gen::map(rc::gen::inRange(-1000, 1001), [](int v) { return v / 1000.0; }));
}

std::int64_t head_of(std::int64_t heads) { return *rc::gen::inRange<std::int64_t>(0, heads); }

// ---- the numbers of each site

std::vector<double> rotated(const Encoding& encoding, Role role, std::span<const Position> ids,
                            std::vector<double> head) {
  const std::int64_t extents[] = {1, encoding.rotation().head_dim};
  rotate(encoding, heads_view(head.data(), ElementType::float64, "td", extents),
         PositionIds{static_cast<std::int64_t>(ids.size()), 1, 1, {ids.begin(), ids.end()}}, role);
  return head;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double norm(const std::vector<double>& a) { return std::sqrt(dot(a, a)); }

double relative_key_score(const RelativeKeys& keys, Position query, Position key) {
  std::vector<double> q(static_cast<std::size_t>(keys.head_dim), 0.5);
  std::vector<double> k(q.size(), -0.25);
  q[0] = 1;
  return reference::relative_score(keys, keys.heads - 1, {q, k, query, key}, 0.125);
}

// All numbers of the encoding for one position (for pairs, with 0 or the first position).
std::vector<double> numbers_at(const Encoding& encoding, Position position) {
  std::vector<double> numbers;
  const Position other = std::clamp<Position>(0, encoding.position_range().first, encoding.position_range().last);
  if (encoding.site() == Site::hidden) {
    numbers.assign(static_cast<std::size_t>(encoding.hidden().dim), 0.5);
    if (encoding.hidden().neighbours) return reference::add_rows(encoding.hidden(), std::span(&position, 1), numbers);
    hidden_row(encoding.hidden(), position, std::span<double>(numbers));
  } else if (encoding.site() == Site::query_key) {
    const Rotation& rotation = encoding.rotation();
    const auto pairs = static_cast<std::size_t>(rotation.pairs());
    const std::vector<Position> ids(static_cast<std::size_t>(rotation.axes), position);
    numbers.resize(4 * pairs);
    const std::span<double> all(numbers);
    rotation_row(rotation, Role::query, ids, all.subspan(0, pairs), all.subspan(pairs, pairs));
    rotation_row(rotation, Role::key, ids, all.subspan(2 * pairs, pairs), all.subspan(3 * pairs, pairs));
    if (rotation.polar) numbers.insert(numbers.end(), rotation.polar->phases.begin(), rotation.polar->phases.end());
  } else if (encoding.site() == Site::score) {
    for (std::int64_t head = 0; head < encoding.score().heads; ++head) {
      numbers.push_back(encoding.score().value(head, position, other));
      numbers.push_back(encoding.score().value(head, other, position));
    }
  } else if (encoding.site() == Site::relative_key) {
    numbers.push_back(relative_key_score(encoding.relative_keys(), position, position));
    if (encoding.claims().has(Claim::unbounded)) {  // else far offsets are refused
      numbers.push_back(relative_key_score(encoding.relative_keys(), position, other));
      numbers.push_back(relative_key_score(encoding.relative_keys(), other, position));
    }
  }
  return numbers;
}

void expect_accepted(const Encoding& encoding, Position position) {
  EXPECT_NO_THROW(encoding.check_positions(std::span(&position, 1))) << position;
  for (const double number : numbers_at(encoding, position)) EXPECT_TRUE(std::isfinite(number)) << position;
}

void expect_refused(const Encoding& encoding, Position position) {
  EXPECT_THROW(encoding.check_positions(std::span(&position, 1)), Error) << position;
}

// ---- one test per claim and site

using Test = std::function<void(const Encoding&)>;
using testing::rows_of_first;

void property(const std::string& description, const std::function<void()>& body) {
  EXPECT_TRUE(rc::check(description, body)) << description;
}

// An encoding without a term satisfies every claim.
void expect_nothing_done(const Encoding& encoding) {
  EXPECT_TRUE(std::holds_alternative<std::monostate>(encoding.term()));
}

// Angles of a query and a key wrap exactly, so their difference is the same to a few roundings of a double at any
// positions; each of d products may be off by 1e-15, and xPos's scale, a power, by 100 roundings: far below 1e-9 of
// the sum of absolute products.
void relative_rotation(const Encoding& encoding) {
  const Rotation& rotation = encoding.rotation();
  property("dot products depend on differences of positions", [&] {
    const auto q = vector_of(rotation.head_dim);
    const auto k = vector_of(rotation.head_dim);
    std::vector<Position> query, key, query_moved, key_moved;
    for (int axis = 0; axis < rotation.axes; ++axis) {
      const Moved moved = moved_pair(encoding.position_range());
      query.push_back(moved.before[0]);
      key.push_back(moved.before[1]);
      query_moved.push_back(moved.after[0]);
      key_moved.push_back(moved.after[1]);
    }
    const auto rotated_q = rotated(encoding, Role::query, query, q);
    const auto rotated_k = rotated(encoding, Role::key, key, k);
    double size = 1;
    for (std::size_t i = 0; i < rotated_q.size(); ++i) size += std::fabs(rotated_q[i] * rotated_k[i]);
    const double before = dot(rotated_q, rotated_k);
    const double after =
        dot(rotated(encoding, Role::query, query_moved, q), rotated(encoding, Role::key, key_moved, k));
    RC_ASSERT(std::fabs(before - after) <= 1e-9 * size);
  });
}

// Neighbours are the same wherever the tokens stand.
void relative_rows(const Encoding& encoding) {
  property("rows do not depend on where the tokens stand", [&] {
    RC_ASSERT(rows_of_first(encoding, 6) == rows_of_first(encoding, 6, *rc::gen::inRange<Position>(-1000, 1'000'000)));
  });
}

void relative_score_term(const Encoding& encoding) {
  const ScoreBias& bias = encoding.score();
  property("bias depends on differences of positions", [&] {
    const std::int64_t head = head_of(bias.heads);
    const Moved moved = moved_pair(encoding.position_range());
    RC_ASSERT(bias.value(head, moved.before[0], moved.before[1]) == bias.value(head, moved.after[0], moved.after[1]));
  });
}

void relative_key_term(const Encoding& encoding) {
  const RelativeKeys& keys = encoding.relative_keys();
  const bool clips = encoding.claims().has(Claim::unbounded);
  property("scores depend on differences of positions", [&] {
    Moved moved = moved_pair(encoding.position_range());
    if (!clips) {  // offsets beyond the table are refused
      const Position offset = *rc::gen::inRange<Position>(-16, 17);
      const PositionRange inside{encoding.position_range().first + 16, encoding.position_range().last - 16};
      const Position before = position_in(inside);
      const Position after = position_in(inside);
      moved = {{before, before + offset}, {after, after + offset}};
    }
    RC_ASSERT(relative_key_score(keys, moved.before[0], moved.before[1]) ==
              relative_key_score(keys, moved.after[0], moved.after[1]));
  });
}

// cos and sin of a row come from one angle, so cos^2 + sin^2 is 1 to a few roundings at any position.
void keeps_length(const Encoding& encoding) {
  property("vectors keep their length", [&] {
    const auto head = vector_of(encoding.rotation().head_dim);
    std::vector<Position> ids;
    for (int axis = 0; axis < encoding.rotation().axes; ++axis) ids.push_back(position_in(encoding.position_range()));
    for (const Role role : {Role::query, Role::key}) {
      RC_ASSERT(std::fabs(norm(rotated(encoding, role, ids, head)) - norm(head)) <= 1e-14 * norm(head));
    }
  });
}

// A query and the distances of two keys on the same side of it, the first nearer.
struct Sided {
  Position query;
  Position nearer;
  Position farther;
};

Sided keys_on_one_side(const Encoding& encoding, int side) {
  const PositionRange range = narrowed(encoding.position_range(), *rc::gen::element<Position>(50, 1'000'000'000));
  const Position query = position_in(range);
  const Position room = side < 0 ? query - range.first : range.last - query;
  const Position far = *rc::gen::inRange<Position>(0, room + 1);
  const Position near = *rc::gen::inRange<Position>(0, far + 1);
  return {query, query + side * near, query + side * far};
}

std::vector<int> sides_of(const Encoding& encoding) {
  return encoding.claims().has(Claim::causal_only) ? std::vector<int>{-1} : std::vector<int>{-1, 1};
}

// The bias is -slope times a whole distance, rounded once: equal steps up to half an ulp of each value.
void falls_evenly(const Encoding& encoding) {
  const ScoreBias& bias = encoding.score();
  property("the score falls by the same amount with every step away", [&] {
    const std::int64_t head = head_of(bias.heads);
    for (const int side : sides_of(encoding)) {
      const Sided keys = keys_on_one_side(encoding, side);
      const auto steps = static_cast<double>(std::abs(keys.farther - keys.nearer));
      const double step = bias.value(head, 0, 0) - bias.value(head, 0, side);
      RC_ASSERT(step > 0);
      const double fall = bias.value(head, keys.query, keys.nearer) - bias.value(head, keys.query, keys.farther);
      RC_ASSERT(std::fabs(fall - steps * step) <= 0x1p-52 * std::fabs(bias.value(head, keys.query, keys.farther)));
    }
  });
}

void never_grows(const Encoding& encoding) {
  const ScoreBias& bias = encoding.score();
  property("the score never grows with distance", [&] {
    const std::int64_t head = head_of(bias.heads);
    for (const int side : sides_of(encoding)) {
      const Sided keys = keys_on_one_side(encoding, side);
      RC_ASSERT(bias.value(head, keys.query, keys.farther) <= bias.value(head, keys.query, keys.nearer));
    }
  });
}

void same_both_ways(const Encoding& encoding) {
  const ScoreBias& bias = encoding.score();
  property("the score is the same forwards and backwards", [&] {
    const std::int64_t head = head_of(bias.heads);
    const Moved pair = moved_pair(encoding.position_range());
    RC_ASSERT(bias.value(head, pair.before[0], pair.before[1]) == bias.value(head, pair.before[1], pair.before[0]));
  });
}

// Keys after the query get at least the weight of the current one, so only a mask can exclude them.
void needs_a_mask(const Encoding& encoding) {
  const ScoreBias& bias = encoding.score();
  EXPECT_FALSE(encoding.claims().has(Claim::distance_only)) << "a scheme for both sides is not for one";
  property("the future is not pushed away", [&] {
    const std::int64_t head = head_of(bias.heads);
    const Sided keys = keys_on_one_side(encoding, 1);
    RC_ASSERT(bias.value(head, keys.query, keys.farther) >= bias.value(head, keys.query, keys.query));
  });
}

// The map of k steps is a block rotation: sin(w (p + k)) = sin(wp) cos(wk) + cos(wp) sin(wk), and the same for
// cosines. Its entries are exact to |k| 2^-52, the rows to 1e-15 at any p, since angles wrap exactly.
void shifts_linearly(const Encoding& encoding) {
  const HiddenRows& hidden = encoding.hidden();
  const auto row_of = [&](Position p) {
    std::vector<double> row(static_cast<std::size_t>(hidden.dim));
    hidden_row(hidden, p, std::span<double>(row));
    return row;
  };
  std::vector<std::size_t> partner;  // the column of the same frequency and the other kind
  for (const Wave& wave : hidden.waves) {
    const auto found = std::find_if(hidden.waves.begin(), hidden.waves.end(), [&](const Wave& other) {
      return !other.silent && other.turns == wave.turns && other.cosine != wave.cosine;
    });
    ASSERT_TRUE(wave.silent || found != hidden.waves.end()) << "a wave without a partner";
    partner.push_back(static_cast<std::size_t>(found - hidden.waves.begin()));
  }
  property("one linear map moves every row by k", [&] {
    const Position k = *rc::gen::inRange<Position>(-1000, 1001);
    for (int sample = 0; sample < 4; ++sample) {
      const Position reach = sample < 2 ? 3 : max_position - 1000;
      const Position p = position_in({-reach, reach});
      const auto before = row_of(p);
      const auto after = row_of(p + k);
      for (std::size_t j = 0; j < before.size(); ++j) {
        const Wave& wave = hidden.waves[j];
        if (wave.silent) {
          RC_ASSERT(before[j] == 0 && after[j] == 0);
          continue;
        }
        const double angle = static_cast<double>(k) * wave.inv_freq;
        const double turned = wave.cosine ? -std::sin(angle) : std::sin(angle);
        const double mapped = before[j] * std::cos(angle) + before[partner[j]] * turned;
        RC_ASSERT(std::fabs(mapped - after[j]) <= 1000 * 0x1p-52 + 4e-15);
      }
    }
  });
}

// The same encoding at another length, whether or not it depends on it.
Encoding with_length(const Encoding& encoding, std::int64_t length) {
  Arguments arguments = encoding.arguments();
  for (const Parameter& parameter : parameters_of(encoding.scheme(), arguments)) {
    if (parameter.name == "length") arguments.set("length", length);
  }
  return Encoding(encoding.scheme().name, arguments);
}

void keeps_its_numbers(const Encoding& encoding) {
  EXPECT_FALSE(encoding.length_dependent());
  if (encoding.site() == Site::hidden && encoding.hidden().neighbours) {
    const std::vector<double> brief = rows_of_first(encoding, 5), longer = rows_of_first(encoding, 6);
    EXPECT_TRUE(std::equal(brief.begin(), brief.end(), longer.begin()));
  }
  property("a position's numbers do not change with the length", [&] {
    const Position position = position_in(narrowed(encoding.position_range(), 100'000));
    const auto length = *rc::gen::inRange<std::int64_t>(1, 10'000);
    RC_ASSERT(numbers_at(encoding, position) == numbers_at(encoding.at_length(length), position));
    RC_ASSERT(numbers_at(encoding, position) == numbers_at(with_length(encoding, length), position));
  });
}

// The converse: an encoding that is not safe to cache does change.
void loses_its_numbers(const Encoding& encoding) {
  if (encoding.site() == Site::hidden && encoding.hidden().neighbours) {
    const std::vector<double> brief = rows_of_first(encoding, 5), longer = rows_of_first(encoding, 6);
    EXPECT_FALSE(std::equal(brief.begin(), brief.end(), longer.begin()));
    return;
  }
  EXPECT_TRUE(encoding.length_dependent());
  EXPECT_NE(numbers_at(encoding.at_length(100), 10), numbers_at(encoding.at_length(10000), 10));
}

void accepts_negatives(const Encoding& encoding) {
  ASSERT_LT(encoding.position_range().first, 0);
  expect_accepted(encoding, -1);
  expect_accepted(encoding, encoding.position_range().first);
  if (encoding.claims().has(Claim::unbounded)) expect_accepted(encoding, -max_position);
}

void serves_all_positions(const Encoding& encoding) {
  EXPECT_EQ(encoding.position_range().last, max_position);
  expect_accepted(encoding, max_position);
}

// Other weights give other numbers: drawn from another seed, or given as lists.
void has_weights(const Encoding& encoding) {
  Arguments changed = encoding.arguments();
  if (changed.has("seed")) {
    changed.set("seed", changed.integer("seed") + 1);
  } else {
    std::size_t lists = 0;
    for (const Parameter& parameter : encoding.scheme().parameters) {
      if (parameter.kind != ValueKind::list) continue;
      ++lists;
      std::vector<double> values = changed.list(parameter.name);
      for (double& value : values) value *= 0.5;
      changed.set(parameter.name, values);
    }
    ASSERT_GT(lists, 0u) << "learned, but with neither tensors nor lists of weights";
  }
  EXPECT_NE(numbers_at(encoding, 3), numbers_at(Encoding(encoding.scheme().name, changed), 3));
}

const std::map<std::pair<Claim, Site>, Test>& tests() {
  static const std::map<std::pair<Claim, Site>, Test> all = [] {
    std::map<std::pair<Claim, Site>, Test> table = {
        {{Claim::relative, Site::none}, expect_nothing_done},
        {{Claim::relative, Site::query_key}, relative_rotation},
        {{Claim::relative, Site::hidden}, relative_rows},
        {{Claim::relative, Site::score}, relative_score_term},
        {{Claim::relative, Site::relative_key}, relative_key_term},
        {{Claim::norm_preserving, Site::none}, expect_nothing_done},
        {{Claim::norm_preserving, Site::query_key}, keeps_length},
        {{Claim::linear_in_distance, Site::score}, falls_evenly},
        {{Claim::distance_only, Site::score}, same_both_ways},
        {{Claim::decaying, Site::score}, never_grows},
        {{Claim::linear_shift, Site::hidden}, shifts_linearly},
        {{Claim::causal_only, Site::score}, needs_a_mask},
    };
    for (const Site site : {Site::none, Site::hidden, Site::query_key, Site::score, Site::relative_key}) {
      table[{Claim::cache_safe, site}] = keeps_its_numbers;
      table[{Claim::negative_positions, site}] = accepts_negatives;
      table[{Claim::unbounded, site}] = serves_all_positions;
      if (site != Site::none) table[{Claim::learned, site}] = has_weights;
    }
    return table;
  }();
  return all;
}

class SchemeClaims : public ::testing::TestWithParam<Subject> {};

TEST_P(SchemeClaims, Hold) {
  const Encoding encoding = GetParam().encoding();
  for (const Claim claim : encoding.claims().all()) {
    SCOPED_TRACE(name_of(claim));
    const auto test = tests().find({claim, encoding.site()});
    if (test == tests().end()) {
      ADD_FAILURE() << encoding.scheme().name << " claims " << name_of(claim) << ", which has no test at its site "
                    << name_of(encoding.site());
      continue;
    }
    test->second(encoding);
  }
}

// A scheme must not have a property of positions, caches and weights that it does not claim.
TEST_P(SchemeClaims, AreComplete) {
  const Encoding encoding = GetParam().encoding();
  const Claims claims = encoding.claims();
  if (!claims.has(Claim::negative_positions)) expect_refused(encoding, -1);
  if (!claims.has(Claim::cache_safe)) loses_its_numbers(encoding);
  if (!claims.has(Claim::learned)) {
    const std::set<std::string_view> drawn_once = {"cos_mix", "sin_mix"};  // FoPE's matrices are not trained
    for (const Parameter& parameter : encoding.scheme().parameters) {
      if (drawn_once.contains(parameter.name)) continue;
      EXPECT_NE(parameter.kind, ValueKind::tensor) << parameter.name;
    }
  }
  expect_refused(encoding, encoding.position_range().first - 1);
  expect_refused(encoding, encoding.position_range().last + 1);
  expect_refused(encoding, max_position + 1);
}

INSTANTIATE_TEST_SUITE_P(EverySubject, SchemeClaims, ::testing::ValuesIn(subjects()), [](const auto& param) {
  std::string name = param.param.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

// ---- rotations by hand

// R_p^T R_j = R_(j - p): rotating by j and back by p is rotating by j - p.
TEST(ByHand, RotationsComposeToTheDifference) {
  for (const char* pairing : {"half", "interleaved"}) {
    const Encoding encoding("rope", {{"head_dim", 16}, {"pairing", pairing}});
    property("R_p^T R_j = R_(j-p)", [&] {
      const auto head = vector_of(16);
      const Position p = *rc::gen::inRange<Position>(0, 1'000'000'000);
      const Position j = *rc::gen::inRange<Position>(0, 1'000'000'000);
      const Position difference = j - p;
      const Rotation& rotation = encoding.rotation();
      const auto there = reference::rotate(rotation, Role::query, Direction::forward, std::span(&j, 1), head);
      const auto back = reference::rotate(rotation, Role::query, Direction::inverse, std::span(&p, 1), there);
      const auto direct = reference::rotate(rotation, Role::query, Direction::forward, std::span(&difference, 1), head);
      // Three rows, each within 1e-15 + 1e9 * 1e-19, times two coordinates of size at most 1.
      for (std::size_t i = 0; i < head.size(); ++i) RC_ASSERT(std::fabs(back[i] - direct[i]) <= 6 * 1.1e-15 + 1e-15);
    });
  }
}

}  // namespace
}  // namespace locus
