// SPDX-License-Identifier: Apache-2.0
// Findings about keys: not understood, not used, missing, or given twice.

#include <algorithm>

#include "doctor/lint/findings.h"
#include "locus/scaling.h"

namespace locus::doctor {
namespace {

constexpr std::string_view ignored = "ignored: ";

/// Returns the key of `rope_theta = 10000 (why)`.
std::string key_of(const std::string& text) { return text.substr(0, text.find_first_of(" (")); }

/// A guess is a value that no source states. The defaults of transformers for a known model type are facts.
bool is_guess(const LintModel& model, const std::string& text) {
  if (model.format == "GGUF") return false;
  if (text.starts_with("pairing = ")) return true;
  return text.starts_with("rope_theta = ") && text.ends_with("(transformers' default)");
}

Finding about_layer(const LintLayer& layer) { return {.severity = Severity::error, .layer_type = layer.layer_type}; }

Finding disagreement(std::vector<std::string> keys, std::string what, const std::string& used) {
  Finding finding{.severity = Severity::error, .keys = std::move(keys), .what = std::move(what)};
  finding.consequence = "Engines use one or the other, and so rotate by different angles. " + used;
  return finding;
}

bool differ(const std::optional<double>& a, const std::optional<double>& b) { return a && b && *a != *b; }

/// Returns the preferred spelling of a rule's name in config.json.
std::string plain_name(const std::string& name) {
  for (const Rule* rule : rules()) {
    const auto& spellings = rule->hf_types;
    if (std::find(spellings.begin(), spellings.end(), name) != spellings.end()) return std::string(spellings.front());
  }
  return name;
}

std::string kind_of(const io::HfRopeBlockKeys& block) {
  return plain_name(block.rope_type.value_or(block.type.value_or("default")));
}

}  // namespace

Findings unknown_keys(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    for (const std::string& key : layer.unknown) {
      if (key.starts_with(ignored)) continue;
      Finding finding = about_layer(layer);
      finding.keys = {key};
      finding.what = key + " concerns positions, but is not understood.";
      finding.consequence =
          "If an engine does understand it, its angles or biases differ from those shown here; ask the model's authors "
          "what the key does.";
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

Findings ignored_keys(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    for (const std::string& entry : layer.unknown) {
      if (!entry.starts_with(ignored)) continue;
      const std::string text = entry.substr(ignored.size());
      Finding finding = about_layer(layer);
      // Next to a nested text model, the outer keys belong to another part, e.g. the image encoder.
      if (text.ends_with(" is read instead)")) finding.severity = Severity::note;
      finding.keys = {key_of(text)};
      finding.what = "Not used: " + text + ".";
      finding.consequence = "A reader that uses this value gets different numbers from the model's own code.";
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

Findings guessed_keys(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    for (const std::string& text : layer.defaulted) {
      if (!is_guess(model, text)) continue;
      Finding finding = about_layer(layer);
      finding.keys = {key_of(text)};
      finding.what = "Not in the file, and its model type is unknown: " + text + ".";
      finding.consequence =
          text.starts_with("pairing")
              ? "With the wrong pairing, shapes still fit, but the output is meaningless. State the pairing."
              : "With another base, every frequency but the first is wrong. Add rope_theta to the file.";
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

Findings defaulted_keys(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    Finding finding = about_layer(layer);
    std::string list;
    for (const std::string& text : layer.defaulted) {
      if (is_guess(model, text)) continue;
      finding.keys.push_back(key_of(text));
      list += (list.empty() ? "" : "; ") + text;
    }
    if (list.empty()) continue;
    finding.what = "Not in the file: " + list + ".";
    finding.consequence = "An engine with different defaults gets different numbers from the same file.";
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings disagreeing_keys(const LintModel& model) {
  Findings findings;
  if (!model.hf) return findings;
  const io::HfRopeKeys& keys = *model.hf;
  for (const auto* blocks : {&keys.scaling, &keys.parameters}) {
    for (const io::HfRopeBlockKeys& block : *blocks) {
      const bool only = blocks->size() == 1;
      if (block.rope_type && block.type && plain_name(*block.rope_type) != plain_name(*block.type)) {
        findings.push_back(disagreement({block.path + ".rope_type", block.path + ".type"},
                                        concat("rope_type is ", *block.rope_type, ", type is ", *block.type, "."),
                                        "transformers reads rope_type, older code reads type."));
      }
      if (only && differ(block.rope_theta, keys.rope_theta)) {
        findings.push_back(disagreement(
            {block.path + ".rope_theta", keys.path + "rope_theta"},
            concat("rope_theta is ", *block.rope_theta, " inside the block and ", *keys.rope_theta, " outside."),
            "transformers reads the one inside, older code reads the one outside."));
      }
      if (differ(block.original_length, keys.original_length)) {
        findings.push_back(disagreement(
            {block.path + ".original_max_position_embeddings", keys.path + "original_max_position_embeddings"},
            concat("original_max_position_embeddings is ", *block.original_length, " inside the block and ",
                   *keys.original_length, " outside."),
            "Phi-3's code reads the one outside, all other code reads the one inside."));
      }
    }
  }
  if (keys.scaling.size() == 1 && keys.parameters.size() == 1) {
    const io::HfRopeBlockKeys &old_block = keys.scaling[0], &new_block = keys.parameters[0];
    if (kind_of(old_block) != kind_of(new_block) || differ(old_block.factor, new_block.factor) ||
        differ(old_block.rope_theta, new_block.rope_theta) ||
        differ(old_block.original_length, new_block.original_length)) {
      findings.push_back(disagreement(
          {old_block.path, new_block.path},
          concat("rope_scaling says ", kind_of(old_block), " by ", old_block.factor.value_or(1),
                 ", rope_parameters says ", kind_of(new_block), " by ", new_block.factor.value_or(1), "."),
          "transformers 5 reads rope_scaling first; code that knows only the new name reads rope_parameters."));
    }
  }
  return findings;
}

// Omits what other findings describe more precisely.
Findings refused_settings(const LintModel& model) {
  Findings findings;
  const auto add = [&](const std::string& refusal, const std::string& layer_type) {
    findings.push_back({.severity = Severity::error,
                        .layer_type = layer_type,
                        .what = refusal + ".",
                        .consequence = "These settings give no valid encoding."});
  };
  if (!model.refusal.empty() && !model.unsupported) add(model.refusal, "");
  const bool explained = !wrong_list_length(model).empty() || !unfilled_sections(model).empty();
  for (const LintLayer& layer : model.layers) {
    if (!layer.refusal.empty() && !explained) add(layer.refusal, layer.layer_type);
  }
  return findings;
}

}  // namespace locus::doctor
