// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/coverage.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "doctor/diagnose/position_faults.h"

namespace locus::doctor {
namespace {

using List = std::vector<std::int64_t>;

Verdict coverage_verdict(const char* name, const std::string& text, const std::string& evidence, double confidence) {
  return {Verdict::About::coverage, name, text, evidence, confidence};
}

// Vectors that share a property, reported as heads if whole heads are affected, otherwise as tokens.
struct Group {
  List tokens, heads;
  bool whole_heads = false;
};

Group group_of(const RotationDump& dump, const std::set<std::int64_t>& cells) {
  Group group;
  std::map<std::int64_t, std::int64_t> by_head;
  for (const std::int64_t cell : cells) {
    ++by_head[cell % dump.heads];
    group.tokens.push_back(cell / dump.heads % dump.tokens);
  }
  const std::int64_t rows = dump.batch * dump.tokens;
  group.whole_heads = static_cast<std::int64_t>(by_head.size()) < dump.heads;
  for (const auto& [head, count] : by_head) {
    group.heads.push_back(head);
    group.whole_heads = group.whole_heads && count * 10 >= rows * 7;  // a few tokens may be empty
  }
  return group;
}

}  // namespace

Verdict cells_verdict(const RotationDump& dump, const std::set<std::int64_t>& cells, const std::string& tokens_name,
                      const std::string& heads_name, const std::string& what, double confidence) {
  const Group group = group_of(dump, cells);
  const std::string evidence =
      std::to_string(cells.size()) + " of " + std::to_string(dump.batch * dump.tokens * dump.heads) + " vectors";
  if (group.whole_heads) {
    return coverage_verdict(heads_name.c_str(), runs_of("heads", group.heads) + " " + what, evidence, confidence);
  }
  std::string text = runs_of("tokens", group.tokens) + " " + what;
  if (static_cast<std::int64_t>(group.heads.size()) < dump.heads) {
    text += " in " + runs_of("heads", group.heads);
    text = text.substr(0, text.rfind(' '));
  }
  return coverage_verdict(tokens_name.c_str(), text, evidence, confidence);
}

namespace {

// True if a pair is unchanged in nearly all vectors.
bool is_unchanged(const RotationDump& dump, const Turning& turning, const PairPlace& at) {
  std::int64_t moved = 0, all = 0;
  for (std::int64_t n = 0; n < turning.rows * dump.heads; ++n) {
    if (turning.cells.state[index_of(n)] != CellState::usable) continue;
    const double* before = dump.before.data() + turning.cells.source[index_of(n)] * dump.head_dim;
    const double* after = dump.after.data() + n * dump.head_dim;
    const double off = std::hypot(after[at.out_x] - before[at.in_x], after[at.out_y] - before[at.in_y]);
    ++all;
    moved += off > 8 * turning.noise_at(std::hypot(before[at.in_x], before[at.in_y])) ? 1 : 0;
  }
  return moved * 20 <= all;
}

bool is_tiled(const List& map) {
  const auto heads = static_cast<std::int64_t>(map.size());
  for (std::int64_t key_heads = 2; key_heads < heads; ++key_heads) {
    if (heads % key_heads != 0) continue;
    const std::int64_t group = heads / key_heads;
    bool tiled = true;
    for (std::int64_t h = 0; h < heads; ++h) tiled = tiled && map[index_of(h)] / group == h % key_heads;
    if (tiled) return true;
  }
  return false;
}

// Returns the source head of each head, if every vector comes from a fixed head of its own token.
std::optional<List> head_map(const Cells& cells) {
  List map(index_of(cells.heads), -1);
  for (std::int64_t n = 0; n < cells.rows * cells.heads; ++n) {
    if (cells.state[index_of(n)] != CellState::usable) continue;
    if (cells.source[index_of(n)] / cells.heads != n / cells.heads) return std::nullopt;
    std::int64_t& source = map[index_of(n % cells.heads)];
    const std::int64_t from = cells.source[index_of(n)] % cells.heads;
    if (source >= 0 && source != from) return std::nullopt;
    source = from;
  }
  for (std::int64_t h = 0; h < cells.heads; ++h) {
    if (map[index_of(h)] < 0) map[index_of(h)] = h;
  }
  return map;
}

void judge_sources(std::vector<Verdict>& verdicts, const RotationDump& dump, const Cells& cells) {
  std::set<std::int64_t> foreign;
  for (std::int64_t n = 0; n < cells.rows * cells.heads; ++n) {
    if (cells.state[index_of(n)] == CellState::usable && cells.source[index_of(n)] != n) foreign.insert(n);
  }
  if (foreign.empty()) return;
  if (const auto map = head_map(cells)) {
    std::string heads;
    for (const std::int64_t h : *map) heads += (heads.empty() ? "" : ", ") + std::to_string(h);
    const bool tiled = is_tiled(*map);
    verdicts.push_back({Verdict::About::heads, tiled ? "heads_tiled" : "wrong_heads",
                        tiled ? "key heads were tiled (0 1 0 1) instead of repeated (0 0 1 1)"
                              : "heads of `after` are rotations of other heads of `before`",
                        "the lengths of after's heads are those of before's heads " + heads, 0.97});
    return;
  }
  std::set<std::int64_t> used, lost;  // a swap uses each vector once; a repetition loses some
  for (const std::int64_t n : foreign) used.insert(cells.source[index_of(n)]);
  const bool swapped = used == foreign;
  verdicts.push_back(
      cells_verdict(dump, foreign, swapped ? "tokens_swapped" : "tokens_repeated", "wrong_heads",
                    swapped ? "computed from each other's vectors" : "computed from other tokens' vectors", 0.97));
}

}  // namespace

std::vector<Verdict> judge_cells(const RotationDump& dump, const Cells& cells) {
  std::vector<Verdict> verdicts;
  std::set<std::int64_t> zero, strange, still, rescaled;
  for (std::int64_t n = 0; n < cells.rows * cells.heads; ++n) {
    if (cells.state[index_of(n)] == CellState::zero) zero.insert(n);
    if (cells.state[index_of(n)] == CellState::strange) strange.insert(n);
    if (cells.state[index_of(n)] == CellState::still) still.insert(n);
    if (cells.state[index_of(n)] == CellState::rescaled) rescaled.insert(n);
  }
  if (!zero.empty()) verdicts.push_back(cells_verdict(dump, zero, "tokens_zero", "heads_zero", "zero", 0.98));
  if (!still.empty()) {
    verdicts.push_back(cells_verdict(dump, still, "tokens_not_rotated", "heads_not_rotated", "not rotated", 0.97));
  }
  judge_sources(verdicts, dump, cells);
  if (!rescaled.empty()) {
    verdicts.push_back(cells_verdict(dump, rescaled, "tokens_unexplained", "heads_unexplained",
                                     "rotated, but scaled by a different factor than the others", 0.95));
  }
  if (!strange.empty()) {
    verdicts.push_back(cells_verdict(dump, strange, "tokens_unexplained", "heads_unexplained",
                                     "not a rotation of any vector of `before`", 0.93));
  }
  return verdicts;
}

Verdict judge_rescaled(const RotationDump& dump, const std::vector<std::int64_t>& cells) {
  return cells_verdict(dump, {cells.begin(), cells.end()}, "tokens_unexplained", "heads_unexplained",
                       "rotated with a different magnitude than the others", 0.85);
}

std::vector<Verdict> judge_coordinates(const RotationDump& dump, Turning& turning) {
  List zero, odd, still;
  std::vector<std::uint8_t> gone(index_of(dump.head_dim), 0);
  const auto usable = [&](std::int64_t n) {
    return turning.cells.state[index_of(n)] == CellState::usable && turning.cells.excluded[index_of(n)] == 0;
  };
  const std::int64_t vectors = turning.rows * dump.heads;
  for (std::int64_t j = 0; j < dump.head_dim; ++j) {
    bool all_zero = true, any = false;
    for (std::int64_t n = 0; n < vectors && all_zero; ++n) {
      if (!usable(n)) continue;
      all_zero = dump.after[index_of(n * dump.head_dim + j)] == 0;
      any = any || dump.before[index_of(turning.cells.source[index_of(n)] * dump.head_dim + j)] != 0;
    }
    if (all_zero && any) zero.push_back(j);
    gone[index_of(j)] = all_zero && any ? 1 : 0;
  }
  std::vector<double> shares(index_of(turning.pairs), 1);
  for (std::int64_t i = 0; i < turning.pairs; ++i) {
    const PairPlace at = place_of(turning.slice, i);
    if (gone[index_of(at.out_x)] != 0 || gone[index_of(at.out_y)] != 0) {
      skip(turning, i);
      continue;
    }
    double kept = 0, all = 0;
    for (std::int64_t n = 0; n < vectors; ++n) {
      if (!usable(n)) continue;
      ++all;
      kept += keeps_length(dump, turning, n, i, 8) ? 1 : 0;
    }
    shares[index_of(i)] = all > 0 ? kept / all : 1;
  }
  const double usual = median(shares);
  for (std::int64_t i = 0; i < turning.pairs; ++i) {
    if (turning.skipped[index_of(i)] != 0 || usual < 0.4 || shares[index_of(i)] > 0.5 * usual) continue;
    const PairPlace at = place_of(turning.slice, i);
    List& list = is_unchanged(dump, turning, at) ? still : odd;
    list.push_back(at.out_x);
    list.push_back(at.out_y);
    skip(turning, i);
  }
  for (std::int64_t j = 0; j < dump.head_dim; ++j) {  // coordinates outside the slice must not change
    const std::int64_t inside = j - turning.slice.rotary_offset;
    if ((inside >= 0 && inside < turning.slice.rotary_dim) || gone[index_of(j)] != 0) continue;
    std::vector<double> offs;
    for (std::int64_t n = 0; n < vectors; ++n) {
      if (!usable(n)) continue;
      const double before = dump.before[index_of(turning.cells.source[index_of(n)] * dump.head_dim + j)];
      const double off = std::abs(dump.after[index_of(n * dump.head_dim + j)] - before);
      offs.push_back(off / std::max(turning.noise.at(std::abs(before)), 1e-300));
    }
    if (median(std::move(offs)) > 8) odd.push_back(j);
  }
  std::vector<Verdict> verdicts;
  const auto count = [&](const List& list) {
    return std::to_string(list.size()) + " of " + std::to_string(dump.head_dim) + " coordinates";
  };
  if (!zero.empty()) {
    verdicts.push_back(coverage_verdict("coordinates_zero", runs_of("coordinates", zero) + " zero", count(zero), 0.98));
  }
  if (!still.empty()) {
    verdicts.push_back(coverage_verdict("coordinates_not_rotated", runs_of("coordinates", still) + " not rotated",
                                        count(still), 0.96));
  }
  if (!odd.empty()) {
    verdicts.push_back(coverage_verdict("coordinates_unexplained",
                                        runs_of("coordinates", odd) + " changed by something other than the rotation",
                                        count(odd), 0.9));
  }
  return verdicts;
}

bool unexplained(const std::vector<Verdict>& verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(),
                     [](const Verdict& one) { return one.name.ends_with("_unexplained"); });
}

