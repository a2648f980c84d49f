// SPDX-License-Identifier: Apache-2.0
// encode(x): rows that depend on the position alone, and on nothing else, and that differ.
#include <cmath>

#include "learn/laws/compare.h"
#include "learn/laws/laws.h"
#include "learn/laws/plain_attention.h"

namespace locus::learn {
namespace {

constexpr std::int64_t symmetry_dim = 4;

Array added_rows(Solution& solution, const Array& x) {
  Array rows = solution.call("encode", {x}, x.shape);
  for (std::size_t i = 0; i < rows.values.size(); ++i) rows.values[i] -= x.values[i];
  return rows;
}

bool same_row(const Array& rows, std::int64_t p, std::int64_t q) {
  for (std::int64_t c = 0; c < rows.size(1); ++c) {
    if (!agree(rows(p, c), rows(q, c))) return false;
  }
  return true;
}

/// Rows of all positions must differ, those of far ones too.
void check_distinct(const Array& rows) {
  for (std::int64_t p = 0; p < rows.size(0); ++p) {
    for (std::int64_t q = p + 1; q < rows.size(0); ++q) {
      if (!same_row(rows, p, q)) continue;
      const bool all = same_row(rows, 0, 1) && same_row(rows, 0, rows.size(0) - 1);
      const bool none = agree(rows.values, std::vector<double>(rows.values.size()));
      throw BrokenLaw{"symmetry.distinct",
                      none  ? "symmetry.nothing_added"
                      : all ? "symmetry.constant"
                            : "symmetry.repeats",
                      {{"position", shown(p)}, {"other", shown(q)}}};
    }
  }
}

}  // namespace

void laws_of_symmetry(Solution& solution) {
  Random random(13);
  const Array x = random_array(random, {8, symmetry_dim}), y = random_array(random, {8, symmetry_dim});
  const Array rows = added_rows(solution, x), again = added_rows(solution, x);
  require_equal(again.values, rows.values, "symmetry.repeatable", "symmetry.random", at_token(rows));

  const Array zeros = Array::real({8, symmetry_dim}, std::vector<double>(8 * symmetry_dim));
  const Array of_zeros = added_rows(solution, zeros);
  const bool multiplied = agree(of_zeros.values, zeros.values) && !agree(rows.values, zeros.values);
  require_equal(added_rows(solution, y).values, rows.values, "symmetry.content",
                multiplied ? "symmetry.multiplied" : "", at_token(rows));

  const Array longer = added_rows(solution, random_array(random, {64, symmetry_dim}));
  const std::vector<double> first(longer.values.begin(), longer.values.begin() + 8 * symmetry_dim);
  require_equal(first, rows.values, "symmetry.length", "symmetry.divided_by_length", at_token(rows));
  check_distinct(longer);

  const std::vector<std::int64_t> swapped = {1, 0};
  const Array words = random_array(random, {2, symmetry_dim});
  const Array there = solution.call("encode", {words}, words.shape);
  const Array back = solution.call("encode", {permuted(words, swapped)}, words.shape);
  if (agree(plain_attention(back, back, back).values, permuted(plain_attention(there, there, there), swapped).values)) {
    throw BrokenLaw{"symmetry.attention"};
  }
}

}  // namespace locus::learn
