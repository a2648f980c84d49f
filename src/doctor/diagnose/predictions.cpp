// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/predictions.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "doctor/diagnose/parameter_fault.h"
#include "doctor/diagnose/position_faults.h"
#include "doctor/diagnose/predicted_turns.h"
#include "doctor/diagnose/rule_fits.h"
#include "doctor/diagnose/sentence.h"
#include "doctor/diagnose/solved_positions.h"
#include "locus/error.h"
#include "locus/scaling.h"

namespace locus::doctor {
namespace {

bool finite(const Prediction& prediction) {
  return std::all_of(prediction.z.begin(), prediction.z.end(),
                     [](const Complex& z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); });
}

std::string rule_name_of(const Expected& expected) {
  const Arguments& arguments = expected.encoding.arguments();
  return arguments.has("rule") ? arguments.text("rule") : "none";
}

std::vector<double> plain_of(std::int64_t width, double base) {
  std::vector<double> w;
  for (const DoubleDouble one : plain_frequencies(width, DoubleDouble(base))) w.push_back(one.hi);
  return w;
}

Prediction changed(Prediction prediction, std::string fault, std::string text, double prior,
                   const std::function<Complex(const Complex&)>& change) {
  prediction.fault = std::move(fault);
  prediction.text = std::move(text);
  prediction.prior = prior;
  for (Complex& z : prediction.z) z = change(z);
  return prediction;
}

void add_rule_faults(std::vector<Prediction>& all, const Expected& expected) {
  const Rotation& rotation = expected.encoding.rotation();
  const double base = expected.encoding.arguments().real("base");
  const std::string rule = rule_name_of(expected);
  const auto add = [&](const char* fault, const std::string& text, const std::vector<double>& w, double magnitude) {
    all.push_back(at_positions(fault, text, w, expected.positions));
    all.back().magnitude = magnitude;
    all.back().prior = 0.5;
  };
  if (rule == "none" && rotation.rotary_dim < rotation.head_dim) {
    std::vector<double> w = plain_of(rotation.head_dim, base);
    w.resize(static_cast<std::size_t>(rotation.pairs()));
    add("partial_as_proportional",
        "the exponents of the frequencies are spread over the whole head, not over the slice", w, 1);
  }
  if (rule == "none") return;
  const std::vector<double> plain = plain_of(rotation.rotary_dim, base);
  std::vector<double> twice = rotation.inv_freq;
  bool same = true;
  for (std::size_t i = 0; i < twice.size(); ++i) {
    same = same && std::abs(twice[i] - plain[i]) <= 1e-9 * plain[i];
    twice[i] *= twice[i] / plain[i];
  }
  if (same) return;  // the rule has no effect, e.g. dynamic NTK within the trained length
  add("rule_not_applied", "the rule " + rule + " was not applied: frequencies are those of the plain base", plain, 1);
  if (rotation.magnitude != 1) {
    add("rule_not_applied", "the rule " + rule + " was not applied to the frequencies; only its attention factor was",
        plain, rotation.magnitude);
  }
  if (rule != "proportional") {
    add("rule_applied_twice", "the rule " + rule + " was applied twice to the frequencies", twice, rotation.magnitude);
    return;
  }
  const auto turning = static_cast<std::int64_t>(
      std::count_if(rotation.inv_freq.begin(), rotation.inv_freq.end(), [](double w) { return w != 0; }));
  std::vector<double> partial = plain_of(2 * turning, base);
  partial.resize(static_cast<std::size_t>(rotation.pairs()), 0);
  add("proportional_as_partial",
      "the frequencies are those of a slice of " + std::to_string(2 * turning) +
          " coordinates, not spread over the whole head",
      partial, 1);
}

void add_casts(std::vector<Prediction>& all, const Expected& expected) {
  const Rotation& rotation = expected.encoding.rotation();
  const std::vector<double>& w = rotation.inv_freq;
  struct Cast {
    EarlyCast cast;
    const char* what;
  };
  for (const ElementType type : {ElementType::bfloat16, ElementType::float16}) {
    const std::string name(name_of(type));
    for (const Cast& one : {Cast{EarlyCast::positions, "positions were rounded to "},
                            Cast{EarlyCast::frequencies, "frequencies were rounded to "},
                            Cast{EarlyCast::angles, "angles were rounded to "}}) {
      Prediction cast{
          .fault = name + "_angles", .text = one.what + name, .z = cast_turns(w, expected.positions, type, one.cast)};
      cast.magnitude = rotation.magnitude;
      cast.prior = 0.3;
      cast.angle = all.front().angle;
      if (finite(cast)) all.push_back(std::move(cast));
    }
  }
}

// Returns the expected encoding with other arguments. Absent if its rule does not allow them.
std::optional<Encoding> changed_encoding(const Expected& expected, const Arguments& changes) {
  Arguments arguments = expected.encoding.arguments();
  for (const auto& [name, value] : changes.all()) arguments.set(name, value);
  try {
    return Encoding("rope", arguments);
  } catch (const Error&) {  // outside the range of the rule
    return std::nullopt;
  }
}

// Predicts the expected encoding with other arguments, if its rule allows them.
void add_ruled(std::vector<Prediction>& all, const Expected& expected, const Arguments& changes,
               const std::string& fault, const std::string& text, double prior) {
  const std::optional<Encoding> encoding = changed_encoding(expected, changes);
  if (!encoding) return;
  all.push_back(at_positions(fault, text, encoding->rotation().inv_freq, expected.positions));
  all.back().magnitude = encoding->rotation().magnitude;
  all.back().prior = prior;
}

// True if other arguments change the frequency of a pair by a quarter or more. What changes less is no other rule.
bool changes_a_pair(const Expected& expected, const Arguments& changes) {
  const std::optional<Encoding> encoding = changed_encoding(expected, changes);
  if (!encoding) return false;
  const std::vector<double>& meant = expected.encoding.rotation().inv_freq;
  const std::vector<double>& other = encoding->rotation().inv_freq;
  for (std::size_t i = 0; i < meant.size(); ++i) {
    if (std::abs(other[i] - meant[i]) > 0.25 * std::abs(meant[i])) return true;
  }
  return false;
}

PositionIds moved(PositionIds ids, Position by) {
  for (Position& id : ids.ids) id += by;
  return ids;
}

Prediction with_rotation(const Expected& expected, const Rotation& rotation, std::int64_t rows) {
  Prediction prediction{.fault = "as_expected", .text = "angles are as expected"};
  prediction.z = rows_of(rotation, expected.role, expected.ids, rows);
  prediction.magnitude = rotation.magnitude;
  const std::int64_t count = expected.ids.batch * expected.ids.tokens;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < rotation.pairs(); ++i) {
      double most = 0;
      for (std::int64_t axis = 0; axis < expected.ids.axes; ++axis) {
        most = std::max(most,
                        std::abs(static_cast<double>(expected.ids.axis(axis)[static_cast<std::size_t>(row % count)])));
      }
      prediction.angle.push_back(most * std::abs(rotation.inv_freq[static_cast<std::size_t>(i)]));
    }
  }
  return prediction;
}

