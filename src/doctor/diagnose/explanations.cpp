// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/explanations.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "doctor/diagnose/rule_fits.h"
#include "doctor/diagnose/solved_positions.h"
#include "locus/scaling.h"

namespace locus::doctor {
namespace {

constexpr double fitting_misfit = 2.5;

// A rule fit and how its angles were applied.
struct Way {
  RuleFit fit;
  bool inverse = false;
  int times = 1;
  double divisor = 1;  // divides the positions instead of the frequencies
};

Turning turned_back(Turning turning) {
  for (Complex& z : turning.z) z = std::conj(z);
  return turning;
}

Wheels wheels_of(const Way& way, const Turning& turning, const TurnRates* rates, bool uncertain) {
  if (way.fit.free_frequencies && rates != nullptr) return {rates->w, rates->sigma};
  Wheels wheels{.w = exact_rule_frequencies(way.fit, turning.slice.rotary_dim), .sigma = {}};
  for (std::size_t i = 0; i < wheels.w.size(); ++i) {
    wheels.w[i] *= static_cast<double>(way.times) / way.divisor;
    const double per_log_base = 2 * static_cast<double>(i) / static_cast<double>(turning.slice.rotary_dim);
    // The remaining uncertainty of the rates: the base, and each rate on its own if other parameters are uncertain too.
    const double rate = rates == nullptr ? 0 : 2 * rates->sigma[i] * static_cast<double>(way.times) / way.divisor;
    if (uncertain) wheels.sigma.push_back(std::max(rate, wheels.w[i] * per_log_base * way.fit.base_sigma));
  }
  return wheels;
}

// The same for trying parameters, only as precise as the solved positions require.
Wheels quick_wheels_of(const Way& way, const Turning& turning, const SolvedPositions& solved, double unit) {
  double far = 0;
  for (const Position p : solved.p) far = std::max(far, std::abs(static_cast<double>(p)));
  Wheels wheels{.w = rule_frequencies_for(way.fit, turning.slice.rotary_dim, far, unit), .sigma = {}};
  for (double& w : wheels.w) w *= static_cast<double>(way.times) / way.divisor;
  return wheels;
}

double misfit_at(const Turning& turning, const Wheels& wheels, const SolvedPositions& solved, double unit) {
  double sum = 0;
  double count = 0;
  const std::int64_t stride = turning.rows / 64 + 1;  // enough rows to decide
  for (std::int64_t row = 0; row < turning.rows; row += stride) {
    const auto n = static_cast<std::size_t>(row);
    if (!solved.found[n]) continue;
    const double misfit = row_misfit(turning, row, wheels, static_cast<double>(solved.p[n]), unit);
    sum += misfit * misfit;
    ++count;
  }
  return count == 0 ? 1e9 : std::sqrt(sum / count);
}

// Large positions determine the parameters more precisely than steps do.
void refine(Way& way, const Turning& turning, const SolvedPositions& solved, double unit) {
  double step = 2 * way.fit.base_sigma;
  double best = misfit_at(turning, quick_wheels_of(way, turning, solved, unit), solved, unit);
  if (best < 0.5) return;  // already at the noise
  for (int round = 0; round < 40 && step > 1e-8; ++round) {
    bool better = false;
    for (const double move : {step, -step, 10 * step, -10 * step}) {
      Way moved = way;
      const bool move_factor = std::abs(move) > 1.5 * step;  // larger steps: the factor changes slow pairs only
      if (!move_factor) {
        moved.fit.base *= std::exp(move);
      } else if (moved.fit.arguments.has("factor")) {
        moved.fit.arguments.set("factor", std::max(1.0, moved.fit.arguments.real("factor") * std::exp(move)));
      } else {
        continue;
      }
      const double misfit = misfit_at(turning, quick_wheels_of(moved, turning, solved, unit), solved, unit);
      if (misfit >= best) continue;
      best = misfit;
      way = moved;
      better = true;
      break;
    }
    if (!better) step /= 2;
  }
}

bool is_default(const std::string& rule, const std::string& name, const Value& value) {
  const Parameter& parameter = find_parameter("rope", find_rule(rule).parameters, name);
  return parameter.fallback && to_text(*parameter.fallback) == to_text(value);
}

std::string text_of(const Way& way) {
  std::ostringstream text;
  text.precision(6);
  if (way.fit.free_frequencies) {
    text << "no known rule: one divisor per pair, of base " << way.fit.base;
  } else {
    text << "rule " << way.fit.rule << ", base " << way.fit.base;
    for (const auto& [name, value] : way.fit.arguments.all()) {
      if (is_default(way.fit.rule, name, value)) continue;
      const double* real = std::get_if<double>(&value);
      text << ", " << name << ' ';
      if (real != nullptr) {
        text << *real;
      } else {
        text << to_text(value);
      }
    }
  }
  if (way.inverse) text << ", rotated backwards";
  if (way.times > 1) text << ", applied " << way.times << " times";
  if (way.divisor != 1) text << ", positions divided by " << way.divisor;
  return text.str();
}

std::optional<Explanation> attempt(Way way, const Turning& turning, const TurnRates* rates, const AngleSearch& search,
                                   bool uncertain) {
  if (way.fit.base < 1) return std::nullopt;  // rising frequencies: no rule has them
  Wheels wheels = wheels_of(way, turning, rates, uncertain);
  // Wide tolerances make the search slow, and the measured rates already gave the positions.
  const bool placed = uncertain && !search.placed.empty();
  std::vector<Position> guess = placed ? search.placed : search.guess;
  if (placed) {
    for (Position& p : guess) p /= way.times;  // solved as if the rotation had been applied once
  }
  const SolvedPositions solved = solve_positions(turning, search.tokens, wheels, search.unit, guess, !placed);
  if (uncertain && solved.unexplained == 0) {
    refine(way, turning, solved, search.unit);
    wheels = wheels_of(way, turning, rates, false);
  }
  if (solved.unexplained * 10 > turning.rows) return std::nullopt;
  const double misfit = misfit_at(turning, wheels, solved, search.unit);
  if (misfit > fitting_misfit) return std::nullopt;
  Explanation result{.scheme = "rope",
                     .arguments = slice_arguments(turning.slice, search.head_dim),
                     .inverse = way.inverse,
                     .times = way.times,
                     .position_divisor = way.divisor,
                     .positions = solved.p,
                     .misfit = misfit,
                     .text = {},
                     .free_frequencies = way.fit.free_frequencies,
                     .complexity = way.fit.complexity};
  if (way.fit.base < 500 || way.fit.base > 1e8) result.complexity += 3;  // no model has such a base
  if (way.inverse || way.times > 1 || way.divisor != 1) result.complexity += 1;
  if (solved.p != search.guess) result.complexity += 1;
  result.arguments.set("rule", way.fit.rule);
  result.arguments.set("base", way.fit.base);
  for (const auto& [name, value] : way.fit.arguments.all()) result.arguments.set(name, value);
  result.text = text_of(way) + ", at positions " + describe_positions(solved.p);
  if (solved.unexplained > 0) result.text += ", except for " + std::to_string(solved.unexplained) + " tokens";
  return result;
}

// Rounding to a common base may be wrong; then the base stays free.
std::optional<Explanation> explained(const Way& way, const Turning& turning, const TurnRates* rates,
                                     const AngleSearch& search) {
  const bool open = way.fit.base_sigma > 1e-7;
  const bool common = common_base(way.fit.base, 1e-9).has_value();
  auto found = attempt(way, turning, rates, search, open && !common);
  if (found || !open || !common) return found;
  found = attempt(way, turning, rates, search, true);
  if (found) found->complexity += 2;
  return found;
}

// Returns the alternative descriptions of the same angles.
std::vector<Way> ways_of(const RuleFit& fit, bool inverse, int speed) {
  std::vector<Way> ways;
  if (fit.scale < 1) {
    Way linear{fit, inverse, 1, 1};
    linear.fit.rule = "linear";
    linear.fit.arguments = {{"factor", 1 / fit.scale}};
    linear.fit.scale = 1;
    ways.push_back(linear);
    Way divided{fit, inverse, 1, 1 / fit.scale};
    divided.fit.scale = 1;
    ways.push_back(divided);
    return ways;
  }
  if (fit.scale > 1) return ways;  // no rule makes pairs faster
  if (speed > 1) ways.push_back({fit, inverse, speed, 1});
  ways.push_back({fit, inverse, 1, 1});
  return ways;
}

// Returns n if the fastest pair turns by n > 1 radians per step: the rotation was applied n times, or positions advance
// by n.
int speed_of(const TurnRates& rates) {
  const double fastest = rates.w.front();
  const double whole = std::round(fastest);
  return whole >= 2 && std::abs(fastest - whole) < std::max(6 * rates.sigma.front(), 1e-6) ? static_cast<int>(whole)
                                                                                           : 1;
}

bool has_rule(const std::vector<Explanation>& found, const std::string& rule) {
  return std::any_of(found.begin(), found.end(),
                     [&](const Explanation& one) { return one.arguments.text("rule") == rule; });
}

void add_without_rates(std::vector<Explanation>& found, const Turning& turning, const AngleSearch& search) {
  std::vector<double> bases = {1e4, 5e5, 1e6, 1e5};
  if (search.base) bases.insert(bases.begin(), *search.base);
  for (const double base : bases) {
    const Way way{rule_at("none", base, {}), false, 1, 1};
    if (auto explanation = explained(way, turning, nullptr, search)) found.push_back(std::move(*explanation));
  }
}

}  // namespace

Arguments slice_arguments(const TurnedSlice& slice, std::int64_t head_dim) {
  Arguments arguments{{"head_dim", head_dim},
                      {"pairing", std::string(name_of(slice.pairing))},
                      {"rotary_dim", slice.rotary_dim},
                      {"rotary_offset", slice.rotary_offset}};
  if (slice.deinterleaved_output) arguments.set("output_order", std::string("deinterleaved"));
  return arguments;
}

std::string describe_positions(const std::vector<Position>& positions) {
  if (positions.empty()) return "none";
  if (std::all_of(positions.begin(), positions.end(), [&](Position p) { return p == positions.front(); })) {
    return (positions.size() > 1 ? "all " : "") + std::to_string(positions.front());
  }
  std::string text;
  int runs = 0;
  for (std::size_t start = 0; start < positions.size();) {
    std::size_t end = start;
    while (end + 1 < positions.size() && positions[end + 1] == positions[end] + 1) ++end;
    if (++runs > 6) return text + ", ...";
    if (!text.empty()) text += ", ";
    text += std::to_string(positions[start]);
    if (end > start) text += " ... " + std::to_string(positions[end]);
    start = end + 1;
  }
  return text;
}

std::vector<Explanation> explain(const Turning& turning, const std::optional<TurnRates>& rates,
                                 const AngleSearch& given) {
  AngleSearch search = given;
  std::vector<Explanation> found;
  if (!rates) {
    add_without_rates(found, turning, search);
    return found;
  }
  TurnRates forward = *rates;
  const bool inverse = rates->w.front() < 0;
  const Turning& seen = turning;
  const Turning mirrored = inverse ? turned_back(turning) : Turning{};
  if (inverse) {
    for (double& w : forward.w) w = -w;
  }
  const int speed = speed_of(forward);
  TurnRates single = forward;
  for (std::size_t i = 0; i < single.w.size(); ++i) {
    single.w[i] /= speed;
    single.sigma[i] /= speed;
  }
  const SolvedPositions placed =
      solve_positions(inverse ? mirrored : seen, search.tokens, {single.w, single.sigma}, search.unit, search.guess);
  search.placed = placed.p;
  const bool whole_head = turning.slice.rotary_dim == search.head_dim;
  for (const RuleFit& fit : fit_rules(single, turning.slice.rotary_dim, whole_head, search.base)) {
    if (fit.free_frequencies && !found.empty()) continue;
    if (fit.ramp && has_rule(found, fit.rule)) continue;  // one trained length represents its neighbours
    for (const Way& way : ways_of(fit, inverse, speed)) {
      if (auto one = explained(way, inverse ? mirrored : seen, &single, search)) found.push_back(std::move(*one));
      if (!inverse || way.fit.free_frequencies) continue;
      Way ahead = way;  // forwards at negated positions
      ahead.inverse = false;
      if (auto one = explained(ahead, seen, &single, search)) found.push_back(std::move(*one));
    }
  }
  return found;
}

}  // namespace locus::doctor
