// SPDX-License-Identifier: Apache-2.0
// Findings that need computation: caches, float32, and how engines interpret the same settings.
#include <algorithm>
#include <array>
#include <cmath>

#include "doctor/lint/findings.h"
#include "doctor/lint/rotation.h"
#include "locus/scaling.h"
#include "locus/text.h"
#include "locus/turns.h"

namespace locus::doctor {
namespace {

/// Returns the rotation of a layer with one axis and a valid encoding.
const Rotation* rotation_of(const LintLayer& layer) {
  if (!layer.encoding) return nullptr;
  const auto* rotation = std::get_if<Rotation>(&layer.encoding->term());
  const bool rotates = rotation != nullptr && rotation->pairs() > 0;
  return rotates && rotation->map.kind == PositionMap::Kind::direct ? rotation : nullptr;
}

/// Returns the length beyond which a length-dependent rule changes the frequencies.
std::optional<std::int64_t> switch_of(const LintLayer& layer) {
  const Rule& rule = find_rule(rule_of(layer));
  return rule.length_dependent ? layer.arguments.maybe_integer(rule.trained_length) : std::nullopt;
}

/// True for a rule that GGUF has no name for and that no list of divisors can express.
bool is_unknown_to_gguf(const LintLayer& layer) {
  const Rule& rule = find_rule(rule_of(layer));
  return rule.length_dependent && rule.gguf_type.empty();
}

bool lists_are_equal(const LintLayer& layer) {
  return rule_of(layer) == "longrope" && layer.arguments.list("short_factor") == layer.arguments.list("long_factor");
}

struct Engine {
  std::string_view name, profile;
};
constexpr std::array<Engine, 3> engines = {{{"transformers", "hf"}, {"llama.cpp", "ggml"}, {"vLLM", "vllm"}}};

/// Returns the layer's encoding in one profile for a sequence of `length` tokens. transformers reads the length of the
/// sequence; the others decide once, from the file, and so does the profile if no length is given.
Encoding by_profile(const LintLayer& layer, std::string_view profile, std::int64_t length) {
  Arguments arguments = layer.arguments;
  arguments.set("profile", std::string(profile));
  if (switch_of(layer) && length > 0 && (profile == "exact" || profile == "hf")) arguments.set("length", length);
  return Encoding(layer.scheme, arguments);
}

std::optional<Finding> engine_difference(const LintModel& model, const LintLayer& layer, const Engine& engine,
                                         std::int64_t length) {
  // float32 tables agree within a few roundings; ggml accumulates up to 32768 of them. A larger difference is another
  // rule.
  constexpr double rounding = 1e-4;
  if (engine.profile == "ggml" && is_unknown_to_gguf(layer)) return {};  // has its own finding
  const RotationSeen meant = see_rotation(by_profile(layer, "exact", length).rotation());
  const RotationSeen seen = see_rotation(by_profile(layer, engine.profile, length).rotation());
  const FrequencyDifference difference = compare_frequencies(meant.angle, seen.angle, rounding);
  const bool other_size = std::fabs(meant.magnitude - seen.magnitude) > rounding * meant.magnitude;
  if (difference.first < 0 && !other_size) return {};
  Finding finding = about(layer);
  finding.what = concat(engine.name, ", at ", length, " tokens: ");
  if (difference.first >= 0) {
    const auto worst = static_cast<std::size_t>(difference.worst);
    finding.what +=
        concat("frequencies differ from pair ", difference.first, " on, most in pair ", worst, " (", seen.angle[worst],
               " instead of ", meant.angle[worst], ", ", 100 * difference.worst_share, " %)");
    finding.numbers = {{"first_pair", static_cast<double>(difference.first)}, {"worst_share", difference.worst_share}};
  }
  if (other_size) {
    finding.what += concat(difference.first >= 0 ? "; " : "", "the attention factor is ", seen.magnitude,
                           " instead of ", meant.magnitude);
    finding.numbers.emplace_back("attention_factor", seen.magnitude);
  }
  finding.what += ".";
  finding.keys = {"rule " + rule_of(layer)};
  finding.numbers.emplace_back("length", static_cast<double>(length));
  const bool frozen = switch_of(layer) && length <= *switch_of(layer);
  finding.consequence =
      frozen ? concat(engine.name, " fixes the table for the longest context, so short texts use ",
                      "frequencies that transformers uses for long ones only; their outputs differ.")
             : concat("The same weights give different outputs in ", engine.name, " than in transformers.");
  if (model.served_length == 0) finding.consequence += " The file states no length.";
  return finding;
}

}  // namespace

Findings unsafe_caches(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    const Rotation* rotation = rotation_of(layer);
    const auto limit = switch_of(layer);
    if (rotation == nullptr || !limit || lists_are_equal(layer)) continue;
    // A key cached at the last position before the switch, and its angle after the switch.
    const Encoding before = layer.encoding->at_length(*limit);
    const std::int64_t beyond = std::max(model.served_length, *limit + 1);
    const Encoding after = layer.encoding->at_length(beyond);
    double worst = 0;
    for (std::size_t i = 0; i < rotation->turns.size(); ++i) {
      worst = std::max(worst, std::fabs(angle_of(after.rotation().turns[i] - before.rotation().turns[i], *limit - 1)));
    }
    Finding finding = about(layer);
    const bool crosses = model.served_length > *limit;
    // llama.cpp chooses its list once, for the whole context.
    if (!crosses || model.format == "GGUF") finding.severity = Severity::note;
    finding.keys = {"rule " + rule_of(layer)};
    finding.what = concat("The frequencies change when a sequence grows beyond ", *limit, " tokens: a key cached at ",
                          *limit - 1, " is then off by up to ", worst, " rad.");
    finding.consequence =
        crosses ? "Keys cached before that are wrong afterwards: re-rotate them, keep them unrotated, or fix the table "
                  "from the "
                  "start. Prefix caches must not be shared across that length."
                : "Not reached at the served length; to serve more, re-rotate the keys or keep them unrotated.";
    finding.numbers = {{"switch_length", static_cast<double>(*limit)}, {"angle", worst}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings float32_angles(const LintModel& model) {
  // An angle error of 1/16 changes a coordinate by 6 %; bfloat16 hides 0.4 %.
  constexpr double visible = 1.0 / 16;
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    const Rotation* rotation = rotation_of(layer);
    if (rotation == nullptr || model.served_length < 1) continue;
    const double error = float32_angle_error(*rotation, model.served_length);
    Finding finding = about(layer);
    if (error < visible) finding.severity = Severity::note;
    finding.keys = {"profile"};
    finding.what = concat("Angles computed in float32, as in most engines, are off by up to ", error,
                          " rad at position ", model.served_length - 1, ".");
    finding.consequence =
        error >= visible
            ? "That is more than the rounding of bfloat16 hides: fast pairs point in wrong directions, and two "
              "engines that round differently disagree."
            : "Too small to matter in most cases; exact tables avoid it.";
    finding.numbers = {{"angle_error", error}, {"length", static_cast<double>(model.served_length)}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings differing_engines(const LintModel& model) {
  Findings findings;
  if (model.format != "config.json") return findings;  // llama.cpp itself wrote the GGUF file
  for (const LintLayer& layer : model.layers) {
    if (rotation_of(layer) == nullptr) continue;
    std::vector<std::int64_t> lengths = {model.served_length};
    if (const auto limit = switch_of(layer); limit && *limit != model.served_length) {
      lengths.insert(lengths.begin(), *limit);
    }
    for (const Engine& engine : engines) {
      for (const std::int64_t length : lengths) {
        if (auto finding = engine_difference(model, layer, engine, length)) findings.push_back(std::move(*finding));
      }
    }
  }
  return findings;
}

Findings rules_unknown_to_gguf(const LintModel& model) {
  Findings findings;
  if (model.format != "config.json") return findings;
  for (const LintLayer& layer : model.layers) {
    if (!is_rope(layer) || !is_unknown_to_gguf(layer)) continue;
    Finding finding = about(layer);
    if (const auto limit = switch_of(layer); limit && model.served_length <= *limit) finding.severity = Severity::note;
    std::vector<std::string_view> known;
    for (const Rule* rule : rules()) {
      if (!rule->gguf_type.empty()) known.push_back(rule->gguf_type);
    }
    finding.keys = {"rule " + rule_of(layer)};
    finding.what = concat("GGUF has no name for ", find_rule(rule_of(layer)).title, " (it knows ", listed(known), ").");
    finding.consequence = "llama.cpp runs a converted file without the rule: plain frequencies at every length.";
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace locus::doctor