// Predicts an encoding whose axes are data with another order, another index of frequencies, or plain ids.
void add_section_arguments(std::vector<Prediction>& all, const Expected& expected, std::int64_t rows) {
  const Arguments& arguments = expected.encoding.arguments();
  if (!arguments.has("axes") || arguments.text("axes") != "sections") return;
  const auto add = [&](const Arguments& changes, const char* fault, const std::string& text) {
    const std::optional<Encoding> other = changed_encoding(expected, changes);
    if (!other) return;
    const Rotation& meant = expected.encoding.rotation();
    const Rotation& found = other->rotation();
    if (found.axis == meant.axis && found.inv_freq == meant.inv_freq && found.phases.size() == meant.phases.size()) {
      return;
    }
    all.push_back(with_rotation(expected, found, rows));
    all.back().fault = fault;
    all.back().text = text;
    all.back().prior = 0.4;
  };
  const bool restarts = expected.encoding.rotation().restarts_per_axis;
  add({{"frequency_index", std::string(restarts ? "running" : "restarting")}}, "axis_frequencies",
      restarts ? "the index of the frequencies runs on from axis to axis instead of restarting in each"
               : "the index of the frequencies restarts in each axis instead of running on");
  for (const char* order : {"chunked", "in_turn", "first_last", "balanced"}) {
    if (arguments.has("section_order") && arguments.text("section_order") != order) {
      add({{"section_order", std::string(order)}}, "sections_cut", sentence("sections are in the order ", order));
    }
  }
  if (!arguments.has("id_scale") && !arguments.has("id_shift")) return;
  Arguments plain;
  for (const auto& [name, value] : arguments.all()) {
    if (name != "id_scale" && name != "id_shift") plain.set(name, value);
  }
  const Encoding unscaled("rope", plain);
  all.push_back(with_rotation(expected, unscaled.rotation(), rows));
  all.back().fault = "coordinates_not_scaled";
  all.back().text = "ids were used as they are: id_scale and id_shift are missing";
  all.back().prior = 0.4;
}

