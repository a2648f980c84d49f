// SPDX-License-Identifier: Apache-2.0
// Prints what a model's config.json states in addition to the encoding: other readings, what is not applied, parts.
#pragma once

#include <string>
#include <vector>

#include "command.h"
#include "encoding_options.h"
#include "locus/io/hf_config.h"

namespace locus::tools {

/// Adds `layers`, `not_applied`, `softmax_scale`, `query_scale` and `alternatives`, each if not empty.
void add_model_reading(Json& object, const io::LayerEncoding& read);
void print_model_reading(const io::LayerEncoding& read);

/// Returns the parts of a composite config other than its language model; empty if `config` is empty or a GGUF file.
std::vector<io::HfPart> parts_of(const std::string& config);
/// By path: the model type, and the scheme with arguments of each layer type, or the refusal.
Json parts_json(const std::vector<io::HfPart>& parts);
void print_parts(const std::vector<io::HfPart>& parts);

/// `the softmax scale is 0.0078125, from the config`.
std::string softmax_scale_note(const ChosenEncoding& chosen);

}  // namespace locus::tools
