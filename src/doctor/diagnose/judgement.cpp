// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/judgement.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "doctor/diagnose/predicted_turns.h"

namespace locus::doctor {
namespace {

constexpr double good_fit = 2.5;  // in units of what storage alone explains

struct Weighed {
  Hypothesis hypothesis;
  double misfit;
};

template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream stream;
  stream.precision(4);
  (stream << ... << parts);
  return stream.str();
}

std::vector<Weighed> weigh(const Turning& turning, std::vector<Hypothesis> hypotheses, double unit) {
  std::vector<Weighed> weighed;
  for (Hypothesis& one : hypotheses) {
    const double misfit = direction_misfit(turning, one.z, unit);
    weighed.push_back({std::move(one), misfit});
  }
  return weighed;
}

std::string evidence_of(const Turning& turning, const Weighed& one) {
  const Worst worst = worst_direction(turning, one.hypothesis.z);
  return text("misfit ", one.misfit, " (1: storage noise); largest angle error ", std::abs(worst.angle),
              " rad at token ", worst.row, ", pair ", worst.pair);
}

// The first has no rival: certain. Otherwise what is simplest is only more likely.
AngleJudgement ranked(const Turning& turning, std::vector<Weighed> weighed) {
  std::stable_sort(weighed.begin(), weighed.end(), [](const Weighed& a, const Weighed& b) {
    const bool a_fits = a.misfit < good_fit;
    const bool b_fits = b.misfit < good_fit;
    if (a_fits != b_fits) return a_fits;
    if (a_fits && a.hypothesis.unlikely != b.hypothesis.unlikely) return a.hypothesis.unlikely < b.hypothesis.unlikely;
    return a.misfit < b.misfit;
  });
  std::vector<Verdict> verdicts;
  double next = 1e9;  // the best that does not fit
  for (const Weighed& one : weighed) {
    if (one.misfit >= good_fit) {
      next = std::min(next, one.misfit);
      continue;
    }
    const auto same = std::find_if(verdicts.begin(), verdicts.end(),
                                   [&](const Verdict& verdict) { return verdict.name == one.hypothesis.name; });
    if (same != verdicts.end()) {
      same->text += "; or " + one.hypothesis.text;
      continue;
    }
    verdicts.push_back(
        {Verdict::About::angles, one.hypothesis.name, one.hypothesis.text, evidence_of(turning, one), 0});
  }
  for (std::size_t n = 0; n < verdicts.size(); ++n) {
    const double alone = next > 2 * good_fit ? 0.99 : 0.9;
    const auto count = static_cast<double>(verdicts.size());
    verdicts[n].confidence = verdicts.size() == 1 ? alone : n == 0 ? 0.6 : 0.4 / (count - 1);
    if (verdicts.size() == 1) verdicts[n].evidence += text("; the next hypothesis misfits by ", next);
  }
  return {verdicts, verdicts.empty() ? 100 : weighed.front().hypothesis.unlikely};
}

// Any float32 way of computing an angle is off by a few units of its last place, whoever's order of operations it is.
bool within_float32(const Turning& turning, const Expected& expected, const std::vector<Complex>& right) {
  if (expected.positions.empty()) return false;
  for (std::size_t n = 0; n < right.size(); ++n) {
    const std::size_t pairs = static_cast<std::size_t>(turning.pairs);
    const double angle =
        expected.encoding.rotation().inv_freq[n % pairs] * static_cast<double>(expected.positions[n / pairs]);
    const double size = std::max(std::abs(turning.z[n]), 1e-300);
    const double allowed = 8 * turning.sigma[n] / size + 8 * 0x1p-24 * (1 + std::abs(angle));
    if (std::abs(std::arg(turning.z[n] * std::conj(right[n]))) > allowed) return false;
  }
  return true;
}

bool at_meant_positions(const Explanation& explanation, const Expected& expected) {
  return explanation.positions == expected.positions && !explanation.inverse && explanation.times == 1;
}

void add_other_encodings(std::vector<Verdict>& verdicts, const Expected& expected,
                         const std::vector<Explanation>& explanations) {
  for (const Explanation& explanation : explanations) {
    if (explanation.free_frequencies || verdicts.size() >= 4) continue;
    const bool positions = at_meant_positions(explanation, expected);
    verdicts.push_back({Verdict::About::angles, positions ? "other_rule" : "other_rule_and_positions",
                        "not the expected encoding, but " + explanation.text,
                        text("misfit ", explanation.misfit, " (1: storage noise)"), 0});
  }
  for (std::size_t n = 0; n < verdicts.size(); ++n) {
    verdicts[n].confidence = verdicts.size() == 1 ? 0.85 : 0.85 / static_cast<double>(verdicts.size());
  }
}

}  // namespace

