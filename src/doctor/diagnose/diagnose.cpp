// SPDX-License-Identifier: Apache-2.0
// The order of a diagnosis: which slice turned, by what angles, at which positions, under which rule; then whether that
// is what was meant.
#include "locus/doctor/diagnose.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "doctor/diagnose/dump_checks.h"
#include "doctor/diagnose/explanations.h"
#include "doctor/diagnose/judgement.h"
#include "doctor/diagnose/miscounted_heads.h"
#include "doctor/diagnose/other_dumps.h"
#include "doctor/diagnose/turn_rates.h"
#include "doctor/diagnose/turning.h"
#include "doctor/diagnose/xpos_fit.h"
#include "locus/error.h"

namespace locus {
namespace {

using namespace doctor;  // NOLINT: this file puts its parts together

// What bfloat16 products, sums and tables leave of an exact rotation, in units of their rounding.
constexpr double residual_units = 3;

TurnedSlice slice_of(const Rotation& rotation) {
  return {rotation.pairing, rotation.deinterleaved_output, rotation.rotary_offset, rotation.rotary_dim};
}

// The expected encoding on another slice; where its rule does not allow that, absent.
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

/// One slice, all that follows from it.
struct Reading {
  Turning turning;
  std::optional<TurnRates> rates = {};
  std::vector<Explanation> explanations = {};
  AngleJudgement angles = {.verdicts = {}, .unlikely = 100};
  std::vector<Verdict> magnitude = {};
  std::vector<Verdict> slice = {};

