// SPDX-License-Identifier: Apache-2.0
// FoPE: every pair of a head is turned by a series of frequencies, with other weights in each head. That keeps no lengths,
// so slices and angles cannot be measured; every fault is computed as a whole and compared with the dump.
#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "doctor/diagnose/cells.h"
#include "doctor/diagnose/coverage.h"
#include "doctor/diagnose/declared_dumps.h"
#include "doctor/diagnose/dump_checks.h"
#include "doctor/diagnose/sentence.h"
#include "doctor/diagnose/turning.h"
#include "locus/error.h"
#include "locus/reference.h"

namespace locus::doctor {
namespace {

constexpr double fitting_vectors = 0.02;  // ten times the noise of bfloat16 arithmetic
constexpr double most_off_vector = 20;
constexpr double decisive_vectors = 25;
constexpr double surest_guess = 0.99;

struct Guess {
  const char* fault;
  std::string text;
  double prior;
  Rotation rotation;
  std::function<std::int64_t(std::int64_t head)> key_head;       // whose matrices a head of the dump uses
  std::function<Position(std::int64_t row, Position id)> place;  // where a token is rotated to
  bool backwards = false;
  int times = 1;
};

class Guesses {
 public:
  Guesses(const Rotation& rotation, std::int64_t heads) : rotation_(rotation), heads_(heads) {
    add("as_expected", "every head is as expected", 1);
    add_positions();
    add_heads();
    add_matrices();
  }
  std::vector<Guess> all = {};

 private:
  Guess& add(const char* fault, std::string text, double prior) {
    const std::int64_t group = heads_ / rotation_.mix->heads;
    all.push_back({.fault = fault,
                   .text = std::move(text),
                   .prior = prior,
                   .rotation = rotation_,
                   .key_head = [group](std::int64_t head) { return head / group; },
                   .place = [](std::int64_t, Position id) { return id; }});
    return all.back();
  }

  void add_positions() {
    add("not_rotated", "the rotation was not applied", 0.5).times = 0;
    add("rotated_twice", "the rotation was applied twice", 0.3).times = 2;
    add("inverse_rotation", "the rotation runs backwards (the sign of sin is flipped)", 0.5).backwards = true;
    for (const Position by : {Position{1}, Position{-1}}) {
      add("position_offset", sentence("positions are off by ", by), 0.5).place = [by](std::int64_t, Position id) {
        return id + by;
      };
    }
    add("positions_all_zero", "every token was rotated as if at position 0", 0.4).place = [](std::int64_t, Position) {
      return Position{0};
    };
    add("ids_ignored", "ids were ignored: tokens were counted from 0 instead", 0.4).place =
        [](std::int64_t row, Position) { return row; };
  }

  void add_heads() {
    const std::int64_t key_heads = rotation_.mix->heads, group = heads_ / key_heads;
    if (key_heads == 1) return;
    const auto other = [&](const char* text, const std::function<std::int64_t(std::int64_t)>& head) {
      add("mix_of_another_head", text, 0.4).key_head = head;
    };
    other("all heads use the matrices of head 0", [](std::int64_t) { return std::int64_t{0}; });
    other("heads use the matrices of the next key head",
          [=](std::int64_t head) { return (head / group + 1) % key_heads; });
    other("heads use the matrices in reverse order", [=](std::int64_t head) { return key_heads - 1 - head / group; });
    if (group > 1) {
      other("query head h uses the matrices of key head h % key heads, not of its group",
            [=](std::int64_t head) { return head % key_heads; });
    }
  }

  void add_matrices() {
    Rotation& plain = add("mix_missing", "frequencies are not mixed: this is plain RoPE", 0.5).rotation;
    plain.mix.reset();
    Rotation& exchanged = add("mix_exchanged", "the matrices of cosines and sines are exchanged", 0.3).rotation;
    std::swap(exchanged.mix->cos, exchanged.mix->sin);
    Rotation& transposed = add("mix_transposed", "the mixing matrices are transposed", 0.3).rotation;
    for (Tensor* matrix : {&transposed.mix->cos, &transposed.mix->sin}) transpose(*matrix, transposed.mix->frequencies);
    add("wrong_pairing", "pairs are formed from the wrong coordinates", 0.3).rotation.pairing =
        rotation_.pairing == Pairing::half ? Pairing::interleaved : Pairing::half;
  }

  static void transpose(Tensor& matrix, std::int64_t size) {
    const Tensor from = matrix;
    for (std::size_t n = 0; n < from.data.size(); ++n) {
      const auto at = static_cast<std::int64_t>(n);
      const std::int64_t head = at / (size * size), row = at / size % size, column = at % size;
      matrix.data[index_of(head * size * size + column * size + row)] = from.data[n];
    }
  }

