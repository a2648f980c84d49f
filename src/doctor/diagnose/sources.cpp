// SPDX-License-Identifier: Apache-2.0
// Finds vectors that were computed from other vectors, and heads that turn differently.
#include <algorithm>
#include <cmath>

#include "doctor/diagnose/turn_rates.h"
#include "doctor/diagnose/turning.h"

namespace locus::doctor {
namespace {

constexpr double sigmas = 8;

struct Lengths {
  double after, before;  // of one pair; `before` times the magnitude
};

Lengths lengths_at(const RotationDump& dump, const Turning& turning, std::int64_t to, std::int64_t from,
                   std::int64_t i) {
  const PairPlace at = place_of(turning.slice, i);
  const auto a = index_of(to * dump.head_dim), b = index_of(from * dump.head_dim);
  const double after = std::hypot(dump.after[a + index_of(at.out_x)], dump.after[a + index_of(at.out_y)]);
  const double before = std::hypot(dump.before[b + index_of(at.in_x)], dump.before[b + index_of(at.in_y)]);
  const double scale = turning.scale.empty() ? 1 : turning.scale[index_of(to / dump.heads * turning.pairs + i)];
  return {after, turning.size * scale * before};
}

// True if vector `to` of `after` has the lengths of vector `from` of `before`, times `factor`. Compares all but a fifth
// of the pairs one by one, and all together, which shows a factor that no single pair does.
bool comes_from(const RotationDump& dump, const Turning& turning, std::int64_t to, std::int64_t from,
                double factor = 1) {
  std::int64_t off = 0;
  double sum = 0, count = 0;
  const std::int64_t most = turning.pairs / 5;
  for (std::int64_t i = 0; i < turning.pairs; ++i) {
    if (turning.skipped[index_of(i)] != 0) continue;
    const Lengths lengths = lengths_at(dump, turning, to, from, i);
    const double length = factor * lengths.before;
    const double by = (lengths.after - length) / std::max(turning.noise_at(length), 1e-300);
    if (std::abs(by) > sigmas && ++off > most) return false;
    sum += std::clamp(by, -sigmas, sigmas);
    ++count;
  }
  // If nothing turns, all pairs share the rounding of one number of the table.
  return std::abs(sum) <= sigmas * std::sqrt(count) + 1.5 * count;
}

// Returns the extra factor of vector `cell` relative to the others.
double factor_of(const RotationDump& dump, const Turning& turning, std::int64_t cell, std::int64_t from) {
  std::vector<double> ratios;
  for (std::int64_t i = 0; i < turning.pairs; ++i) {
    const Lengths lengths = lengths_at(dump, turning, cell, from, i);
    if (turning.skipped[index_of(i)] == 0 && lengths.before > 0) ratios.push_back(lengths.after / lengths.before);
  }
  return median(std::move(ratios));
}

bool stands_still(const RotationDump& dump, const Turning& turning, std::int64_t cell) {
  std::int64_t moved = 0;
  for (std::int64_t j = cell * dump.head_dim; j < (cell + 1) * dump.head_dim; ++j) {
    const double before = dump.before[index_of(j)];
    moved += std::abs(dump.after[index_of(j)] - before) > sigmas * turning.noise_at(std::abs(before)) ? 1 : 0;
  }
  return moved * 20 <= dump.head_dim;
}

// Returns the turn of one pair of a single vector.
Complex turn_at(const RotationDump& dump, const Turning& turning, std::int64_t row, std::int64_t head, std::int64_t i,
                double& sigma) {
  const PairPlace at = place_of(turning.slice, i);
  const auto cell = index_of(row * dump.heads + head);
  const auto a = cell * index_of(dump.head_dim);
  const auto b = index_of(turning.cells.source[cell] * dump.head_dim);
  const Complex before(dump.before[b + index_of(at.in_x)], dump.before[b + index_of(at.in_y)]);
  const Complex after(dump.after[a + index_of(at.out_x)], dump.after[a + index_of(at.out_y)]);
  const double size = std::abs(before);
  sigma = size > 0 ? turning.noise.at(turning.size * size) / (turning.size * size) : 1e3;
  return size > 0 ? after / before : Complex(0);
}

// True if two heads of a token turn alike. One or two pairs in forty may differ, because their vectors are nearly zero.
bool agree_at(const RotationDump& dump, const Turning& turning, std::int64_t row, std::int64_t one,
              std::int64_t other) {
  std::int64_t apart = 0, all = 0;
  for (std::int64_t i = 0; i < turning.pairs; ++i) {
    if (turning.skipped[index_of(i)] != 0) continue;
    double a_sigma = 0, b_sigma = 0;
    const Complex a = turn_at(dump, turning, row, one, i, a_sigma);
    const Complex b = turn_at(dump, turning, row, other, i, b_sigma);
    ++all;
    apart += std::abs(std::arg(a * std::conj(b))) > sigmas * std::hypot(a_sigma, b_sigma) ? 1 : 0;
  }
  return apart * 20 <= all;
}

bool usable_both(const Turning& turning, std::int64_t row, std::int64_t one, std::int64_t other) {
  return turning.cells.at(row, one) == CellState::usable && turning.cells.at(row, other) == CellState::usable;
}

// True if the heads agree in most tokens. Exceptions in a few tokens are named separately.
bool heads_agree(const RotationDump& dump, const Turning& turning, std::int64_t one, std::int64_t other) {
  std::int64_t apart = 0, all = 0;
  const std::int64_t stride = turning.rows / 24 + 1;
  for (std::int64_t row = 0; row < turning.rows; row += stride) {
    if (!usable_both(turning, row, one, other)) continue;
    ++all;
    apart += agree_at(dump, turning, row, one, other) ? 0 : 1;
  }
  return apart * 3 <= all;
}

}  // namespace

void find_sources(Cells& cells, const RotationDump& dump, const Turning& turning) {
  for (std::int64_t row = 0; row < cells.rows; ++row) {
    for (std::int64_t h = 0; h < cells.heads; ++h) {
      const std::int64_t cell = row * cells.heads + h;
      const std::size_t n = index_of(cell);
      if (cells.state[n] != CellState::usable || comes_from(dump, turning, cell, cells.source[n])) continue;
      if (stands_still(dump, turning, cell)) {
        cells.state[n] = CellState::still;
        continue;
      }
      const double factor = factor_of(dump, turning, cell, cells.source[n]);
      if (factor > 0 && comes_from(dump, turning, cell, cells.source[n], factor)) {
        cells.state[n] = CellState::rescaled;
        continue;
      }
      std::int64_t found = -1;
      for (std::int64_t other = 0; other < cells.rows && found < 0; ++other) {  // another token, same head
        if (comes_from(dump, turning, cell, other * cells.heads + h)) found = other * cells.heads + h;
      }
      for (std::int64_t g = 0; g < cells.heads && found < 0; ++g) {  // same token, another head
        if (comes_from(dump, turning, cell, row * cells.heads + g)) found = row * cells.heads + g;
      }
      if (found < 0) {
        cells.state[n] = CellState::strange;
      } else {
        cells.source[n] = found;
      }
    }
  }
}

std::vector<std::int64_t> rescaled_cells(const RotationDump& dump, const Turning& turning, double magnitude,
                                         RotationDump& even) {
  std::vector<std::int64_t> rescaled;
  if (magnitude == 1) return rescaled;
  for (std::int64_t n = 0; n < turning.rows * dump.heads; ++n) {
    const std::int64_t from = turning.cells.source[index_of(n)];
    if (turning.cells.state[index_of(n)] != CellState::usable || comes_from(dump, turning, n, from)) continue;
    if (stands_still(dump, turning, n)) continue;
    for (const double factor : {magnitude, 1 / magnitude}) {
      if (!comes_from(dump, turning, n, from, factor)) continue;
      if (rescaled.empty()) even = dump;
      rescaled.push_back(n);
      const std::int64_t first = n * dump.head_dim + turning.slice.rotary_offset;
      for (std::int64_t j = first; j < first + turning.slice.rotary_dim; ++j) even.after[index_of(j)] /= factor;
      break;
    }
  }
  return rescaled;
}

std::vector<std::int64_t> odd_heads(const RotationDump& dump, const Turning& turning) {
  struct Head {
    std::int64_t index = 0;
    std::int64_t usable = 0;
    std::int64_t moving = 0;
  };
  std::vector<Head> all;
  for (std::int64_t h = 0; h < dump.heads; ++h) {
    Head head{.index = h};
    for (std::int64_t row = 0; row < turning.rows; ++row) {
      if (turning.cells.at(row, h) != CellState::usable) continue;
      ++head.usable;
      head.moving += stands_still(dump, turning, row * dump.heads + h) ? 0 : 1;
    }
    if (head.usable > 0) all.push_back(head);
  }
  // If heads disagree, one that moves is the reference.
  std::stable_sort(all.begin(), all.end(), [](const Head& a, const Head& b) { return a.moving > b.moving; });
  std::vector<std::int64_t> odd;
  std::size_t most = 0;
  for (const Head& head : all) {
    std::vector<std::int64_t> unlike;
    for (const Head& other : all) {
      if (other.index != head.index && !heads_agree(dump, turning, head.index, other.index)) {
        unlike.push_back(other.index);
      }
    }
    const std::size_t alike = all.size() - unlike.size();
    if (alike > most) {
      most = alike;
      odd = std::move(unlike);
    }
    if (2 * most > all.size()) break;
  }
  std::sort(odd.begin(), odd.end());
  return odd;
}

double tokens_turning_alike(const RotationDump& dump, const Turning& turning) {
  double alike = 0, all = 0;
  const std::int64_t stride = turning.rows / 48 + 1;
  for (std::int64_t row = 0; row < turning.rows; row += stride) {
    bool agree = true;
    for (std::int64_t h = 1; h < dump.heads && agree; ++h) {
      agree = !usable_both(turning, row, 0, h) || agree_at(dump, turning, row, 0, h);
    }
    ++all;
    alike += agree ? 1 : 0;
  }
  return alike / all;
}

void exclude_single_vectors(Cells& cells, const RotationDump& dump, const Turning& turning) {
  for (std::int64_t row = 0; row < cells.rows; ++row) {
    std::vector<std::int64_t> heads, most;
    for (std::int64_t h = 0; h < cells.heads; ++h) {
      const auto n = index_of(row * cells.heads + h);
      if (cells.state[n] == CellState::usable && cells.excluded[n] == 0) heads.push_back(h);
    }
    for (const std::int64_t one : heads) {
      std::vector<std::int64_t> alike;
      for (const std::int64_t other : heads) {
        if (one == other || agree_at(dump, turning, row, one, other)) alike.push_back(other);
      }
      // If equally many disagree, one that moves is the reference.
      const bool moves = !stands_still(dump, turning, row * cells.heads + one);
      const bool better = alike.size() == most.size() && moves && !most.empty() &&
                          stands_still(dump, turning, row * cells.heads + most.front());
      if (alike.size() > most.size() || better) most = std::move(alike);
      if (most.size() == heads.size()) break;
    }
    for (const std::int64_t h : heads) {
      if (std::find(most.begin(), most.end(), h) == most.end()) {
        cells.excluded[index_of(row * cells.heads + h)] = Cells::single;
      }
    }
  }
}

}  // namespace locus::doctor
