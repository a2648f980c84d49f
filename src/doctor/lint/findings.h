// SPDX-License-Identifier: Apache-2.0
// Shared by the files of lint. A finding is one row of the table in lint.cpp and one function below.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "locus/doctor/lint.h"
#include "locus/scaling.h"
#include "locus/text.h"

namespace locus::doctor {

using Findings = std::vector<Finding>;

/// Returns an error about this layer, to be completed.
inline Finding about(const LintLayer& layer) { return {.severity = Severity::error, .layer_type = layer.layer_type}; }

/// True if the rule stretches by a factor. A rule with factor 1 by default does not.
bool stretches(const Rule& rule);
inline bool is_rope(const LintLayer& layer) { return layer.scheme == "rope"; }
std::string rule_of(const LintLayer& layer);  ///< for a rope layer: none, yarn, ...

/// Returns the length that the rule extends to: the original length times the factor, or the trained length.
std::optional<double> extended_length(const LintLayer& layer);

// Keys.
Findings unknown_keys(const LintModel& model);
Findings ignored_keys(const LintModel& model);
Findings guessed_keys(const LintModel& model);
Findings defaulted_keys(const LintModel& model);
Findings disagreeing_keys(const LintModel& model);
Findings refused_settings(const LintModel& model);

// Models: what Locus cannot express, and what other engines read from the same file.
Findings unsupported_models(const LintModel& model);
Findings settings_elsewhere(const LintModel& model);
Findings unapplied_parts(const LintModel& model);
Findings differing_versions(const LintModel& model);
Findings bases_hidden_from_flat_readers(const LintModel& model);

// Lengths and lists.
Findings two_meanings_of_max_position(const LintModel& model);
Findings yarn_factor_mismatch(const LintModel& model);
Findings cancelling_mscales(const LintModel& model);
Findings lonely_mscale(const LintModel& model);
Findings wrong_list_length(const LintModel& model);
Findings unfilled_sections(const LintModel& model);
Findings narrow_gguf_rotation(const LintModel& model);
Findings served_beyond_trained(const LintModel& model);
Findings served_beyond_extension(const LintModel& model);

// Encodings that declare more than a rotation.
Findings dual_chunk_sizes(const LintModel& model);
Findings idle_temperatures(const LintModel& model);
Findings bases_stretched_twice(const LintModel& model);

// Numbers.
Findings unsafe_caches(const LintModel& model);
Findings float32_angles(const LintModel& model);
Findings differing_engines(const LintModel& model);
Findings rules_unknown_to_gguf(const LintModel& model);

}  // namespace locus::doctor
