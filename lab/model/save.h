// SPDX-License-Identifier: Apache-2.0
// Writes a trained model as files that `locus probe` reads (src/probe/families/fused.cpp).
#pragma once

#include "model/transformer.h"

namespace locus::lab {

/// Writes the files that `files` requests: a folder with config.json and model.safetensors, a GGUF file, or both;
/// float32, the same tensors in each. Every file is written atomically, config.json last: a folder with it is
/// complete. Error: an encoder, or a file that cannot be written.
void save_model(const Transformer& model, const TaskDescription& task, const TrialSpec& spec, const ModelFiles& files);

}  // namespace locus::lab
