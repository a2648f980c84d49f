// SPDX-License-Identifier: Apache-2.0
#include "locus/doctor/lint.h"

#include <algorithm>
#include <array>

#include "doctor/lint/findings.h"

namespace locus {
namespace {

/// One row of the table. A function may lower the severity if the case at hand is harmless.
struct Kind {
  std::string_view id;
  Severity severity;
  doctor::Findings (*find)(const LintModel&);
};

constexpr std::array<Kind, 27> kinds = {{
    {"settings-refused", Severity::error, doctor::refused_settings},
    {"not-expressed", Severity::warning, doctor::unsupported_models},
    {"settings-elsewhere", Severity::note, doctor::settings_elsewhere},
    {"not-applied", Severity::warning, doctor::unapplied_parts},
    {"keys-disagree", Severity::error, doctor::disagreeing_keys},
    {"list-length", Severity::error, doctor::wrong_list_length},
    {"sections-do-not-fill", Severity::error, doctor::unfilled_sections},
    {"partial-width-refused", Severity::error, doctor::narrow_gguf_rotation},
    {"served-beyond-trained", Severity::error, doctor::served_beyond_trained},
    {"served-beyond-extension", Severity::warning, doctor::served_beyond_extension},
    {"max-position-two-meanings", Severity::warning, doctor::two_meanings_of_max_position},
    {"yarn-factor-mismatch", Severity::warning, doctor::yarn_factor_mismatch},
    {"mscale-without-partner", Severity::warning, doctor::lonely_mscale},
    {"mscale-cancels", Severity::note, doctor::cancelling_mscales},
    {"dual-chunk-sizes", Severity::error, doctor::dual_chunk_sizes},
    {"temperature-never-acts", Severity::note, doctor::idle_temperatures},
    {"base-already-stretched", Severity::warning, doctor::bases_stretched_twice},
    {"cache-unsafe", Severity::warning, doctor::unsafe_caches},
    {"engines-differ", Severity::warning, doctor::differing_engines},
    {"versions-differ", Severity::warning, doctor::differing_versions},
    {"flat-readers-take-10000", Severity::warning, doctor::bases_hidden_from_flat_readers},
    {"rule-unknown-to-gguf", Severity::warning, doctor::rules_unknown_to_gguf},
    {"float32-angles", Severity::warning, doctor::float32_angles},
    {"key-unknown", Severity::warning, doctor::unknown_keys},
    {"key-ignored", Severity::warning, doctor::ignored_keys},
    {"key-guessed", Severity::warning, doctor::guessed_keys},
    {"key-defaulted", Severity::note, doctor::defaulted_keys},
}};

}  // namespace

std::string_view name_of(Severity severity) {
  constexpr std::array<std::string_view, 3> names = {"note", "warning", "error"};
  return names[static_cast<std::size_t>(severity)];
}

std::vector<std::string_view> lint_ids() {
  std::vector<std::string_view> ids;
  for (const Kind& kind : kinds) ids.push_back(kind.id);
  return ids;
}

std::vector<Finding> lint(const LintModel& model) {
  std::vector<Finding> all;
  for (const Kind& kind : kinds) {
    for (Finding& finding : kind.find(model)) {
      finding.id = kind.id;
      // Functions leave `error`, the highest, unless they set a severity: the table's severity is the upper bound.
      finding.severity = std::min(finding.severity, kind.severity);
      const auto same = std::find_if(all.begin(), all.end(), [&](const Finding& other) {
        return other.id == finding.id && other.keys == finding.keys && other.what == finding.what;
      });
      if (same == all.end()) {
        all.push_back(std::move(finding));
      } else {
        same->layer_type.clear();  // all layer types have it
      }
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return all;
}

namespace doctor {

std::string rule_of(const LintLayer& layer) {
  const Value* rule = layer.arguments.find("rule");
  return rule == nullptr ? "none" : std::get<std::string>(*rule);
}

bool stretches(const Rule& rule) {
  return std::any_of(rule.parameters.begin(), rule.parameters.end(),
                     [](const Parameter& parameter) { return parameter.name == "factor" && !parameter.fallback; });
}

std::optional<double> extended_length(const LintLayer& layer) {
  const auto factor = layer.arguments.maybe_real("factor");
  const auto original = layer.arguments.maybe_integer("original_length");
  const Rule& rule = find_rule(rule_of(layer));
  if (!stretches(rule) || rule.length_dependent) return {};
  if (original && factor) return static_cast<double>(*original) * *factor;
  if (layer.trained_length && factor) return static_cast<double>(*layer.trained_length) * *factor;
  return {};
}

}  // namespace doctor
}  // namespace locus
