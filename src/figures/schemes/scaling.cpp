// SPDX-License-Identifier: Apache-2.0
// What the rules that stretch RoPE do to each frequency: by how much they divide it.
#include <algorithm>
#include <cmath>
#include <set>

#include "figures/registry.h"
#include "figures/spec.h"
#include "locus/error.h"
#include "locus/scaling.h"

namespace locus::figures {
namespace {

/// The stretch that all rules are asked for: `factor` times the trained length.
struct Stretch {
  double factor = 8;
  std::int64_t trained = 8192;
};

Stretch stretch_of(const Drawn& drawn) {
  const Arguments& given = drawn.encoding.arguments();
  Stretch stretch;
  if (const auto length = given.maybe_integer("original_length")) {
    stretch.trained = *length;
  } else if (drawn.training_length) {
    stretch.trained = *drawn.training_length;
  }
  const auto factor = given.maybe_real("factor");
  const auto longest = given.maybe_integer("max_length");
  if (factor) {
    stretch.factor = *factor;
  } else if (longest && *longest > stretch.trained) {
    stretch.factor = static_cast<double>(*longest) / static_cast<double>(stretch.trained);
  }
  return stretch;
}

/// The same rotation under another rule: what the rule shares with the given encoding is taken from there, the stretch
/// is the same for all.
Encoding under_rule(const Encoding& given, const Rule& rule, const Stretch& stretch) {
  const Arguments& old = given.arguments();
  Arguments arguments{{"head_dim", old.integer("head_dim")},
                      {"pairing", old.text("pairing")},
                      {"base", old.real("base")},
                      {"rule", std::string(rule.name)}};
  if (const auto width = old.maybe_integer("rotary_dim")) arguments.set("rotary_dim", *width);
  const bool same_rule = old.text("rule") == rule.name;
  for (const Parameter& parameter : rule.parameters) {
    const Value* value = old.find(parameter.name);
    if (value != nullptr && (same_rule || parameter.name != "max_length")) arguments.set(parameter.name, *value);
  }
  const std::int64_t stretched = std::llround(static_cast<double>(stretch.trained) * stretch.factor);
  const auto fill = [&](std::string_view name, const Value& value) {
    const bool known = std::any_of(rule.parameters.begin(), rule.parameters.end(),
                                   [&](const Parameter& parameter) { return parameter.name == name; });
    if (known && !arguments.has(name)) arguments.set(name, value);
  };
  fill("factor", stretch.factor);
  fill("original_length", stretch.trained);
  if (rule.name == "dynamic_ntk") fill("max_length", stretch.trained);  // its name for the trained length
  fill("rotary_fraction", 0.5);
  for (const char* list : {"short_factor", "long_factor"}) {
    require(rule.name != "longrope" || arguments.has(list), "the rule longrope needs ", list,
            ", a list of a model's own: give its --config, or --set rule=longrope with the lists");
  }
  return rule.length_dependent ? Encoding("rope", arguments).at_length(stretched) : Encoding("rope", arguments);
}

std::vector<std::string> rules_of(const Request& request) {
  if (!request.rules.empty()) {
    require(std::set<std::string>(request.rules.begin(), request.rules.end()).size() == request.rules.size(),
            "rules must differ from each other");
    return request.rules;
  }
  std::vector<std::string> rules = {"none", "linear", "ntk", "dynamic_ntk", "yarn", "llama3"};
  const std::string& own = request.encodings.front().encoding.arguments().text("rule");
  if (std::find(rules.begin(), rules.end(), own) == rules.end()) rules.push_back(own);
  return rules;
}

/// Says of the rules which slow every pair and which leave the fastest alone.
struct Finding {
  std::vector<std::string> every, slow_only;

  void add(const std::string& rule, double fastest, double slowest) {
    const auto same = [](double a, double b) { return std::fabs(a - b) < 1e-9 * b; };
    if (same(fastest, 1) && !same(slowest, 1)) slow_only.push_back(rule);
    if (!same(fastest, 1)) every.push_back(rule);
  }
  std::string text() const {
    std::string result = every.empty() ? "" : listed(every) + (every.size() == 1 ? " slows" : " slow") + " every pair";
    if (!slow_only.empty()) {
      result += (result.empty() ? "" : "; ") + listed(slow_only) + (slow_only.size() == 1 ? " leaves" : " leave") +
                " the fastest as they are";
    }
    return result.empty() ? "No rule here changes a frequency" : result;
  }
};

Figure make(const Request& request) {
  const Drawn& drawn = request.encodings.front();
  require(drawn.encoding.scheme().name == "rope", "scaling is about the rules of rope, got ",
          drawn.encoding.scheme().name);
  const Stretch stretch = stretch_of(drawn);
  const std::vector<std::string> rules = rules_of(request);
  const std::vector<double> plain = under_rule(drawn.encoding, find_rule("none"), stretch).rotation().inv_freq;
  Json rows = Json::array();
  Finding finding;
  bool still = false;
  for (const std::string& name : rules) {
    const Encoding ruled = under_rule(drawn.encoding, find_rule(name), stretch);
    const std::vector<double>& frequencies = ruled.rotation().inv_freq;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      if (frequencies[i] == 0) {
        still = true;
        continue;
      }
      rows.push_back({{"pair", i}, {"rule", name}, {"divisor", rounded(plain[i] / frequencies[i])}});
    }
    finding.add(name, plain.front() / frequencies.front(), plain.back() / frequencies.back());
  }
  Json spec = chart(std::move(rows));
  spec["height"] = 280;
  spec["mark"] = {{"type", "line"}, {"tooltip", true}};
  spec["encoding"] = {{"x", snug("pair", "pair, from the fastest to the slowest")},
                      {"y", logarithmic(quantitative("divisor", "frequency divided by"), 2)},
                      {"color", category_colour("rule", "rule", rules)}};
  return {.name = {},
          .title = "To stretch " + pretty(static_cast<double>(stretch.trained)) + " positions " +
                   pretty(stretch.factor) + " times: " + finding.text(),
          .caption = "By how much each rule divides the frequency of each pair (1: kept, " + pretty(stretch.factor) +
                     ": positions pressed into the trained length), head_dim " +
                     std::to_string(drawn.encoding.rotation().head_dim) + ", base " +
                     pretty(drawn.encoding.arguments().real("base")) + "." +
                     std::string(still ? " Pairs that a rule stops altogether are left out." : ""),
          .spec = std::move(spec)};
}

}  // namespace

const FigureKind& scaling_figure();
const FigureKind& scaling_figure() {
  static const FigureKind kind{.name = "scaling",
                               .meaning = "what the rules that stretch RoPE do to each frequency",
                               .scheme = "rope",
                               .arguments = {{"head_dim", std::int64_t{128}},
                                             {"pairing", std::string("half")},
                                             {"base", 500000.0},
                                             {"rule", std::string("llama3")},
                                             {"factor", 8.0},
                                             {"original_length", std::int64_t{8192}}},
                               .uses = {"rules"},
                               .make = make};
  return kind;
}

}  // namespace locus::figures