// Where an offset map has queries or keys of far pairs: engines that rotate once per region dump these too.
void add_offset_regions(std::vector<Prediction>& all, const Expected& expected) {
  const Rotation& rotation = expected.encoding.rotation();
  if (!rotation.offsets || expected.positions.empty()) return;
  const OffsetMap& map = *rotation.offsets;
  std::vector<double> w = rotation.inv_freq;
  for (double& one : w) one /= static_cast<double>(map.denominator);
  for (std::size_t n = 0; n < map.regions.size(); ++n) {
    const auto& place = expected.role == Role::query ? map.regions[n].query_at : map.regions[n].key_at;
    std::vector<Position> there;
    bool same = true;
    for (const Position p : expected.positions) {
      there.push_back(place(p));
      same = same && there.back() == p * map.denominator;
    }
    if (same) continue;  // these tokens do not show the map
    all.push_back(at_positions("offset_region",
                               sentence("tokens are rotated to where region ", n,
                                        " of the offset map has them, for keys that are far from their query"),
                               w, there));
    all.back().magnitude = rotation.magnitude;
    all.back().prior = 0.4;
  }
}

}  // namespace

Prediction at_positions(std::string fault, std::string text, const std::vector<double>& w,
                        const std::vector<Position>& positions, double times) {
  Prediction prediction{.fault = std::move(fault), .text = std::move(text)};
  prediction.z.reserve(w.size() * positions.size());
  prediction.angle.reserve(prediction.z.capacity());
  for (const Position p : positions) {
    for (const double frequency : w) {
      const double angle = times * frequency * static_cast<double>(p);
      prediction.z.push_back(std::polar(1.0, wrapped(angle)));
      prediction.angle.push_back(angle);
    }
  }
  return prediction;
}

Prediction as_expected(const Expected& expected, std::int64_t rows) {
  return with_rotation(expected, expected.encoding.rotation(), rows);
}

std::vector<Prediction> definite_predictions(const Expected& expected, std::int64_t rows) {
  std::vector<Prediction> all = {as_expected(expected, rows)};
  const double magnitude = all.front().magnitude;
  all.push_back(changed(all.front(), "inverse_rotation", "the rotation runs backwards (the sign of sin is flipped)",
                        0.5, [](const Complex& z) { return std::conj(z); }));
  all.push_back(changed(all.front(), "rotated_twice", "the rotation was applied twice", 0.5,
                        [](const Complex& z) { return z * z; }));
  all.back().magnitude = magnitude * magnitude;
  for (double& angle : all.back().angle) angle *= 2;
  if (magnitude != 1) {
    all.push_back(all.back());
    all.back().magnitude = magnitude;
  }
  add_offset_regions(all, expected);
  if (expected.positions.empty() || expected.encoding.scheme().name != "rope") return all;
  add_rule_faults(all, expected);
  add_casts(all, expected);
  return all;
}

