// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/hypotheses.h"

#include <cmath>
#include <sstream>

#include "doctor/diagnose/parameter_fault.h"
#include "doctor/diagnose/position_faults.h"
#include "doctor/diagnose/predicted_turns.h"
#include "doctor/diagnose/solved_positions.h"
#include "locus/error.h"
#include "locus/scaling.h"

namespace locus::doctor {
namespace {

std::vector<Complex> conjugates(std::vector<Complex> z) {
  for (Complex& one : z) one = std::conj(one);
  return z;
}

std::vector<Complex> squares(std::vector<Complex> z) {
  for (Complex& one : z) one *= one;
  return z;
}

std::string rule_of(const Expected& expected) {
  const Arguments& arguments = expected.encoding.arguments();
  return arguments.has("rule") ? arguments.text("rule") : "none";
}

std::vector<double> plain_of(const Expected& expected) {
  const Rotation& rotation = expected.encoding.rotation();
  const double base = expected.encoding.arguments().real("base");
  std::vector<double> w;
  for (const DoubleDouble one : plain_frequencies(rotation.rotary_dim, DoubleDouble(base))) w.push_back(one.hi);
  return w;
}

void add_rule_faults(std::vector<Hypothesis>& faults, const Expected& expected) {
  const std::string rule = rule_of(expected);
  if (rule == "none") return;
  const std::vector<double> plain = plain_of(expected);
  std::vector<double> twice = expected.encoding.rotation().inv_freq;
  bool same = true;
  for (std::size_t i = 0; i < twice.size(); ++i) {
    same = same && std::abs(twice[i] - plain[i]) <= 1e-9 * plain[i];
    twice[i] *= twice[i] / plain[i];
  }
  if (same) return;  // the rule changes nothing, e.g. dynamic NTK within the trained length
  faults.push_back({"rule_not_applied",
                    "the rule " + rule + " was not applied: frequencies are those of the plain base",
                    turns_at(plain, expected.positions), 2});
  faults.push_back({"rule_applied_twice", "the rule " + rule + " was applied twice to the frequencies",
                    turns_at(twice, expected.positions), 3});
}

void add_parameter_faults(std::vector<Hypothesis>& faults, const Turning& turning, const Expected& expected,
                          const std::optional<TurnRates>& rates, double unit) {
  for (const char* name : {"base", "factor"}) {
    const auto fault = fit_parameter(turning, expected, rates, name, unit);
    if (!fault) continue;
    std::ostringstream text;
    text.precision(6);
    text << name << " is " << fault->value << ", expected " << expected.encoding.arguments().real(name);
    faults.push_back(
        {std::string(name) + "_wrong", text.str(), turns_at(fault->w, expected.positions), fault->common ? 4 : 6});
  }
}

std::string precision_name(std::string_view arithmetic) { return std::string(arithmetic) + "_angles"; }

void add_encoding(std::vector<Hypothesis>& all, const Expected& expected, std::int64_t rows, Arguments arguments,
                  const std::string& name, const std::string& text, int unlikely) {
  try {
    const Encoding other(expected.encoding.scheme().name, arguments);
    all.push_back({name, text, rows_of(other, expected.role, expected.ids, rows), unlikely});
  } catch (const Error&) {  // a profile may not know these arguments
  }
}

}  // namespace

std::vector<Hypothesis> known_faults(const Turning& turning, const Expected& expected,
                                     const std::optional<TurnRates>& rates, double unit) {
  std::vector<Hypothesis> faults;
  const std::vector<Complex> right = rows_of(expected.encoding, expected.role, expected.ids, turning.rows);
  faults.push_back({"as_expected", "angles are as expected", right, 0});
  faults.push_back(
      {"inverse_rotation", "the rotation runs backwards (the sign of sin is flipped)", conjugates(right), 1});
  faults.push_back({"rotated_twice", "the rotation was applied twice", squares(right), 1});
  if (expected.positions.empty() || expected.encoding.scheme().name != "rope") return faults;
  add_rule_faults(faults, expected);
  add_parameter_faults(faults, turning, expected, rates, unit);
  return faults;
}

std::vector<Hypothesis> precisions(const Expected& expected, std::int64_t rows) {
  std::vector<Hypothesis> all;
  const Arguments& arguments = expected.encoding.arguments();
  if (!arguments.has("profile")) return all;
  for (const char* profile : {"hf", "vllm", "ggml", "exact"}) {
    if (arguments.text("profile") == profile) continue;
    Arguments other = arguments;
    other.set("profile", std::string(profile));
    const bool exact = std::string_view(profile) == "exact";
    add_encoding(all, expected, rows, other, precision_name(exact ? "exact" : "float32"),
                 exact ? "angles are exact, those expected carry float32 errors"
                       : std::string("angles carry the float32 errors of profile ") + profile,
                 5);
  }
  for (const char* type : {"bfloat16", "float16"}) {
    if (arguments.text("table_type") == type) continue;
    Arguments other = arguments;
    other.set("table_type", std::string(type));
    add_encoding(all, expected, rows, other, std::string(type) + "_tables",
                 std::string("cos and sin were rounded to ") + type, 6);
  }
  if (expected.positions.empty()) return all;
  const std::vector<double>& w = expected.encoding.rotation().inv_freq;
  for (const ElementType type : {ElementType::bfloat16, ElementType::float16}) {
    const std::string name(name_of(type));
    all.push_back({precision_name(name), "positions were rounded to " + name,
                   cast_turns(w, expected.positions, type, EarlyCast::positions), 5});
    all.push_back({precision_name(name), "frequencies were rounded to " + name,
                   cast_turns(w, expected.positions, type, EarlyCast::frequencies), 5});
    all.push_back({precision_name(name), "angles were rounded to " + name,
                   cast_turns(w, expected.positions, type, EarlyCast::angles), 5});
  }
  return all;
}

std::optional<Hypothesis> other_positions(const Turning& turning, const Expected& expected, std::int64_t tokens,
                                          double unit) {
  if (expected.positions.empty() || expected.encoding.rotation().map.kind != PositionMap::Kind::direct) {
    return std::nullopt;
  }
  const Wheels wheels{expected.encoding.rotation().inv_freq, {}};
  const SolvedPositions solved = solve_positions(turning, tokens, wheels, unit, expected.positions);
  if (solved.unexplained > 0) return std::nullopt;
  const PositionFault fault = name_position_fault(expected.positions, solved.p, tokens);
  if (fault.name.empty()) return std::nullopt;
  const bool told_otherwise = fault.name == "positions_negated" || fault.name == "positions_doubled";
  const bool arbitrary = fault.name == "positions_differ";
  return Hypothesis{fault.name, fault.text, turns_at(wheels.w, solved.p), arbitrary ? 6 : told_otherwise ? 2 : 1};
}

}  // namespace locus::doctor
