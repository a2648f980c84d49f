// SPDX-License-Identifier: Apache-2.0
// Findings about models: what Locus cannot express or apply, and how other readers interpret the same file.
#include <algorithm>

#include "doctor/lint/findings.h"

namespace locus::doctor {

Findings unsupported_models(const LintModel& model) {
  if (!model.unsupported) return {};
  return {{.severity = model.has_attention ? Severity::warning : Severity::note,
           .what = model.refusal + ".",
           .consequence = model.has_attention ? "The file is not at fault; no numbers are shown for this model."
                                              : "There are no positions to get wrong."}};
}

Findings settings_elsewhere(const LintModel& model) {
  if (model.tensors.empty()) return {};
  return {{.severity = Severity::note,
           .what = model.tensors,
           .consequence =
               "A safetensors file has no settings: the scheme, its base, its rule and the trained length are "
               "stated in config.json. Examine that file too."}};
}

Findings unapplied_parts(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    for (const std::string& sentence : layer.not_applied) {
      findings.push_back({.severity = Severity::warning,
                          .layer_type = layer.layer_type,
                          .what = sentence + ".",
                          .consequence = "apply, attend, verify --config and probe refuse this model; an engine that "
                                         "omits the step gets different scores than the model was trained with."});
    }
  }
  return findings;
}

Findings differing_versions(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    for (const io::AlternativeReading& other : layer.alternatives) {
      findings.push_back({.severity = Severity::warning,
                          .layer_type = layer.layer_type,
                          .what = other.reader + " reads this file differently: " + other.what + ".",
                          .consequence =
                              "The same file gives different numbers there. Add the value to the file if it is a "
                              "default; otherwise compare it with the checkpoint."});
    }
  }
  return findings;
}

Findings bases_hidden_from_flat_readers(const LintModel& model) {
  constexpr double flat_default = 10000;
  Findings findings;
  if (!model.hf || model.hf->rope_theta) return findings;
  for (const io::HfRopeBlockKeys& block : model.hf->parameters) {
    if (!block.rope_theta || *block.rope_theta == flat_default) continue;
    findings.push_back({.severity = Severity::warning,
                        .keys = {block.path + ".rope_theta"},
                        .what = concat("The base ", *block.rope_theta, " is given in ", block.path,
                                       " only; readers of the flat layout will use base 10000."),
                        .consequence =
                            "Code written for transformers 4 looks for rope_theta at the top level, finds none and "
                            "rotates every pair but the first by wrong angles. `locus convert config --to v4` "
                            "writes the flat keys.",
                        .numbers = {{"base", *block.rope_theta}, {"taken", flat_default}}});
  }
  return findings;
}

}  // namespace locus::doctor
