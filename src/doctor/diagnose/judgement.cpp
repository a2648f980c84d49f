// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/judgement.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "doctor/diagnose/sentence.h"

namespace locus::doctor {
namespace {

constexpr double decisive = 25;  // difference in the sum of squares at which one dump decides

class Weighing {
 public:
  Weighing(const Turning& turning, const Rotation& rotation) : turning_(turning), rotation_(rotation) {}

  void add(std::vector<Prediction> predictions) {
    for (Prediction& one : predictions) all_.push_back(fitted(std::move(one)));
  }
  /// Adds the variant of one alternative that fits best, if any explains everything. Small angles do not favour any.
  void add_best(std::vector<Prediction> variants) {
    std::optional<Candidate> best;
    for (Prediction& one : variants) {
      Candidate candidate = fitted(std::move(one));
      if (!candidate.fit.whole()) continue;
      if (first().fit.whole()) {
        candidate.fit.squares =
            first().fit.squares + visible_difference(turning_, first().prediction, candidate.prediction);
      }
      if (!best || candidate.fit.squares < best->fit.squares) best = std::move(candidate);
    }
    if (best) all_.push_back(std::move(*best));
  }

  bool any_whole() const {
    return std::any_of(all_.begin(), all_.end(), [](const Candidate& one) { return one.fit.whole(); });
  }
  const Candidate& first() const { return all_.front(); }
  /// True if no candidate explains everything within the noise. Fitted parameters may then fit better.
  bool none_fits_well() const {
    constexpr double usual = 1.3;
    return std::none_of(all_.begin(), all_.end(),
                        [](const Candidate& one) { return one.fit.whole() && one.fit.misfit < usual; });
  }

  AngleJudgement judgement() const {
    AngleJudgement judged;
    judged.whole = any_whole();
    if (judged.whole) {
      judged.candidates = whole_ones();
      judged.share = 1;
      return judged;
    }
    const Candidate* best = nullptr;
    for (const Candidate& one : all_) {
      const double share = explained(one.fit);
      if (best != nullptr && share <= judged.share + 0.05) continue;
      best = &one;
      judged.share = share;
    }
    if (best == nullptr) return judged;
    judged.candidates = {*best};
    judged.candidates.front().weight = 1;
    return judged;
  }

 private:
  Candidate fitted(Prediction prediction) const {
    Candidate candidate{.prediction = std::move(prediction), .fit = {}};
    candidate.fit = fit_of(turning_, candidate.prediction);
    candidate.magnitude_fault = magnitude_fault_of(turning_, rotation_, candidate.prediction.magnitude);
    return candidate;
  }

  // A wrong magnitude is one fault; together with another fault it is the second.
  static double penalty(const Candidate& one) {
    if (one.magnitude_fault.empty()) return 1;
    return one.prediction.fault == "as_expected" ? 0.5 : 0.05;
  }

  double explained(const Fit& fit) const {
    const auto rows = static_cast<double>(turning_.rows), pairs = static_cast<double>(turning_.pairs);
    return (1 - static_cast<double>(fit.bad_rows.size()) / rows) *
           (1 - static_cast<double>(fit.bad_pairs.size()) / pairs);
  }

  std::vector<Candidate> whole_ones() const {
    double least = 1e300;
    for (const Candidate& one : all_) {
      if (one.fit.whole()) least = std::min(least, one.fit.squares);
    }
    std::vector<Candidate> fitting;
    double sum = 0;
    for (const Candidate& one : all_) {
      const double more = one.fit.squares - least;
      if (!one.fit.whole() || more > decisive) continue;
      // A precision that has no effect here is not a finding.
      const bool precision = one.prediction.fault.ends_with("_angles");
      const bool twin = std::abs(one.fit.squares - all_.front().fit.squares) < 9;
      if (precision && twin && all_.front().fit.whole()) continue;
      fitting.push_back(one);
      Candidate& kept = fitting.back();
      kept.weight = kept.prediction.prior * std::exp(-more / 8) * penalty(kept);
      sum += kept.weight;
    }
    for (Candidate& one : fitting) one.weight /= sum;
    std::stable_sort(fitting.begin(), fitting.end(),
                     [](const Candidate& a, const Candidate& b) { return a.weight > b.weight; });
    return fitting;
  }

  const Turning& turning_;
  const Rotation& rotation_;
  std::vector<Candidate> all_;
};

}  // namespace

AngleJudgement judge_angles(const Turning& turning, const Expected& expected, const std::optional<TurnRates>& rates,
                            double unit) {
  Weighing weighing(turning, expected.encoding.rotation());
  weighing.add(definite_predictions(expected, turning.rows));
  weighing.add(axis_predictions(expected, turning.rows));
  if (weighing.first().fit.whole()) {
    weighing.add(neighbours(expected));
    weighing.add_best(slow_pair_rules(expected));
    if (!weighing.first().magnitude_fault.empty()) weighing.add(magnitude_predictions(turning, expected));
    return weighing.judgement();
  }
  if (!weighing.any_whole()) {
    if (auto moved = other_positions(turning, expected, unit)) weighing.add({std::move(*moved)});
  }
  if (weighing.none_fits_well()) {
    weighing.add(fitted_parameters(turning, expected, rates, unit));
    if (weighing.any_whole()) weighing.add_best(slow_pair_rules(expected));  // a fitted number may stand for these
  }
  return weighing.judgement();
}

std::string magnitude_fault_of(const Turning& turning, const Rotation& rotation, double meant) {
  // Rounding towards zero changes all lengths by one unit.
  const double tolerance = 6 * turning.size_sigma + 4 * 0x1p-24 + 2 * turning.noise.relative;
  const auto is = [&](double size) { return std::abs(std::log(turning.size / size)) <= tolerance; };
  const double scaled = rotation.scale ? 1 : meant;
  if (is(scaled)) return "";
  if (is(1)) return "magnitude_missing";
  if (is(scaled * scaled)) return "magnitude_squared";
  return "magnitude_wrong";
}

std::vector<Verdict> judge_slice(const TurnedSlice& found, const TurnedSlice& expected) {
  std::vector<Verdict> verdicts;
  constexpr double confidence = 0.99;  // lower if other slices fit too, which is judged elsewhere
  const auto add = [&](const char* name, const std::string& what, const std::string& numbers) {
    verdicts.push_back({Verdict::About::slice, name, what, numbers, confidence});
  };
  if (found.pairing != expected.pairing) {
    add("wrong_pairing",
        "pairs are " + std::string(name_of(found.pairing)) + ", expected " + std::string(name_of(expected.pairing)),
        "no slice of the expected pairing keeps the lengths of pairs");
  } else if (found.deinterleaved_output != expected.deinterleaved_output) {
    add("wrong_output_order",
        found.deinterleaved_output ? "the output is [evens | odds], expected in place"
                                   : "the output is in place, expected [evens | odds]",
        "");
  }
  if (found.rotary_dim != expected.rotary_dim) {
    add("wrong_width", sentence(found.rotary_dim, " coordinates turn, expected ", expected.rotary_dim), "");
  }
  if (found.rotary_offset != expected.rotary_offset) {
    add("wrong_offset",
        sentence("rotation starts at coordinate ", found.rotary_offset, ", expected ", expected.rotary_offset), "");
  }
  return verdicts;
}

}  // namespace locus::doctor