  const Rotation& rotation_;
  std::int64_t heads_;
};

std::vector<double> predicted_vector(const Guess& guess, Role role, std::span<const double> head,
                                     std::int64_t cell_head, Position id) {
  std::vector<double> vector(head.begin(), head.end());
  // Sines are odd: backwards is the rotation to the negative position.
  const Position place = guess.backwards ? -id : id;
  for (int n = 0; n < guess.times; ++n) {
    vector = reference::rotate(guess.rotation, role, Direction::forward, std::span(&place, 1), vector,
                               guess.key_head(cell_head));
  }
  return vector;
}

/// [rows * heads]: the difference from the dump, relative to the length of the vector; NaN where it shows nothing.
std::vector<double> misfits(const Guess& guess, const RotationDump& dump, const Cells& cells, Role role,
                            const std::vector<Position>& positions) {
  std::vector<double> all;
  const auto dim = index_of(dump.head_dim);
  for (std::int64_t cell = 0; cell < cells.rows * cells.heads; ++cell) {
    if (cells.state[index_of(cell)] != CellState::usable) {
      all.push_back(std::nan(""));
      continue;
    }
    const std::int64_t row = cell / cells.heads;
    const std::span<const double> before(dump.before.data() + index_of(cell) * dim, dim);
    const Position id = guess.place(row % dump.tokens, positions[index_of(row)]);
    const std::vector<double> expected = predicted_vector(guess, role, before, cell % cells.heads, id);
    double off = 0, size = 0;
    for (std::size_t j = 0; j < dim; ++j) {
      off += std::pow(dump.after[index_of(cell) * dim + j] - expected[j], 2);
      size += expected[j] * expected[j];
    }
    all.push_back(std::sqrt(off / std::max(size, 1e-300)));
  }
  return all;
}

double median_of(std::vector<double> values) {
  std::erase_if(values, [](double one) { return std::isnan(one); });
  if (values.empty()) return 0;
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

struct Judged {
  const Guess* guess = nullptr;
  std::vector<double> off = {};
  double median = 0, squares = 0, weight = 0;
};

std::vector<Judged> weigh_guesses(const std::vector<Guess>& guesses,
                                  const std::function<std::vector<double>(const Guess&)>& off, double unit) {
  std::vector<Judged> all;
  double noise = 1e300, least = 1e300, sum = 0;
  for (const Guess& guess : guesses) {
    all.push_back({.guess = &guess, .off = off(guess)});
    all.back().median = median_of(all.back().off);
    noise = std::min(noise, all.back().median);
  }
  noise = std::max(noise, unit);
  for (Judged& one : all) {
    for (const double value : one.off) {
      if (!std::isnan(value)) one.squares += std::pow(std::min(value / noise, most_off_vector), 2);
    }
    least = std::min(least, one.squares);
  }
  for (Judged& one : all) {
    const double more = one.squares - least;
    // What looks like the expectation in this dump is not a finding.
    const bool twin =
        &one != &all.front() && std::abs(one.squares - all.front().squares) < 9 && all.front().squares < least + 9;
    one.weight = more > decisive_vectors || twin ? 0 : one.guess->prior * std::exp(-more / 8);
    sum += one.weight;
  }
  for (Judged& one : all) one.weight /= sum;
  std::stable_sort(all.begin(), all.end(), [](const Judged& a, const Judged& b) { return a.weight > b.weight; });
  return all;
}

// The vectors that the best guess does not explain.
std::vector<Verdict> cells_left_over(const RotationDump& dump, const Judged& best, double unit) {
  std::set<std::int64_t> cells;
  for (std::size_t n = 0; n < best.off.size(); ++n) {
    if (best.off[n] > std::max(10 * best.median, 64 * unit)) cells.insert(static_cast<std::int64_t>(n));
  }
  if (cells.empty()) return {};
  return {cells_verdict(dump, cells, "tokens_unexplained", "heads_unexplained",
                        "are not what the best explanation of the others gives", 0.9)};
}

}  // namespace

Diagnosis diagnose_mixed(const RotationDump& dump, const Expectation& expected, ElementType storage) {
  const Rotation& rotation = expected.encoding->rotation();
  require(dump.heads % rotation.mix->heads == 0, "the encoding has ", rotation.mix->heads,
          " key heads; the dump must have a multiple of them, got ", dump.heads);
  require(!expected.both_rotated, "vectors that ", expected.encoding->scheme().name,
          " rotated cannot be rotated back; dump them before");
  const double unit = storage_noise(storage);
  const Cells cells = classify_cells(dump);
  const std::vector<Position> positions = per_row(ids_of(dump, expected), dump.batch);
  const Guesses guesses(rotation, dump.heads);
  const std::vector<Judged> judged = weigh_guesses(
      guesses.all, [&](const Guess& guess) { return misfits(guess, dump, cells, expected.role, positions); }, unit);
  const Judged& best = judged.front();
  Diagnosis diagnosis;
  diagnosis.storage = storage;
  diagnosis.noise = diagnosis.residual = best.median;
  if (!expected.positions) diagnosis.not_judged.emplace_back("positions were not given; 0, 1, 2, ... are assumed");
  diagnosis.verdicts = judge_cells(dump, cells);
  const std::string evidence = sentence("vectors differ by ", best.median, " of their length (median)");
  if (best.median > fitting_vectors) {
    diagnosis.verdicts.push_back({Verdict::About::dump, "unexplained",
                                  "no known fault explains these vectors; nearest: " + best.guess->text, evidence,
                                  0.6});
    return diagnosis;
  }
  diagnosis.kind = best.guess->times == 0 ? Diagnosis::Kind::unchanged : Diagnosis::Kind::rotation;
  for (Verdict& one : cells_left_over(dump, best, unit)) diagnosis.verdicts.push_back(std::move(one));
  for (const Judged& one : judged) {
    if (one.weight < 0.02) continue;
    diagnosis.verdicts.push_back({Verdict::About::angles, one.guess->fault, one.guess->text,
                                  sentence("vectors differ by ", one.median, " of their length (median)"),
                                  surest_guess * one.weight});
  }
  return diagnosis;
}

}  // namespace locus::doctor
