// SPDX-License-Identifier: Apache-2.0
// The files of trained models that a run saves (--save-models).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/parts.h"
#include "run/store.h"

namespace locus::lab {

/// Saves nothing if `formats` is empty.
struct SaveModels {
  std::string formats;           ///< safetensors, gguf, both or empty
  std::filesystem::path folder;  ///< of all models of a run
};

/// Error: an unknown format.
void check(const SaveModels& save);
/// Returns a safe file name for any arguments of the scheme: "passkey-rope_base_500000-seed1".
std::string model_name(const TrialSpec& spec);
/// Returns the files that run_trial saves; none for tasks whose models cannot be probed.
ModelFiles model_files(const SaveModels& save, const TrialSpec& spec, const Parts& parts);
/// Returns the trials whose files are missing or belong to another trial.
std::vector<TrialSpec> unsaved(const SaveModels& save, const std::vector<TrialSpec>& trials, const Parts& parts);

}  // namespace locus::lab