std::vector<Prediction> axis_predictions(const Expected& expected, std::int64_t rows) {
  const Rotation& rotation = expected.encoding.rotation();
  if (rotation.axes < 2 || rotation.map.kind != PositionMap::Kind::direct) return {};
  std::vector<Prediction> all;
  const auto add = [&](const char* fault, const std::string& text, const std::vector<std::uint8_t>& axis) {
    if (axis == rotation.axis) return;
    Rotation other = rotation;
    other.axis = axis;
    all.push_back(with_rotation(expected, other, rows));
    all.back().fault = fault;
    all.back().text = text;
    all.back().prior = 0.5;
  };
  std::vector<std::uint8_t> order(static_cast<std::size_t>(rotation.axes));
  std::iota(order.begin(), order.end(), std::uint8_t{0});
  while (std::next_permutation(order.begin(), order.end())) {
    std::vector<std::uint8_t> axis;
    std::string text = "sections follow axes";
    for (const std::uint8_t one : order) text.append(" ").append(std::to_string(one));
    for (const std::uint8_t one : rotation.axis) axis.push_back(order[one]);
    add("sections_swapped", text + " instead of 0 1 2 ...", axis);
  }
  const std::size_t pairs = rotation.axis.size();
  for (std::uint8_t one = 0; one < rotation.axes; ++one) {
    add("sections_cut", "all pairs follow axis " + std::to_string(one), std::vector<std::uint8_t>(pairs, one));
  }
  std::vector<std::uint8_t> in_turn, sorted = rotation.axis;
  for (std::size_t i = 0; i < pairs; ++i) {
    in_turn.push_back(static_cast<std::uint8_t>(i % static_cast<std::size_t>(rotation.axes)));
  }
  std::sort(sorted.begin(), sorted.end());
  add("sections_cut", "axes alternate pair by pair", in_turn);
  add("sections_cut", "sections are consecutive instead of alternating", sorted);
  std::vector<std::uint8_t> even;
  for (std::size_t i = 0; i < pairs; ++i) {
    even.push_back(static_cast<std::uint8_t>(i * static_cast<std::size_t>(rotation.axes) / pairs));
  }
  add("sections_cut", "sections are of equal size", even);
  std::vector<std::uint8_t> halved;  // cut in coordinates of the head instead of pairs
  for (std::size_t i = 0; i < pairs; ++i) halved.push_back(rotation.axis[i / 2]);
  add("sections_cut", "sections are twice as long as they should be", halved);
  std::vector<std::uint8_t> backwards(rotation.axis.rbegin(), rotation.axis.rend());
  add("sections_cut", "sections are counted from the last pair", backwards);
  add_section_arguments(all, expected, rows);
  for (const Position by : {Position{1}, Position{-1}}) {
    Expected other = expected;
    other.ids = moved(expected.ids, by);
    try {
      expected.encoding.check_positions(other.ids.ids);
      all.push_back(with_rotation(other, rotation, rows));
      all.back().fault = "position_offset";
      all.back().text = "ids of all axes are off by " + std::to_string(by);
      all.back().prior = 0.5;
    } catch (const Error&) {  // outside the range of the encoding
    }
  }
  return all;
}

std::vector<Prediction> neighbours(const Expected& expected) {
  std::vector<Prediction> all;
  const Arguments& arguments = expected.encoding.arguments();
  if (expected.positions.empty() || expected.encoding.scheme().name != "rope") return all;
  for (const char* name : {"base", "factor"}) {
    if (!arguments.has(name)) continue;
    const double meant = arguments.real(name);
    for (const double by : {1.5, 1 / 1.5}) {
      const double value = std::max(1.0, meant * by);
      if (value == meant) continue;  // a factor of 1 has no lower neighbour
      add_ruled(all, expected, {{name, value}}, std::string(name) + "_wrong",
                sentence(name, " may be ", value, ", expected ", meant), 0.12);
    }
  }
  return all;
}

