// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/reading.h"

#include <algorithm>
#include <cmath>

#include "doctor/diagnose/dump_checks.h"
#include "doctor/diagnose/predicted_turns.h"
#include "doctor/diagnose/xpos_fit.h"
#include "locus/error.h"

namespace locus::doctor {
namespace {

// Returns the expected encoding on another slice. Absent if its rule does not allow that.
std::optional<Encoding> moved_to(const Encoding& encoding, const TurnedSlice& slice) {
  Arguments arguments = encoding.arguments();
  arguments.set("pairing", std::string(name_of(slice.pairing)));
  if (encoding.scheme().name == "rope") {
    arguments.set("rotary_dim", slice.rotary_dim);
    arguments.set("rotary_offset", slice.rotary_offset);
    arguments.set("output_order", std::string(slice.deinterleaved_output ? "deinterleaved" : "same"));
  }
  try {
    Encoding moved(encoding.scheme().name, arguments);
    if (moved.rotation().rotary_dim == slice.rotary_dim) return moved;
  } catch (const Error&) {  // e.g. longrope's lists have another length
  }
  return std::nullopt;
}

// Proportional RoPE turns the first part of its pairs, so a slice of that width turns like plain RoPE.
std::optional<Encoding> plain_on(const Encoding& encoding, const TurnedSlice& slice) {
  const Arguments& given = encoding.arguments();
  if (!given.has("rule") || given.text("rule") != "proportional") return std::nullopt;
  const std::vector<double>& w = encoding.rotation().inv_freq;
  const auto turning = std::count_if(w.begin(), w.end(), [](double one) { return one != 0; });
  if (slice.rotary_dim != 2 * turning) return std::nullopt;
  return Encoding("rope", {{"head_dim", given.integer("head_dim")},
                           {"pairing", std::string(name_of(slice.pairing))},
                           {"rotary_dim", slice.rotary_dim},
                           {"rotary_offset", slice.rotary_offset},
                           {"output_order", std::string(slice.deinterleaved_output ? "deinterleaved" : "same")},
                           {"base", given.real("base")}});
}

// Models rotate all, half, a quarter or three quarters of a head.
int oddness(const TurnedSlice& slice, std::int64_t head_dim) {
  if (slice.rotary_dim == head_dim) return 0;
  return 4 * slice.rotary_dim % head_dim == 0 ? 1 : 3;
}

void add_explanations(Reading& reading, const RotationDump& dump, const Expectation& expected,
                      const std::vector<Position>& guess) {
  AngleSearch search{.tokens = dump.tokens, .head_dim = dump.head_dim, .unit = least_unit, .guess = guess};
  if (expected.encoding && expected.encoding->arguments().has("base")) {
    search.base = expected.encoding->arguments().real("base");
  }
  reading.explanations = explain(reading.turning, reading.rates, search);
  if (reading.explanations.empty()) {  // positions may be large, where float32 angles are coarse
    constexpr double furthest = 0x1p17;
    std::optional<std::vector<Position>> lengths;
    if (expected.positions) lengths = guess;
    reading.explanations =
        explain(reading.turning, turn_rates(reading.turning, dump.tokens, least_unit, lengths, furthest), search);
  }
  for (std::size_t n = 0; n < reading.explanations.size() && reading.turning.varies; ++n) {
    if (auto xpos = fit_xpos(reading.turning, reading.explanations[n], least_unit)) {
      reading.explanations = {std::move(*xpos)};  // the others do not explain varying magnitudes
      break;
    }
  }
  for (Explanation& one : reading.explanations) one.complexity += oddness(reading.turning.slice, dump.head_dim);
}

void refine_cells(Reading& reading, const RotationDump& dump, double floor) {
  const std::vector<Verdict> coordinates = judge_coordinates(dump, reading.turning);
  Cells cells = reading.turning.cells;
  if (reading.turning.kept > 0.3) find_sources(cells, dump, reading.turning);
  cells.excluded.assign(cells.excluded.size(), 0);  // the faults of these vectors are known now
  const Cells& measured = reading.turning.cells;
  if (cells.state != measured.state || cells.source != measured.source || cells.excluded != measured.excluded) {
    measure_again(reading.turning, dump, cells, floor);
  }
  reading.coverage = judge_cells(dump, cells);
  reading.coverage.insert(reading.coverage.end(), coordinates.begin(), coordinates.end());
  if (dump.heads < 2) return;
  const std::vector<std::int64_t> odd = odd_heads(dump, reading.turning);
  for (std::int64_t row = 0; row < cells.rows; ++row) {
    for (const std::int64_t h : odd) cells.excluded[static_cast<std::size_t>(row * cells.heads + h)] = Cells::whole;
  }
  exclude_single_vectors(cells, dump, reading.turning);
  if (cells.excluded == reading.turning.cells.excluded) return;
  measure_again(reading.turning, dump, cells, floor);
  if (odd.empty()) return;
  for (Verdict& one : judge_odd_heads(dump, reading.turning, odd)) reading.coverage.push_back(std::move(one));
}

void judge_expected(Reading& reading, const RotationDump& dump, const Expected& meant) {
  reading.angles = judge_angles(reading.turning, meant, reading.rates, least_unit);
  if (reading.angles.candidates.empty()) return;
  const Candidate& first = reading.angles.candidates.front();
  if (!reading.angles.whole) reading.exceptions = judge_exceptions(reading.turning, first, dump.tokens);
  if (reading.angles.share < 0.4) return;
  for (Verdict& one : audit(dump, reading.turning, first)) reading.exceptions.push_back(std::move(one));
  if (!reading.angles.whole) return;
  const std::vector<Position>& used = first.prediction.positions.empty() ? meant.positions : first.prediction.positions;
  Explanation explanation{.scheme = std::string(meant.encoding.scheme().name),
                          .arguments = meant.encoding.arguments(),
                          .positions = used,
                          .misfit = first.fit.misfit,
                          .text = first.prediction.text};
  if (first.prediction.fault == "as_expected") explanation.text = "the expected encoding at the expected positions";
  reading.explanations = {std::move(explanation)};
}

void read_angles(Reading& reading, const RotationDump& dump, const Expectation& expected,
                 const std::optional<Expected>& meant, double floor) {
  refine_cells(reading, dump, floor);
  double far = 0;
  for (const Position p : reading.meant) far = std::max(far, std::abs(static_cast<double>(p)));
  std::optional<std::vector<Position>> lengths;
  if (expected.positions) lengths = reading.meant;
  reading.rates = turn_rates(reading.turning, dump.tokens, least_unit, lengths, far);
  if (!reading.rates) reading.rates = turn_rates(reading.turning, dump.tokens, least_unit, std::nullopt, far);
  if (meant) judge_expected(reading, dump, *meant);
  const bool open = !meant || (!reading.angles.whole && !reading.mostly_explained());
  if (open) add_explanations(reading, dump, expected, reading.meant);
}

bool some_rotated_twice(const Reading& reading) {
  const std::string name = "cached_rotated_twice";
  if (reading.angles.whole) return reading.angles.candidates.front().prediction.fault == name;
  return std::any_of(reading.exceptions.begin(), reading.exceptions.end(),
                     [&](const Verdict& one) { return one.name == name; });
}

}  // namespace

bool Reading::mostly_explained() const {
  if (angles.candidates.empty()) return false;
  // A few unexplained tokens are more likely than another rule that does not explain them either.
  const bool few_tokens = angles.share > 0.75 && angles.candidates.front().fit.bad_pairs.empty();
  return few_tokens || (angles.share > 0.4 && !unexplained(exceptions));
}

bool Reading::needs_odd_base() const {
  if (slice.empty() || !angles.whole) return false;
  const Prediction& first = angles.candidates.front().prediction;
  return first.fault == "base_wrong" && first.prior < common_base_prior;
}

double Reading::unlikely() const {
  const double other_slice = slice.empty() ? 0 : 3;
  if (!expectation) return explanations.empty() ? 1000 : explanations.front().complexity;
  if (angles.whole) {
    const Prediction& first = angles.candidates.front().prediction;
    const bool odd_base = first.fault == "base_wrong" && first.prior < common_base_prior;
    // Unexplained coordinates speak against the slice; tokens and heads are the same for all slices.
    const bool leaves = std::any_of(coverage.begin(), coverage.end(),
                                    [](const Verdict& one) { return one.name == "coordinates_unexplained"; });
    return other_slice +
           (first.fault == "as_expected" ? 0
            : odd_base                   ? 4
                                         : 1) +
           (exceptions.empty() ? 0 : 1) + (leaves ? 6 : 0);
  }
  if (mostly_explained()) return other_slice + 5;
  if (!explanations.empty() && !explanations.front().free_frequencies) return other_slice + 10;
  return other_slice + 20 + 20 * (1 - angles.share);
}

TurnedSlice slice_of(const Rotation& rotation) {
  return {rotation.pairing, rotation.deinterleaved_output, rotation.rotary_offset, rotation.rotary_dim};
}

Reading read_slice(const RotationDump& dump, const Expectation& expected, const PositionIds& ids, Turning turning,
                   double floor) {
  Reading reading{.turning = std::move(turning)};
  reading.expectation = expected.encoding.has_value();
  const std::vector<Position> guess = per_row(ids, dump.batch);
  reading.meant = guess;
  std::optional<Expected> meant;
  std::vector<double> scale;
  if (expected.encoding) {
    reading.slice = judge_slice(reading.turning.slice, slice_of(expected.encoding->rotation()));
    std::optional<Encoding> moved = plain_on(*expected.encoding, reading.turning.slice);
    if (moved) {
      reading.slice = {{Verdict::About::slice, "proportional_as_partial",
                        "a slice of " + std::to_string(reading.turning.slice.rotary_dim) +
                            " coordinates is rotated; the rule proportional spreads its pairs over the whole head",
                        "", 0.97}};
    } else {
      moved = moved_to(*expected.encoding, reading.turning.slice);
    }
    if (moved) {
      meant = Expected{*moved, ids, moved->rotation().axes == 1 ? guess : std::vector<Position>{}, dump.tokens,
                       expected.role};
      if (moved->rotation().scale) {
        for (const Complex& z : rows_of(moved->rotation(), expected.role, ids, reading.turning.rows)) {
          scale.push_back(std::abs(z));
        }
        reading.turning.scale = scale;
        reading.turning.varies = false;
        measure_again(reading.turning, dump, reading.turning.cells, floor);
      }
    }
  }
  std::vector<std::int64_t> rescaled;
  RotationDump even;
  if (meant && reading.turning.kept > 0.3) {
    rescaled = rescaled_cells(dump, reading.turning, meant->encoding.rotation().magnitude, even);
  }
  if (!rescaled.empty()) measure_again(reading.turning, even, reading.turning.cells, floor);
  read_angles(reading, rescaled.empty() ? dump : even, expected, meant, floor);
  if (!rescaled.empty() && !some_rotated_twice(reading)) reading.coverage.push_back(judge_rescaled(dump, rescaled));
  return reading;
}

}  // namespace locus::doctor