std::vector<Verdict> judge_odd_heads(const RotationDump& dump, const Turning& turning, const List& heads) {
  List still, other;
  for (const std::int64_t h : heads) {
    double moved = 0, all = 0;
    for (std::int64_t row = 0; row < turning.rows; ++row) {
      if (turning.cells.at(row, h) != CellState::usable) continue;
      for (std::int64_t j = 0; j < dump.head_dim; ++j) {
        const auto cell = index_of(row * dump.heads + h);
        const double before = dump.before[index_of(turning.cells.source[cell] * dump.head_dim + j)];
        const double off = std::abs(dump.after[cell * index_of(dump.head_dim) + index_of(j)] - before);
        ++all;
        moved += off > 6 * turning.noise.at(std::abs(before)) ? 1 : 0;
      }
    }
    (moved < 0.02 * all ? still : other).push_back(h);
  }
  std::vector<Verdict> verdicts;
  const std::string evidence = "the other heads turn alike";
  if (!still.empty()) {
    verdicts.push_back(coverage_verdict("heads_not_rotated", runs_of("heads", still) + " not rotated", evidence, 0.97));
  }
  if (!other.empty()) {
    verdicts.push_back(
        coverage_verdict("heads_unexplained", runs_of("heads", other) + " turned by different angles", evidence, 0.88));
  }
  return verdicts;
}

