// SPDX-License-Identifier: Apache-2.0
// The steps of a diagnosis: which vectors are usable, which slice turned, by which angles, at which positions, with
// which rule; whether this is as expected; and whether anything is left unexplained.
#include "locus/doctor/diagnose.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "doctor/diagnose/declared_dumps.h"
#include "doctor/diagnose/dump_checks.h"
#include "doctor/diagnose/hidden_dump.h"
#include "doctor/diagnose/miscounted_heads.h"
#include "doctor/diagnose/other_dumps.h"
#include "doctor/diagnose/position_faults.h"
#include "doctor/diagnose/predicted_turns.h"
#include "doctor/diagnose/reading.h"
#include "doctor/heads_array.h"
#include "locus/error.h"

namespace locus {
namespace {

using namespace doctor;  // NOLINT: this file combines the parts

// Models rotate all, half, a quarter or three quarters of a head.
bool is_common_width(const TurnedSlice& slice, std::int64_t head_dim) { return 4 * slice.rotary_dim % head_dim == 0; }

// Selects slices with different meanings: the expected one, the widest and narrowest of each pairing, and common
// widths.
std::vector<Turning> slices_to_read(const std::vector<Turning>& slices, std::int64_t head_dim) {
  constexpr std::size_t most = 10;
  std::vector<Turning> chosen;
  for (std::size_t n = 0; n < slices.size() && chosen.size() < most; ++n) {
    const auto alike = [&](const Turning& other) {
      return other.slice.pairing == slices[n].slice.pairing &&
             other.slice.deinterleaved_output == slices[n].slice.deinterleaved_output;
    };
    const bool narrowest = std::none_of(slices.begin(), slices.end(), [&](const Turning& other) {
      return alike(other) && other.slice.rotary_dim < slices[n].slice.rotary_dim;
    });
    if (n == 0 || narrowest || is_common_width(slices[n].slice, head_dim)) chosen.push_back(slices[n]);
  }
  return chosen;
}

bool stands_still(const Turning& turning) {
  for (std::int64_t row = 0; row < turning.rows; ++row) {
    for (std::int64_t i = 0; i < turning.pairs; ++i) {
      if (std::abs(std::arg(turning.at(row, i))) > 8 * angle_sigma(turning, row, i, least_unit)) return false;
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
    decide.push_back("which ramp: dump large positions (a few thousand), where slow pairs have turned");
  }
  if (diagnosis.also_fitting.size() > 0) {
    decide.push_back("which slice: dump large positions, where slow pairs have turned");
  }
  const auto named = [&](const char* name) {
    return std::any_of(diagnosis.verdicts.begin(), diagnosis.verdicts.end(),
                       [&](const Verdict& one) { return one.name == name; });
  };
  if (named("inverse_rotation")) decide.push_back("backwards or negated positions: print the position ids");
  if (named("rotated_twice")) decide.push_back("applied twice or doubled positions: print the position ids");
  if (named("not_rotated")) decide.push_back("not rotated or at position 0: print the position ids");
  if (named("base_wrong") || named("factor_wrong") || named("rule_not_applied") || named("rule_applied_twice") ||
      named("rule_of_another_layer") || named("other_rule")) {
    decide.push_back(
        "which rule and parameters: dump large positions (a few thousand) in float32, where slow pairs have turned");
  }
}

// Lists what the verdicts do not cover.
void add_not_judged(Diagnosis& diagnosis, const RotationDump& dump, const Cells& cells, const Expectation& expected) {
  std::vector<std::int64_t> tokens;
  for (std::int64_t n = 0; n < cells.rows * cells.heads; ++n) {
    if (cells.state[index_of(n)] == CellState::empty) tokens.push_back(n / cells.heads % dump.tokens);
  }
  if (!tokens.empty()) {
    diagnosis.not_judged.push_back(std::to_string(tokens.size()) + " of " + std::to_string(cells.rows * cells.heads) +
                                   " vectors are zero before and after and show nothing: " + runs_of("tokens", tokens) +
                                   " among them");
  }
  if (expected.encoding && !expected.positions) {
    diagnosis.not_judged.push_back("positions were not given; 0, 1, 2, ... are assumed");
  }
}

void add_slow_pairs(Diagnosis& diagnosis, const Reading& reading) {
  if (!reading.angles.whole) return;
  const std::vector<double>& angle = reading.angles.candidates.front().prediction.angle;
  const Turning& turning = reading.turning;
  std::vector<std::int64_t> slow;
  for (std::int64_t i = 0; i < turning.pairs && !angle.empty(); ++i) {
    bool told = false;
    double most = 0;
    for (std::int64_t row = 0; row < turning.rows && !told; ++row) {
      const double turned = std::abs(angle[index_of(row * turning.pairs + i)]);
      most = std::max(most, turned);
      told = turned > 3 * angle_sigma(turning, row, i, least_unit);
    }
    if (!told && most > 0) slow.push_back(i);
  }
  if (slow.empty()) return;
  diagnosis.not_judged.push_back(runs_of("pairs", slow) +
                                 " turned by less than the noise at these positions: their frequencies are unknown");
}

void use(Diagnosis& diagnosis, const Reading& reading, const std::vector<Turning>& slices) {
  const Turning& turning = reading.turning;
  diagnosis.noise = turning.noise.at(1);
  diagnosis.residual = turning.residual;
  diagnosis.magnitude_varies = turning.varies || !turning.scale.empty();
  if (diagnosis.magnitude_varies) diagnosis.residual = turning.free_residual;
  diagnosis.slice = turning.slice;
  for (const Turning& other : slices) {
    if (!same_slice(other.slice, turning.slice)) diagnosis.also_fitting.push_back(other.slice);
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
            "pairs are rotated by angles that no known rule gives at integer positions", evidence.str(), 0.5};
  }
  const Explanation& first = diagnosis.explanations.front();
  const bool alone = !first.free_frequencies && first.complexity <= 5 && diagnosis.explanations.size() == 1;
  return {Verdict::About::dump, "rotation", "pairs are rotated: " + first.text, evidence.str(), alone ? 0.95 : 0.6};
}

void merge_explanations(Diagnosis& diagnosis, const std::vector<Reading>& readings) {
  for (std::size_t n = 1; n < readings.size(); ++n) {
    diagnosis.explanations.insert(diagnosis.explanations.end(), readings[n].explanations.begin(),
                                  readings[n].explanations.end());
  }
  const bool known = !diagnosis.explanations.empty() && !diagnosis.explanations.front().free_frequencies;
  if (known) std::erase_if(diagnosis.explanations, [](const Explanation& one) { return one.free_frequencies; });
  std::stable_sort(diagnosis.explanations.begin(), diagnosis.explanations.end(),
                   [](const Explanation& a, const Explanation& b) { return a.complexity < b.complexity; });
}

// Lowers the confidence if another slice that leaves nothing unexplained is nearly as likely.
void add_rivals(Diagnosis& diagnosis, const std::vector<Reading>& readings, const Expectation& expected) {
  constexpr double doubtful = 0.8, rival = 0.2;  // of the generated dumps, the likelier slice is right in nearly all
  if (!readings[0].angles.whole) return;
  diagnosis.also_fitting.clear();
  for (std::size_t n = 1; n < readings.size(); ++n) {
    if (!readings[n].angles.whole) continue;
    if (readings[n].unlikely() >= readings[0].unlikely() + 3) continue;  // it needs an additional fault
    diagnosis.also_fitting.push_back(readings[n].turning.slice);
    for (Verdict& one : diagnosis.verdicts) one.confidence = std::min(one.confidence, doubtful);
    for (Verdict& one : verdicts_of(readings[n], expected, diagnosis.storage)) {
      const bool there = std::any_of(diagnosis.verdicts.begin(), diagnosis.verdicts.end(),
                                     [&](const Verdict& other) { return other.name == one.name; });
      if (there) continue;
      one.confidence = std::min(one.confidence, rival);
      diagnosis.verdicts.push_back(std::move(one));
    }
  }
}

// True if single pairs differ from the others or the base is different: a slice of another width may explain both.
bool is_width_uncertain(const Reading& reading) {
  if (reading.angles.candidates.empty()) return false;
  const Candidate& first = reading.angles.candidates.front();
  return !first.fit.bad_pairs.empty() || first.prediction.fault == "base_wrong";
}

void read_slices(Diagnosis& diagnosis, const RotationDump& dump, const Expectation& expected,
                 const std::vector<Turning>& slices, double floor) {
  const PositionIds ids = ids_of(dump, expected);
  std::vector<Reading> readings;
  for (const Turning& turning : slices_to_read(slices, dump.head_dim)) {
    readings.push_back(read_slice(dump, expected, ids, turning, floor));
    const Reading& last = readings.back();
    if (expected.encoding && last.slice.empty() && (last.angles.whole || last.unlikely() < 10) &&
        !is_width_uncertain(last)) {
      readings = {last};  // the slice is as expected and little else is wrong, so no other slice is tried
      break;
    }
  }
  std::stable_sort(readings.begin(), readings.end(),
                   [&](const Reading& a, const Reading& b) { return a.unlikely() < b.unlikely(); });
  use(diagnosis, readings.front(), slices);
  if (expected.encoding) add_slow_pairs(diagnosis, readings.front());
  merge_explanations(diagnosis, readings);
  diagnosis.kind = stands_still(readings.front().turning) ? Diagnosis::Kind::scaled : Diagnosis::Kind::rotation;
  if (expected.encoding) {
    diagnosis.verdicts = verdicts_of(readings.front(), expected, diagnosis.storage);
    add_rivals(diagnosis, readings, expected);
  } else {
    diagnosis.verdicts = readings.front().coverage;
    diagnosis.verdicts.push_back(summary(diagnosis));
  }
  add_what_decides(diagnosis);
}

// Positions must not change values, so any change is a fault.
Diagnosis judge_values(const RotationDump& dump, const Expectation& expected) {
  Expectation open;
  open.positions = expected.positions;
  if (expected.encoding && expected.positions && expected.encoding->rotation().axes > 1) open.positions.reset();
  Diagnosis diagnosis = diagnose(dump, open);
  if (diagnosis.kind == Diagnosis::Kind::unchanged) {
    if (diagnosis.verdicts.front().about == Verdict::About::coverage) return diagnosis;
    diagnosis.verdicts = {{Verdict::About::dump, "as_expected", "values are unchanged", "no coordinate changed", 0.98}};
    diagnosis.decide.clear();
    return diagnosis;
  }
  if (diagnosis.kind == Diagnosis::Kind::scaled && diagnosis.verdicts.front().about != Verdict::About::coverage) {
    const double off = std::abs(diagnosis.magnitude - 1);
    diagnosis.decide.clear();
    diagnosis.verdicts = {
        off < 0.01 ? Verdict{Verdict::About::dump, "as_expected", "values are unchanged within noise",
                             "no coordinate changed by more than the noise " + std::to_string(diagnosis.noise), 0.95}
                   : Verdict{Verdict::About::magnitude, "magnitude_wrong", "values were scaled",
                             "by " + std::to_string(diagnosis.magnitude), 0.95}};
  }
  if (diagnosis.kind == Diagnosis::Kind::rotation) {
    diagnosis.verdicts.insert(diagnosis.verdicts.begin(), {Verdict::About::dump, "values_rotated",
                                                           "values were rotated; positions must not change them",
                                                           diagnosis.verdicts.back().text, 0.97});
  }
  return diagnosis;
}

std::vector<double> expected_scale(const RotationDump& dump, const Expectation& expected) {
  std::vector<double> scale;
  if (!expected.encoding || !expected.encoding->rotation().scale) return scale;
  const PositionIds ids = ids_of(dump, expected);
  for (const Complex& z : rows_of(expected.encoding->rotation(), expected.role, ids, dump.batch * dump.tokens)) {
    scale.push_back(std::abs(z));
  }
  return scale;
}

bool explains(const std::vector<Turning>& slices) {
  return !slices.empty() && (slices.front().kept > 0.3 || slices.front().free_residual < 0.05);
}

}  // namespace

Diagnosis doctor::diagnose_rotation(const RotationDump& given, const Expectation& expected, ElementType storage) {
  Diagnosis diagnosis;
  diagnosis.storage = storage;
  const double floor = unit_roundoff(diagnosis.storage);
  diagnosis.noise = floor;
  RotationDump dump = given;
  if (expected.both_rotated && expected.encoding) {
    dump = unrotated(given, *expected.encoding, expected.role, ids_of(given, expected));
  }
  std::optional<TurnedSlice> preferred;
  if (expected.encoding) preferred = slice_of(expected.encoding->rotation());
  Cells cells = classify_cells(dump);
  const std::vector<double> scale = expected_scale(dump, expected);
  if (scale.empty()) exclude_odd_lengths(cells, dump, floor);
  add_not_judged(diagnosis, dump, cells, expected);
  // Rotating back adds the rounding errors of the first rotation.
  const double still = expected.both_rotated ? 8 * storage_noise(diagnosis.storage) : floor;
  std::vector<Turning> slices = fitting_slices(dump, cells, still, preferred, scale);
  if (slices.empty() && unchanged(dump, cells, still)) {
    diagnosis.kind = Diagnosis::Kind::unchanged;
    diagnosis.verdicts = judge_cells(dump, cells);
    for (Verdict& one : judge_unchanged(dump, expected)) diagnosis.verdicts.push_back(std::move(one));
    add_what_decides(diagnosis);
    return diagnosis;
  }
  if (dump.heads > 1 && (!explains(slices) || slices.front().kept < 0.9)) {
    const std::vector<std::int64_t> map = match_heads(dump, cells);
    Cells mapped = cells;
    for (std::size_t n = 0; n < mapped.source.size(); ++n) {
      const auto heads = static_cast<std::size_t>(dump.heads);
      mapped.source[n] = static_cast<std::int64_t>(n / heads * heads) + map[n % heads];
    }
    const std::vector<Turning> other = fitting_slices(dump, mapped, still, preferred, scale);
    if (explains(other) && (slices.empty() || other.front().kept > slices.front().kept + 0.05)) {
      diagnosis.head_map = map;
      slices = other;
    }
  }
  if (auto miscounted = judge_miscounted_heads(dump, expected, slices, floor)) {
    diagnosis.kind = Diagnosis::Kind::rotation;
    diagnosis.verdicts.push_back(std::move(*miscounted));
    return diagnosis;
  }
  if (!explains(slices)) {
    const TurnedSlice whole{Pairing::half, false, 0, dump.head_dim / 2 * 2};
    const Turning spectrum =
        slices.empty() ? measure(dump, preferred.value_or(whole), cells, floor) : std::move(slices.front());
    diagnosis.residual = spectrum.residual;
    add_spectrum(diagnosis, spectrum);
    diagnosis.verdicts.push_back(judge_no_rotation(diagnosis.residual, diagnosis.noise));
    return diagnosis;
  }
  read_slices(diagnosis, dump, expected, slices, floor);
  return diagnosis;
}

Diagnosis diagnose(const RotationDump& dump, const Expectation& expected) {
  check_dump(dump, expected);
  if (expected.encoding && expected.encoding->site() == Site::hidden) return diagnose_hidden(dump, expected);
  const ElementType storage = storage_of(dump);
  if (expected.output) return diagnose_turned_output(dump, expected, storage);
  const bool turned = expected.encoding && expected.encoding->rotation().turns_output;
  if (expected.values) return turned ? diagnose_turned_values(dump, expected, storage) : judge_values(dump, expected);
  if (expected.encoding && expected.encoding->rotation().mix) return diagnose_mixed(dump, expected, storage);
  if (expected.encoding && expected.encoding->rotation().polar) return diagnose_polar(dump, expected, storage);
  if (expected.encoding && expected.encoding->rotation().query_scale) return diagnose_tempered(dump, expected, storage);
  return diagnose_rotation(dump, expected, storage);
}

}  // namespace locus
