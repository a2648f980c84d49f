// SPDX-License-Identifier: Apache-2.0
// Converts a reading to verdicts: names, sentences, evidence and confidence.
#include <algorithm>
#include <cmath>

#include "doctor/diagnose/reading.h"
#include "doctor/diagnose/sentence.h"
#include "doctor/heads_array.h"

namespace locus::doctor {
namespace {

constexpr double most_confident = 0.99;

std::string evidence_of(const Candidate& one) {
  std::string evidence = sentence("misfit ", one.fit.misfit, " (1: measured noise)");
  if (one.fit.worst_angle > 0) {
    evidence += sentence("; largest angle error ", one.fit.worst_angle, " rad at token ", one.fit.worst_row, ", pair ",
                         one.fit.worst_pair);
  }
  return evidence;
}

Verdict magnitude_verdict(const Turning& turning, const Candidate& one) {
  const std::string& name = one.magnitude_fault;
  const char* what = name == "magnitude_missing"   ? "the attention factor was not applied to cos and sin"
                     : name == "magnitude_squared" ? "the attention factor was applied twice"
                                                   : "cos and sin have a different factor than expected";
  return {
      Verdict::About::magnitude, name, what,
      sentence("|z| is ", turning.size, " within ", 2 * turning.size_sigma, ", expected ", one.prediction.magnitude),
      0};
}

// Returns the fault that no dump of this kind can distinguish from this one.
std::optional<Verdict> twin_of(const Candidate& one, bool keeps_size) {
  const std::string& fault = one.prediction.fault;
  if (fault == "inverse_rotation") {
    return Verdict{Verdict::About::angles, "positions_negated", "positions are negated", evidence_of(one), 0};
  }
  if (fault == "rotated_twice" && keeps_size) {
    return Verdict{Verdict::About::angles, "positions_doubled", "positions are doubled", evidence_of(one), 0};
  }
  return std::nullopt;
}

class Collected {
 public:
  void add(Verdict verdict, double weight) {
    const auto same =
        std::find_if(all_.begin(), all_.end(), [&](const Verdict& one) { return one.name == verdict.name; });
    if (same != all_.end()) {
      same->confidence += weight;
      return;
    }
    verdict.confidence = weight;
    all_.push_back(std::move(verdict));
  }
  std::vector<Verdict> sorted() {
    std::stable_sort(all_.begin(), all_.end(),
                     [](const Verdict& a, const Verdict& b) { return a.confidence > b.confidence; });
    return all_;
  }

