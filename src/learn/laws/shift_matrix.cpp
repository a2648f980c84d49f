// SPDX-License-Identifier: Apache-2.0
// shift_matrix(k, dim): M PE(p) = PE(p + k) for every p.
#include <cmath>

#include "learn/laws/compare.h"
#include "learn/laws/laws.h"
#include "locus/encoding.h"
#include "locus/reference.h"

namespace locus::learn {
namespace {

constexpr std::int64_t shifted_dim = 6;

std::vector<double> times(const Array& matrix, const std::vector<double>& row) {
  std::vector<double> result(row.size());
  for (std::int64_t i = 0; i < matrix.size(0); ++i) {
    for (std::int64_t j = 0; j < matrix.size(1); ++j)
      result[static_cast<std::size_t>(i)] += matrix(i, j) * row[static_cast<std::size_t>(j)];
  }
  return result;
}

/// A block diagonal matrix with the blocks [[c, s], [-s, c]] of `angle(pair)`.
std::vector<double> blocks(const std::function<double(std::int64_t)>& angle, bool halves = false) {
  Array matrix = Array::real({shifted_dim, shifted_dim}, std::vector<double>(shifted_dim * shifted_dim));
  for (std::int64_t pair = 0; pair < shifted_dim / 2; ++pair) {
    const std::int64_t a = halves ? pair : 2 * pair, b = halves ? pair + shifted_dim / 2 : 2 * pair + 1;
    matrix(a, a) = matrix(b, b) = std::cos(angle(pair));
    matrix(a, b) = std::sin(angle(pair));
    matrix(b, a) = -std::sin(angle(pair));
  }
  return matrix.values;
}

std::string cause_of_shift(const Array& matrix, double k) {
  const auto angle = [k](std::int64_t pair) {
    return k * std::pow(10000.0, -2.0 * static_cast<double>(pair) / shifted_dim);
  };
  const auto mistake = [](auto wrong, bool halves = false) { return [=] { return blocks(wrong, halves); }; };
  return likely_cause(matrix.values, {{"shift.transposed", mistake([=](auto pair) { return -angle(pair); })},
                                      {"shift.halves", mistake(angle, true)},
                                      {"shift.one_frequency", mistake([k](auto) { return k; })},
                                      {"shift.amount_ignored", mistake([=](auto pair) { return angle(pair) / k; })},
                                      {"shift.identity", mistake([](auto) { return 0.0; })},
                                      {"shift.exponent_halved", mistake([k](auto pair) {
                                         return k * std::pow(10000.0, -static_cast<double>(pair) / shifted_dim);
                                       })}});
}

}  // namespace

void laws_of_shift_matrix(Solution& solution) {
  const Encoding encoding("sinusoidal", {{"dim", shifted_dim}});
  const auto matrix_of = [&](std::int64_t k) {
    return solution.call("shift_matrix", {Array::number(k), Array::number(shifted_dim)}, {shifted_dim, shifted_dim});
  };
  const auto row_of = [&](std::int64_t p) { return reference::hidden_row(encoding.hidden(), p); };
  const Array three = matrix_of(3);
  const std::string cause = cause_of_shift(three, 3);
  for (const std::int64_t p : {0, 1, 5, 100}) {
    require_equal(times(three, row_of(p)), row_of(p + 3), "shift.moves", cause, [p](std::size_t index) {
      return Parameters{{"position", shown(p)}, {"shift", "3"}, {"pair", shown(index / 2)}};
    });
  }
  require_equal(matrix_of(0).values, blocks([](auto) { return 0.0; }), "shift.zero", "");
  const Array back = matrix_of(-3);
  for (const std::int64_t p : {0, 4}) {
    require_equal(times(back, row_of(p + 3)), row_of(p), "shift.back", "shift.sign_lost", [p](std::size_t index) {
      return Parameters{{"position", shown(p + 3)}, {"shift", "-3"}, {"pair", shown(index / 2)}};
    });
  }
}

}  // namespace locus::learn