  /// How much has to be wrong for this reading to be the right one.
  int unlikely(bool expectation) const {
    if (expectation) return angles.unlikely + (slice.empty() ? 0 : 3);
    return explanations.empty() ? 1000 : explanations.front().complexity;
  }
};

// Models rotate the whole head, half, a quarter or three quarters of it.
int oddness(const TurnedSlice& slice, std::int64_t head_dim) {
  if (slice.rotary_dim == head_dim) return 0;
  return 4 * slice.rotary_dim % head_dim == 0 ? 1 : 3;
}

void add_xpos(Reading& reading, double unit) {
  for (std::size_t n = 0; n < reading.explanations.size(); ++n) {
    auto xpos = fit_xpos(reading.turning, reading.explanations[n], unit);
    if (!xpos) continue;
    reading.explanations = {std::move(*xpos)};  // the others say nothing about magnitudes that vary
    return;
  }
}

Reading read_slice(const RotationDump& dump, const Expectation& expected, const Turning& turning, double unit) {
  const PositionIds ids = ids_of(dump, expected);
  Reading reading{.turning = turning};
  const std::vector<Position> guess = per_row(ids, dump.batch);
  std::optional<std::vector<Position>> lengths;
  if (expected.positions) lengths = guess;
  double far = 0;
  for (const Position p : guess) far = std::max(far, std::abs(static_cast<double>(p)));
  reading.rates = turn_rates(turning, dump.tokens, unit, lengths, far);
  if (!reading.rates) reading.rates = turn_rates(turning, dump.tokens, unit, std::nullopt, far);
  AngleSearch search{.tokens = dump.tokens, .head_dim = dump.head_dim, .unit = unit, .guess = guess};
  if (expected.encoding && expected.encoding->arguments().has("base")) {
    search.base = expected.encoding->arguments().real("base");
  }
  reading.explanations = explain(turning, reading.rates, search);
  if (reading.explanations.empty()) {  // tokens may be far out, where float32 angles are coarse
    constexpr double furthest = 0x1p17;
    reading.explanations = explain(turning, turn_rates(turning, dump.tokens, unit, lengths, furthest), search);
  }
  if (turning.residual > residual_units * unit) add_xpos(reading, unit);
  for (Explanation& explanation : reading.explanations) explanation.complexity += oddness(turning.slice, dump.head_dim);
  if (!expected.encoding) return reading;
  reading.slice = judge_slice(turning.slice, slice_of(expected.encoding->rotation()));
  const auto moved = moved_to(*expected.encoding, turning.slice);
  if (!moved) return reading;
  const Expected meant{*moved, ids, moved->rotation().axes == 1 ? guess : std::vector<Position>{}, expected.role};
  reading.angles = judge_angles(turning, meant, reading.rates, dump.tokens, unit, reading.explanations);
  reading.magnitude = judge_magnitude(turning, meant, unit);
  return reading;
}

// Slices that differ in what they would mean: as expected, the widest and the narrowest of each pairing, usual widths.
std::vector<Turning> worth_reading(const std::vector<Turning>& slices, std::int64_t head_dim) {
  std::vector<Turning> chosen;
  for (std::size_t n = 0; n < slices.size(); ++n) {
    const auto alike = [&](const Turning& other) {
      return other.slice.pairing == slices[n].slice.pairing &&
             other.slice.deinterleaved_output == slices[n].slice.deinterleaved_output;
    };
    const bool narrowest = std::none_of(slices.begin(), slices.end(), [&](const Turning& other) {
      return alike(other) && other.slice.rotary_dim < slices[n].slice.rotary_dim;
    });
    if (n == 0 || narrowest || oddness(slices[n].slice, head_dim) < 3) chosen.push_back(slices[n]);
  }
  return chosen;
}

bool stands_still(const Turning& turning, double unit) {
  for (std::int64_t row = 0; row < turning.rows; ++row) {
    for (std::int64_t i = 0; i < turning.pairs; ++i) {
      if (std::abs(std::arg(turning.at(row, i))) > 8 * angle_sigma(turning, row, i, unit)) return false;
    }
  }
  return true;
}

void add_spectrum(Diagnosis& diagnosis, const Turning& turning) {
  constexpr std::int64_t shown = 4;
  diagnosis.pair_magnitudes = turning.magnitude;
  for (std::int64_t row = 0; row < std::min(shown, turning.rows); ++row) {
    std::vector<double>& angles = diagnosis.pair_angles.emplace_back();
    for (std::int64_t i = 0; i < turning.pairs; ++i) angles.push_back(std::arg(turning.at(row, i)));
  }
}

void add_what_decides(Diagnosis& diagnosis) {
  const std::vector<Explanation>& all = diagnosis.explanations;
  const auto any = [&](const auto& holds) { return std::any_of(all.begin(), all.end(), holds); };
  std::vector<std::string>& decide = diagnosis.decide;
  if (any([](const Explanation& e) { return e.position_divisor != 1; })) {
    decide.push_back("linear factor or divided positions: print the position ids, or dump a model whose factor is 1");
  }
  if (any([](const Explanation& e) { return e.times > 1; })) {
    decide.push_back(
        "applied twice or doubled positions: dump one token at a known position, or look for a magnitude "
        "that is squared");
  }
  if (any([](const Explanation& e) { return e.inverse; })) {
    decide.push_back("backwards or negated positions: print the position ids");
  }
  const auto has_rule = [&](const char* rule) {
    return any([&](const Explanation& e) { return e.arguments.has("rule") && e.arguments.text("rule") == rule; });
  };
  if (has_rule("ntk") || has_rule("dynamic_ntk")) {
    decide.push_back("a larger base or an NTK rule: read the config; dynamic NTK shows in a dump of another length");
  }
  if (has_rule("yarn") + has_rule("llama3") + has_rule("ntk_by_parts") + has_rule("none") > 1) {
    decide.push_back("which ramp: dump far positions (a few thousand), where slow pairs have turned");
  }
  if (diagnosis.also_fitting.size() > 0) {
    decide.push_back("which slice: dump far positions, where slow pairs have turned");
  }
}

void use(Diagnosis& diagnosis, const Reading& reading, const std::vector<Turning>& slices) {
  const Turning& turning = reading.turning;
  diagnosis.residual = turning.residual;
  diagnosis.magnitude_varies = turning.residual > diagnosis.noise;
  if (diagnosis.magnitude_varies) diagnosis.residual = turning.free_residual;
  diagnosis.slice = turning.slice;
  for (const Turning& other : slices) {
    const TurnedSlice& slice = other.slice;
    if (slice.pairing == turning.slice.pairing && slice.rotary_dim == turning.slice.rotary_dim &&
        slice.rotary_offset == turning.slice.rotary_offset &&
        slice.deinterleaved_output == turning.slice.deinterleaved_output) {
      continue;
    }
    diagnosis.also_fitting.push_back(slice);
  }
  double sum = 0;
  for (const double one : turning.magnitude) sum += one;
  diagnosis.magnitude = sum / static_cast<double>(turning.pairs);
  if (reading.rates) diagnosis.frequencies = reading.rates->w;
  diagnosis.explanations = reading.explanations;
  add_spectrum(diagnosis, turning);
}

Verdict summary(const Diagnosis& diagnosis) {
  std::ostringstream evidence;
  evidence.precision(4);
  evidence << "residual " << diagnosis.residual << ", noise " << diagnosis.noise << ", "
           << diagnosis.explanations.size() << " explanations fit";
  if (diagnosis.explanations.empty()) {
    return {Verdict::About::dump, "rotation",
            "pairs are rotated, by angles that no known rule at whole positions gives", evidence.str(), 0.5};
  }
  const Explanation& first = diagnosis.explanations.front();
  const bool alone = !first.free_frequencies && first.complexity <= 5 && diagnosis.explanations.size() == 1;
  return {Verdict::About::dump, "rotation", "pairs are rotated: " + diagnosis.explanations.front().text, evidence.str(),
          alone ? 0.95 : 0.6};
}

void append(std::vector<Verdict>& verdicts, const std::vector<Verdict>& more, double most_confidence) {
  for (const Verdict& verdict : more) {
    const bool there = std::any_of(verdicts.begin(), verdicts.end(), [&](const Verdict& other) {
      return other.name == verdict.name && other.text == verdict.text;
    });
    if (there) continue;
    verdicts.push_back(verdict);
    verdicts.back().confidence = std::min(verdict.confidence, most_confidence);
  }
}

// The likeliest reading speaks first; what others say as well is added, and takes away its certainty.
std::vector<Verdict> verdicts_of(const std::vector<Reading>& readings) {
  constexpr int named = 50;  // from here on the angles have no name
  constexpr double doubtful = 0.6;
  std::vector<Verdict> verdicts;
  const bool rivals = readings.size() > 1 && readings[1].angles.unlikely < named;
  for (std::size_t n = 0; n < readings.size(); ++n) {
    if (n > 0 && readings[n].angles.unlikely >= named) continue;
    const double most = n > 0 ? 0.3 : rivals ? doubtful : 1;
    append(verdicts, readings[n].slice, most);
    append(verdicts, readings[n].magnitude, n == 0 ? 1 : most);
    append(verdicts, readings[n].angles.verdicts, most);
  }
  return verdicts;
}

void read_slices(Diagnosis& diagnosis, const RotationDump& dump, const Expectation& expected,
                 const std::vector<Turning>& slices, double unit) {
  const bool expectation = expected.encoding.has_value();
  std::vector<Reading> readings;
  for (const Turning& turning : worth_reading(slices, dump.head_dim)) {
    readings.push_back(read_slice(dump, expected, turning, unit));
    if (expectation && readings.back().unlikely(true) == 0) {  // as expected: no need to look further
      readings = {std::move(readings.back())};
      break;
    }
  }
  std::stable_sort(readings.begin(), readings.end(), [&](const Reading& a, const Reading& b) {
    return a.unlikely(expectation) < b.unlikely(expectation);
  });
  use(diagnosis, readings.front(), slices);
  for (std::size_t n = 1; n < readings.size(); ++n) {
    diagnosis.explanations.insert(diagnosis.explanations.end(), readings[n].explanations.begin(),
                                  readings[n].explanations.end());
  }
  const bool known = !diagnosis.explanations.empty() && !diagnosis.explanations.front().free_frequencies;
  if (known) std::erase_if(diagnosis.explanations, [](const Explanation& one) { return one.free_frequencies; });
  std::stable_sort(diagnosis.explanations.begin(), diagnosis.explanations.end(),
                   [](const Explanation& a, const Explanation& b) { return a.complexity < b.complexity; });
  diagnosis.kind = stands_still(readings.front().turning, unit) ? Diagnosis::Kind::scaled : Diagnosis::Kind::rotation;
  if (expectation) append(diagnosis.verdicts, verdicts_of(readings), 1);
  if (diagnosis.verdicts.empty()) diagnosis.verdicts.push_back(summary(diagnosis));
  add_what_decides(diagnosis);
}

}  // namespace

Diagnosis diagnose(const RotationDump& given, const Expectation& expected) {
  check_dump(given, expected);
  Diagnosis diagnosis;
  diagnosis.storage = storage_of(given);
  const double unit = storage_noise(diagnosis.storage);
  diagnosis.noise = residual_units * unit;
  RotationDump dump = given;
  if (expected.both_rotated && expected.encoding) {
    dump = unrotated(given, *expected.encoding, expected.role, ids_of(given, expected));
  }
  std::optional<TurnedSlice> preferred;
  if (expected.encoding) preferred = slice_of(expected.encoding->rotation());
  std::vector<Turning> slices = fitting_slices(dump, unit, preferred);
  if (slices.empty()) {
    diagnosis.kind = Diagnosis::Kind::unchanged;
    diagnosis.verdicts = judge_unchanged(dump, expected);
    return diagnosis;
  }
  const auto fit = [&](const std::vector<Turning>& some) {
    return !some.empty() && (some.front().residual <= diagnosis.noise ||
                             (dump.heads > 1 && some.front().free_residual <= diagnosis.noise));
  };
  if (!fit(slices) && dump.heads > 1) {
    const std::vector<std::int64_t> map = match_heads(dump);
    const RotationDump mapped = with_heads(dump, map);
    const std::vector<Turning> other = fitting_slices(mapped, unit, preferred);
    if (fit(other)) {
      diagnosis.head_map = map;
      diagnosis.verdicts.push_back(judge_heads(map));
      dump = mapped;
      slices = other;
    }
  }
  if (!fit(slices)) {
    if (auto miscounted = judge_miscounted_heads(dump, expected, unit)) {
      diagnosis.kind = Diagnosis::Kind::rotation;
      diagnosis.verdicts.push_back(std::move(*miscounted));
      return diagnosis;
    }
    diagnosis.residual = slices.front().residual;
    add_spectrum(diagnosis, slices.front());
    diagnosis.verdicts.push_back(judge_no_rotation(diagnosis.residual, diagnosis.noise));
    return diagnosis;
  }
  read_slices(diagnosis, dump, expected, slices, unit);
  return diagnosis;
}

}  // namespace locus