 private:
  std::vector<Verdict> all_;
};

std::vector<Verdict> whole_verdicts(const Reading& reading) {
  Collected collected;
  for (const Candidate& one : reading.angles.candidates) {
    const bool right = one.prediction.fault == "as_expected";
    if (right && !one.magnitude_fault.empty()) {
      collected.add(magnitude_verdict(reading.turning, one), one.weight);
      continue;
    }
    const bool keeps_size = std::abs(one.prediction.magnitude - 1) < 1e-9;
    const auto twin = twin_of(one, keeps_size);
    collected.add({Verdict::About::angles, one.prediction.fault, one.prediction.text, evidence_of(one), 0},
                  one.weight * (twin ? 0.5 : 1));
    if (twin) collected.add(*twin, 0.5 * one.weight);
  }
  std::vector<Verdict> verdicts = collected.sorted();
  const Candidate& first = reading.angles.candidates.front();
  const double clarity = first.fit.misfit < 1.5 ? most_confident : 0.88;
  for (Verdict& one : verdicts) {
    one.confidence *= clarity;
    // Without a pattern, positions that are all off by the same period of the rotation may fit as well.
    if (one.name == "positions_differ") one.confidence = std::min(one.confidence, 0.88);
  }
  std::erase_if(verdicts, [&](const Verdict& one) { return one.confidence < 0.02 && &one != &verdicts.front(); });
  if (first.prediction.fault != "as_expected" && !first.magnitude_fault.empty()) {
    verdicts.push_back(magnitude_verdict(reading.turning, first));
    verdicts.back().confidence = 0.8;
  }
  return verdicts;
}

// Names what differs in an encoding that fits at the expected positions.
const char* other_name(const Arguments& meant, const Arguments& found) {
  const auto rule_of = [](const Arguments& one) { return one.has("rule") ? one.text("rule") : "none"; };
  const auto same = [&](const char* name) {
    return meant.has(name) && found.has(name) && meant.real(name) == found.real(name);
  };
  const bool lengths =
      !meant.has("original_length") ||
      (found.has("original_length") && meant.integer("original_length") == found.integer("original_length"));
  if (rule_of(meant) == rule_of(found) && lengths && same("base") && meant.has("factor")) return "factor_wrong";
  if (rule_of(meant) == rule_of(found) && lengths && same("factor")) return "base_wrong";
  return rule_of(meant) == "none" && rule_of(found) != "none" ? "rule_of_another_layer" : "other_rule";
}

// True if an explanation is the expected encoding itself, and so explains nothing more.
bool is_expected(const Explanation& one, const Encoding& expected) {
  const std::vector<double> meant = expected.rotation().inv_freq;
  const std::vector<double> found = Encoding(one.scheme, one.arguments).rotation().inv_freq;
  if (meant.size() != found.size() || one.inverse || one.times != 1) return false;
  for (std::size_t i = 0; i < meant.size(); ++i) {
    if (std::abs(found[i] / one.position_divisor - meant[i]) > 1e-6 * std::abs(meant[i])) return false;
  }
  return true;
}

// Adds other encodings that fit. Alternatives of one name become one verdict.
void add_other_encodings(std::vector<Verdict>& verdicts, const Reading& reading, const Expectation& expected) {
  constexpr double together = 0.88, strange = 0.5;  // another rule at other positions is a weak explanation
  constexpr std::size_t most = 4;
  std::vector<const Explanation*> fitting;
  for (const Explanation& one : reading.explanations) {
    if (one.free_frequencies || fitting.size() == most) continue;
    if (one.positions == reading.meant && is_expected(one, *expected.encoding)) continue;
    fitting.push_back(&one);
  }
  for (const Explanation* one : fitting) {
    const bool there = one->positions == reading.meant && !one->inverse && one->times == 1;
    const char* name = there ? other_name(expected.encoding->arguments(), one->arguments) : "other_rule_and_positions";
    const double share = (there ? together : strange) / static_cast<double>(fitting.size());
    const auto same =
        std::find_if(verdicts.begin(), verdicts.end(), [&](const Verdict& other) { return other.name == name; });
    if (same == verdicts.end()) {
      verdicts.push_back({Verdict::About::angles, name, "not the expected encoding, but " + one->text,
                          sentence("misfit ", one->misfit, " (1: measured noise)"), share});
    } else {
      same->text += "; or " + one->text;
      same->confidence += share;
    }
  }
  std::stable_sort(verdicts.begin(), verdicts.end(),
                   [](const Verdict& a, const Verdict& b) { return a.confidence > b.confidence; });
}

// The precision is a separate finding, whatever else is right or wrong.
std::optional<Verdict> precision_of(const Reading& reading, ElementType storage) {
  if (!reading.angles.whole) return std::nullopt;
  const Candidate& first = reading.angles.candidates.front();
  constexpr double least = 1e-8;  // float64 angles have smaller errors
  if (first.fit.exact_misfit > 2.5 && first.fit.exact_misfit > 1.5 * first.fit.misfit &&
      first.fit.worst_angle > least) {
    return Verdict{Verdict::About::precision, "float32_angles", "angles have the errors of float32 arithmetic",
                   sentence("exact angles would misfit by ", first.fit.exact_misfit,
                            " (1: measured noise); largest error ", first.fit.worst_angle, " rad"),
                   0.85};
  }
  for (const ElementType type : {ElementType::bfloat16, ElementType::float16}) {
    const double unit = unit_roundoff(type);
    const double seen = reading.turning.noise.relative;
    if (unit_roundoff(storage) >= unit || seen < 0.2 * unit || seen > 1.5 * unit) continue;
    return Verdict{
        Verdict::About::precision, std::string(name_of(type)) + "_tables",
        std::string("cos and sin, or every step of the arithmetic, were rounded to ") + std::string(name_of(type)),
        sentence("lengths are off by ", seen, " relative, the storage explains ", unit_roundoff(storage)), 0.8};
  }
  return std::nullopt;
}

void append(std::vector<Verdict>& verdicts, const std::vector<Verdict>& more) {
  verdicts.insert(verdicts.end(), more.begin(), more.end());
}

// True if the slice leaves so much unexplained that another slice, or none, may be right.
bool is_slice_uncertain(const Reading& reading) {
  const bool left_over = std::any_of(reading.coverage.begin(), reading.coverage.end(),
                                     [](const Verdict& one) { return one.name == "coordinates_unexplained"; });
  const auto& state = reading.turning.cells.state;
  const auto usable = std::count(state.begin(), state.end(), CellState::usable);
  const auto empty = std::count(state.begin(), state.end(), CellState::empty);
  const bool few = 4 * usable < 3 * (static_cast<std::ptrdiff_t>(state.size()) - empty);
  return left_over || few || (!reading.angles.whole && !reading.mostly_explained());
}

std::vector<Verdict> all_verdicts(const Reading& reading, const Expectation& expected, ElementType storage) {
  constexpr double coarse = 1e-3;  // above this a float32 angle is a fault in any engine
  std::vector<Verdict> verdicts = reading.slice;
  append(verdicts, reading.coverage);
  if (is_slice_uncertain(reading) && !reading.slice.empty()) {
    // The expected slice may explain what another one does not.
    for (Verdict& one : verdicts) one.confidence = std::min(one.confidence, 0.85);
    for (std::size_t n = 0; n < reading.slice.size(); ++n) verdicts[n].confidence = 0.4;
  }
  const auto precision = precision_of(reading, storage);
  std::vector<Verdict> angles;
  if (reading.angles.whole) {
    append(verdicts, reading.exceptions);
    angles = whole_verdicts(reading);
    const bool right = angles.front().name == "as_expected";
    if (right && precision && precision->name == "float32_angles" &&
        reading.angles.candidates.front().fit.worst_angle > coarse) {
      angles.insert(angles.begin(), *precision);
      angles.front().confidence = angles[1].confidence;
    }
  } else if (reading.mostly_explained()) {
    append(verdicts, reading.exceptions);
    const Candidate& first = reading.angles.candidates.front();
    const bool excepted = !reading.exceptions.empty();
    if (!excepted) {  // no single token or pair is wrong, but all of them differ a little
      angles.push_back(
          {Verdict::About::angles, "unexplained",
           "angles differ by more than the noise, and no known fault explains it; nearest: " + first.prediction.text,
           evidence_of(first), 0.6});
    }
    angles.push_back({Verdict::About::angles, first.prediction.fault, "everything else: " + first.prediction.text,
                      evidence_of(first), excepted ? 0.9 : 0.3});
  } else {
    add_other_encodings(angles, reading, expected);
    if (angles.empty()) {
      append(verdicts, reading.exceptions);
      const bool mostly = reading.angles.share > 0.4 && !reading.exceptions.empty();
      angles.push_back({Verdict::About::angles,
                        mostly ? reading.angles.candidates.front().prediction.fault : "unexplained",
                        mostly ? "the rest fits" : "no known fault explains the angles; see the spectrum", "", 0.4});
    }
  }
  // Faults come first; what is as expected comes last.
  append(verdicts, angles);
  if (is_slice_uncertain(reading)) {
    std::stable_partition(verdicts.begin(), verdicts.end(),
                          [](const Verdict& one) { return one.name.ends_with("unexplained"); });
  }
  if (precision && (angles.empty() || angles.front().name != precision->name)) verdicts.push_back(*precision);
  return verdicts;
}

}  // namespace

std::vector<Verdict> verdicts_of(const Reading& reading, const Expectation& expected, ElementType storage) {
  const double loud = 0.02;  // ten times the noise of bfloat16 arithmetic
  std::vector<Verdict> verdicts = all_verdicts(reading, expected, storage);
  const double noise = reading.turning.relative_noise;
  const bool varies = reading.turning.varies && !expected.encoding->rotation().scale;
  if (reading.needs_odd_base()) {
    for (Verdict& one : verdicts) one.confidence = std::min(one.confidence, 0.8);
  }
  if (!varies && !(noise > loud)) return verdicts;
  // If lengths are free, many slices keep them.
  for (Verdict& one : verdicts) one.confidence = std::min(one.confidence, 0.6);
  if (varies) {
    verdicts.insert(verdicts.begin(),
                    {Verdict::About::magnitude, "magnitude_varies", "|z| varies with the token, as in xPos",
                     sentence("heads agree on |z| within ", reading.turning.free_residual), 0.88});
    return verdicts;
  }
  verdicts.insert(verdicts.begin(), {Verdict::About::coverage, "lengths_unexplained",
                                     "the lengths of pairs change, by more than rounding or a little noise explains",
                                     sentence("lengths are off by ", 100 * noise, " % (median)"), 0.85});
  return verdicts;
}

}  // namespace locus::doctor