std::vector<Verdict> judge_exceptions(const Turning& turning, const Candidate& candidate, std::int64_t tokens) {
  const auto off = [&](std::int64_t row, std::int64_t i, const Complex& meant) {
    const auto n = index_of(row * turning.pairs + i);
    const double size = std::abs(turning.z[n]);
    if (!(size > 0) || !std::isfinite(turning.sigma[n])) return 0.0;
    const double slack = candidate.prediction.angle.empty() ? 0 : 0x1p-22 * std::abs(candidate.prediction.angle[n]);
    return std::abs(std::arg(turning.z[n] * std::conj(meant))) / std::hypot(turning.sigma[n] / size, slack);
  };
  List still, twice, strange, pairs_still, pairs_strange;
  double least_off = std::numeric_limits<double>::infinity();  // smallest predicted turn of the unrotated pairs
  for (const std::int64_t row : candidate.fit.bad_rows) {
    double as_still = 0, as_twice = 0;
    for (std::int64_t i = 0; i < turning.pairs; ++i) {
      const Complex meant = candidate.prediction.z[index_of(row * turning.pairs + i)];
      as_still += std::min(std::pow(off(row, i, 1), 2), 400.0);
      as_twice += std::min(std::pow(off(row, i, meant * meant), 2), 400.0);
    }
    const double most = 9 * static_cast<double>(turning.pairs);
    (as_still < most ? still : as_twice < most ? twice : strange).push_back(row % tokens);
  }
  for (const std::int64_t i : candidate.fit.bad_pairs) {
    std::vector<double> offs;
    std::vector<double> from_meant;
    for (std::int64_t row = 0; row < turning.rows; ++row) {
      offs.push_back(off(row, i, 1));
      from_meant.push_back(off(row, i, candidate.prediction.z[index_of(row * turning.pairs + i)]));
    }
    const PairPlace at = place_of(turning.slice, i);
    const bool unmoved = median(std::move(offs)) < 3;
    if (unmoved) least_off = std::min(least_off, median(std::move(from_meant)));
    List& list = unmoved ? pairs_still : pairs_strange;
    list.push_back(at.out_x);
    list.push_back(at.out_y);
  }
  std::vector<Verdict> verdicts;
  const auto add = [&](const List& list, const char* name, const char* what, const char* then, double confidence) {
    if (!list.empty())
      verdicts.push_back(coverage_verdict(name, runs_of(what, list) + then, "all others fit", confidence));
  };
  add(still, "tokens_not_rotated", "tokens", " not rotated", 0.96);
  add(twice, "cached_rotated_twice", "tokens", " rotated twice", 0.96);
  add(strange, "tokens_unexplained", "tokens", " turned by angles that no known fault explains", 0.85);
  // Near the noise, a slow pair looks like an unrotated one.
  add(pairs_still, "coordinates_not_rotated", "coordinates", " not rotated", least_off > 15 ? 0.96 : 0.8);
  // At large positions other rules and factors are not searched for, so one of them may be the fault.
  constexpr double far = 0x1p15;
  const std::vector<double>& angle = candidate.prediction.angle;
  const bool searched = std::none_of(angle.begin(), angle.end(), [](double one) { return std::abs(one) > far; });
  add(pairs_strange, "coordinates_unexplained", "coordinates", " turned by angles that no known fault explains",
      searched ? 0.88 : 0.8);
  if (unexplained(verdicts)) {  // named exceptions may be part of the same unknown fault
    for (Verdict& one : verdicts) {
      if (!one.name.ends_with("_unexplained")) one.confidence = std::min(one.confidence, 0.7);
    }
    std::stable_partition(verdicts.begin(), verdicts.end(),
                          [](const Verdict& one) { return one.name.ends_with("_unexplained"); });
  }
  return verdicts;
}

}  // namespace locus::doctor
