// SPDX-License-Identifier: Apache-2.0
// The divisor that each rule applies to each frequency of RoPE.
#include <algorithm>
#include <cmath>
#include <set>

#include "figures/registry.h"
#include "figures/spec.h"
#include "locus/error.h"
#include "locus/scaling.h"
#include "locus/settings.h"
#include "locus/stretch.h"

namespace locus::figures {
namespace {

/// The stretch requested of all rules: `factor` times the trained length.
struct Goal {
  double factor = 8;
  std::int64_t trained = 8192;
};

Goal goal_of(const Drawn& drawn) {
  const Arguments& given = drawn.encoding.arguments();
  Goal goal;
  if (const auto length = given.maybe_integer("original_length")) {
    goal.trained = *length;
  } else if (drawn.trained_length) {
    goal.trained = *drawn.trained_length;
  }
  const auto factor = given.maybe_real("factor");
  const auto longest = given.maybe_integer("max_length");
  if (factor) {
    goal.factor = *factor;
  } else if (longest && *longest > goal.trained) {
    goal.factor = static_cast<double>(*longest) / static_cast<double>(goal.trained);
  }
  return goal;
}

/// Parses a rule: `yarn`, `yarn:2` or `rope:rule=yarn,factor=2`.
struct SpelledRule {
  std::string text;
  std::string name = text;
  Arguments settings = {};
};

SpelledRule spelled_rule(const std::string& text, const Encoding& drawn) {
  const Spelling spelling = parse_spelling(text);
  require(spelling.config.empty() && spelling.scheme == drawn.scheme().name, "a rule must be one of ",
          drawn.scheme().name, ", such as yarn:2, got ", text);
  const std::string_view name = spelling.setting("rule");
  SpelledRule rule{.text = text, .name = name.empty() ? "none" : std::string(name)};
  const Arguments given = arguments_of(spelling);
  for (const auto& [setting, value] : given.all()) {
    if (setting != "rule") rule.settings.set(setting, value);
  }
  return rule;
}

/// Returns the same rotation with another rule, at the length that it is stretched to.
Encoding stretched_by(const Encoding& given, const SpelledRule& spelled, const Goal& goal) {
  const Rule& rule = find_rule(spelled.name);
  Arguments arguments = spelled.settings;
  for (const Parameter& parameter : rule.parameters) {
    const bool own = given.arguments().has(parameter.name) && given.arguments().text("rule") == rule.name;
    if (own || arguments.has(parameter.name)) continue;
    if (parameter.name == "factor") {
      arguments.set("factor", goal.factor);
    } else if (parameter.required && parameter.kind == ValueKind::real) {
      arguments.set(parameter.name, *rule.example.find(parameter.name));
    }
    require(!parameter.required || parameter.kind != ValueKind::list, "the rule ", rule.name, " needs ", parameter.name,
            ", a list that belongs to a model: give the model's --config, or --set rule=", rule.name,
            " with the lists");
  }
  const double factor = spelled.settings.maybe_real("factor").value_or(goal.factor);
  const std::int64_t longest = std::llround(static_cast<double>(goal.trained) * factor);
  return with_rule(given, rule.name, {.trained = goal.trained, .longest = longest}, arguments).at_length(longest);
}

std::vector<SpelledRule> rules_of(const Request& request) {
  const Encoding& drawn = request.encodings.front().encoding;
  std::vector<SpelledRule> rules;
  if (!request.rules.empty()) {
    require(std::set<std::string>(request.rules.begin(), request.rules.end()).size() == request.rules.size(),
            "rules must differ from each other");
    for (const std::string& text : request.rules) rules.push_back(spelled_rule(text, drawn));
    return rules;
  }
  rules.push_back({.text = "none"});
  for (const Rule* rule : compared_rules()) rules.push_back({.text = std::string(rule->name)});
  const std::string& own = drawn.arguments().text("rule");
  const bool has_own =
      std::any_of(rules.begin(), rules.end(), [&](const SpelledRule& rule) { return rule.name == own; });
  if (!has_own) rules.push_back({.text = own});
  return rules;
}

/// Says which rules slow every pair and which keep the fastest.
struct Finding {
  std::vector<std::string> every, slow_only;

  void add(const std::string& rule, double fastest, double slowest) {
    const auto same = [](double a, double b) { return std::fabs(a - b) < 1e-9 * b; };
    if (same(fastest, 1) && !same(slowest, 1)) slow_only.push_back(rule);
    if (!same(fastest, 1)) every.push_back(rule);
  }
  std::string text(const Words& words) const {
    std::vector<std::string> parts;
    if (!every.empty()) {
      parts.push_back(words(every.size() == 1 ? Message::scaling_every_one : Message::scaling_every_many,
                            {{"rules", words.all_of(every)}}));
    }
    if (!slow_only.empty()) {
      parts.push_back(words(slow_only.size() == 1 ? Message::scaling_slow_one : Message::scaling_slow_many,
                            {{"rules", words.all_of(slow_only)}}));
    }
    return parts.empty() ? words(Message::scaling_nothing) : joined(parts, "; ");
  }
};

Figure draw_scaling(const Request& request) {
  const Words words(request.language);
  const Drawn& drawn = request.encodings.front();
  require(takes_rules(drawn.encoding), "the figure scaling draws rules of rope, got ", drawn.encoding.scheme().name);
  const Goal goal = goal_of(drawn);
  const std::vector<SpelledRule> rules = rules_of(request);
  const std::vector<double> plain = stretched_by(drawn.encoding, {.text = "none"}, goal).rotation().inv_freq;
  Json rows = Json::array();
  Finding finding;
  std::vector<std::string> names;
  bool still = false, one_goal = true;
  for (const SpelledRule& rule : rules) {
    const std::string& name = names.emplace_back(rule.text);
    one_goal = one_goal && !rule.settings.has("factor");
    const Encoding ruled = stretched_by(drawn.encoding, rule, goal);
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
  spec["encoding"] = {{"x", snug("pair", words(Message::scaling_pair))},
                      {"y", logarithmic(quantitative("divisor", words(Message::scaling_divisor)), 2)},
                      {"color", category_colour("rule", words(Message::scaling_rule), names)}};
  const std::string factor = words.digits(pretty(goal.factor)), length = words.grouped(goal.trained);
  const std::string dim = std::to_string(drawn.encoding.rotation().head_dim);
  const std::string base = words.digits(pretty(drawn.encoding.arguments().real("base")));
  const std::string found = finding.text(words);
  return {
      .name = {},
      .title =
          one_goal ? words(Message::scaling_goal, {{"length", length}, {"factor", factor}, {"finding", found}}) : found,
      .caption = (one_goal ? words(Message::scaling_caption_goal, {{"factor", factor}, {"dim", dim}, {"base", base}})
                           : words(Message::scaling_caption, {{"dim", dim}, {"base", base}})) +
                 (still ? words(Message::scaling_still) : ""),
      .spec = std::move(spec)};
}

}  // namespace

const FigureKind& scaling_figure();
const FigureKind& scaling_figure() {
  static const FigureKind kind{.name = "scaling",
                               .meaning = "the divisor that each rule applies to each frequency of RoPE",
                               .scheme = "rope",
                               .arguments = {{"head_dim", std::int64_t{128}},
                                             {"pairing", std::string("half")},
                                             {"base", 500000.0},
                                             {"rule", std::string("llama3")},
                                             {"factor", 8.0},
                                             {"original_length", std::int64_t{8192}}},
                               .uses = {"rules"},
                               .make = draw_scaling};
  return kind;
}

}  // namespace locus::figures