std::vector<Prediction> slow_pair_rules(const Expected& expected) {
  constexpr double prior = 0.15;
  std::vector<Prediction> all;
  const Arguments& arguments = expected.encoding.arguments();
  if (expected.positions.empty() || expected.encoding.scheme().name != "rope") return all;
  const auto add = [&](const Arguments& changes, const char* fault, const std::string& text) {
    if (changes_a_pair(expected, changes)) add_ruled(all, expected, changes, fault, text, prior);
  };
  if (arguments.has("original_length")) {
    const std::int64_t meant = arguments.integer("original_length");
    for (const std::int64_t length : {meant / 4, meant / 2, meant * 2, meant * 4}) {
      add({{"original_length", std::max(std::int64_t{1}, length)}}, "other_rule",
          sentence("original_length may be ", length, ", expected ", meant));
    }
  }
  if (rule_name_of(expected) != "none") return all;
  for (std::int64_t length = 1 << 11; length <= 1 << 18; length *= 2) {
    for (const double factor : {2.0, 8.0}) {
      add({{"rule", std::string("llama3")}, {"factor", factor}, {"original_length", length}}, "rule_of_another_layer",
          sentence("slow pairs may turn as under another rule, for example llama3 with factor ", factor,
                   " and original_length ", length));
    }
  }
  return all;
}

std::vector<Prediction> magnitude_predictions(const Turning& turning, const Expected& expected) {
  std::vector<Prediction> all;
  const std::string rule = rule_name_of(expected);
  const double factor = std::exp((turning.size - 1) / 0.1);  // YaRN: magnitude = 0.1 ln factor + 1
  if (expected.positions.empty() || !(factor > 1.05 && factor < 1000)) return all;
  std::ostringstream text;
  text.precision(4);
  if (rule == "yarn" && !expected.encoding.arguments().has("attention_factor")) {
    text << "factor is " << factor << " according to the magnitude, expected "
         << expected.encoding.arguments().real("factor");
    add_ruled(all, expected, {{"factor", factor}}, "factor_wrong", text.str(), 0.5);
  }
  if (rule != "none") return all;
  text << "the magnitude is that of yarn with factor " << factor;
  for (const std::int64_t length : {2048, 4096, 8192, 32768}) {
    add_ruled(all, expected,
              {{"rule", std::string("yarn")}, {"factor", factor}, {"original_length", std::int64_t{length}}},
              "rule_of_another_layer", text.str(), 0.15);
  }
  return all;
}

std::vector<Prediction> fitted_parameters(const Turning& turning, const Expected& expected,
                                          const std::optional<TurnRates>& rates, double unit) {
  std::vector<Prediction> all;
  if (expected.positions.empty() || expected.encoding.scheme().name != "rope") return all;
  for (const char* name : {"base", "factor"}) {
    const auto fault = fit_parameter(turning, expected, rates, name, unit);
    if (!fault) continue;
    const double meant = expected.encoding.arguments().real(name);
    if (std::abs(std::log(fault->value / meant)) < 1e-4) continue;  // at large positions every angle fits some base
    std::ostringstream text;
    text.precision(6);
    text << name << " is " << fault->value << ", expected " << meant;
    const double width = static_cast<double>(turning.slice.rotary_dim);
    if (std::string_view(name) == "base" && fault->value > meant && !fault->common && width > 2) {
      text << "; the rule ntk with factor " << std::pow(fault->value / meant, (width - 2) / width) << " is the same";
    }
    all.push_back(at_positions(std::string(name) + "_wrong", text.str(), fault->w, expected.positions));
    all.back().magnitude = fault->magnitude;
    all.back().prior = fault->common ? common_base_prior : 0.2;
  }
  return all;
}

std::optional<Prediction> other_positions(const Turning& turning, const Expected& expected, double unit) {
  const Rotation& rotation = expected.encoding.rotation();
  if (expected.positions.empty() || rotation.map.kind != PositionMap::Kind::direct) return std::nullopt;
  const Wheels wheels{rotation.inv_freq, {}};
  const SolvedPositions solved = solve_positions(turning, expected.tokens, wheels, unit, expected.positions);
  if (solved.unexplained * 2 > turning.rows) return std::nullopt;
  const PositionFault fault = name_position_fault(expected.positions, solved.p, expected.tokens);
  if (fault.name.empty()) return std::nullopt;
  Prediction prediction = at_positions(fault.name, fault.text, wheels.w, solved.p);
  prediction.positions = solved.p;
  prediction.magnitude = rotation.magnitude;
  prediction.prior = fault.name == "positions_differ" ? 0.05 : 0.5;
  return prediction;
}

}  // namespace locus::doctor