AngleJudgement judge_angles(const Turning& turning, const Expected& expected, const std::optional<TurnRates>& rates,
                            std::int64_t tokens, double unit, const std::vector<Explanation>& explanations) {
  std::vector<Weighed> weighed = weigh(turning, known_faults(turning, expected, rates, unit), unit);
  const Weighed right = weighed.front();
  if (right.misfit >= good_fit) {
    if (auto moved = other_positions(turning, expected, tokens, unit)) {
      weighed.push_back(weigh(turning, {std::move(*moved)}, unit).front());
    }
    for (Weighed& one : weigh(turning, precisions(expected, turning.rows), unit)) weighed.push_back(std::move(one));
  }
  const AngleJudgement judgement = ranked(turning, std::move(weighed));
  if (!judgement.verdicts.empty()) return judgement;
  if (within_float32(turning, expected, right.hypothesis.z)) {
    return {{{Verdict::About::angles, "float32_angles",
              "angles carry float32 errors, in an order of operations that no profile has", evidence_of(turning, right),
              0.8}},
            5};
  }
  std::vector<Verdict> verdicts;
  add_other_encodings(verdicts, expected, explanations);
  if (!verdicts.empty()) return {verdicts, 50};
  return {{{Verdict::About::angles, "unexplained", "no known fault explains the angles; see the spectrum",
            "as expected would be: " + evidence_of(turning, right), 0.5}},
          100};
}

std::vector<Verdict> judge_magnitude(const Turning& turning, const Expected& expected, double unit) {
  const Rotation& rotation = expected.encoding.rotation();
  const std::vector<Complex> right = rows_of(expected.encoding, expected.role, expected.ids, turning.rows);
  // ln |z| against ln |expected|: its mean is a constant factor, its scatter what varies with the position.
  double sum = 0, squares = 0, weight = 0, plain = 0, least_sigma = 1e9;
  for (std::size_t n = 0; n < right.size(); ++n) {
    const double size = std::abs(turning.z[n]);
    if (!(size > 0)) continue;
    const double sigma = turning.sigma[n] / size;
    if (!(sigma < 0.1)) continue;
    const double ratio = std::log(size / std::abs(right[n]));
    const double w = 1 / (sigma * sigma);
    sum += w * ratio;
    squares += w * ratio * ratio;
    plain += w * std::log(size);
    weight += w;
    least_sigma = std::min(least_sigma, sigma);
  }
  if (weight == 0) return {};
  const double mean = sum / weight;
  const double scatter = std::sqrt(std::max(0.0, squares / weight - mean * mean));
  const double tolerance = unit + 1e-6;  // tables themselves are rounded, all entries alike at position 0
  const auto verdict = [&](const char* name, const std::string& what) {
    return std::vector<Verdict>{{Verdict::About::magnitude, name, what,
                                 text("|z| is ", std::exp(plain / weight), " on average, expected ", rotation.magnitude,
                                      "; ratio ", std::exp(mean), ", scatter ", scatter),
                                 0.95}};
  };
  if (rotation.scale) {
    if (scatter <= 6 * tolerance && std::abs(mean) <= 6 * tolerance) return {};
    return verdict("magnitude_wrong", "|z| does not follow the scale of the expected encoding");
  }
  if (scatter > 6 * tolerance) return verdict("magnitude_varies", "|z| varies with the token, as in xPos");
  if (std::abs(mean) <= 2 * tolerance) return {};
  const double expected_log = std::log(rotation.magnitude);
  if (std::abs(mean + expected_log) <= 2 * tolerance) {
    return verdict("magnitude_missing", "the attention factor was not applied to cos and sin");
  }
  if (std::abs(mean - expected_log) <= 2 * tolerance) {
    return verdict("magnitude_squared", "the attention factor was applied twice");
  }
  return verdict("magnitude_wrong", "cos and sin carry another factor than expected");
}

std::vector<Verdict> judge_slice(const TurnedSlice& found, const TurnedSlice& expected) {
  std::vector<Verdict> verdicts;
  constexpr double confidence = 0.99;  // less where other slices fit as well, which is judged elsewhere
  const auto add = [&](const char* name, const std::string& what, const std::string& numbers) {
    verdicts.push_back({Verdict::About::slice, name, what, numbers, confidence});
  };
  if (found.pairing != expected.pairing) {
    add("wrong_pairing",
        "pairs are " + std::string(name_of(found.pairing)) + ", expected " + std::string(name_of(expected.pairing)),
        "no slice of the expected pairing leaves so small a residual");
  } else if (found.deinterleaved_output != expected.deinterleaved_output) {
    add("wrong_output_order",
        found.deinterleaved_output ? "the output is [evens | odds], expected in place"
                                   : "the output is in place, expected [evens | odds]",
        "");
  }
  if (found.rotary_dim != expected.rotary_dim) {
    add("wrong_width", text(found.rotary_dim, " coordinates turn, expected ", expected.rotary_dim), "");
  }
  if (found.rotary_offset != expected.rotary_offset) {
    add("wrong_offset",
        text("rotation starts at coordinate ", found.rotary_offset, ", expected ", expected.rotary_offset), "");
  }
  return verdicts;
}

}  // namespace locus::doctor
