// SPDX-License-Identifier: Apache-2.0
// Which files of trained models a run leaves (--save-models), and whether they are there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "run/parts.h"
#include "run/store.h"

namespace locus::lab {

/// What was asked for. Nothing is saved where `formats` is empty.
struct SaveModels {
  std::string formats;           ///< safetensors, gguf, both or empty
  std::filesystem::path folder;  ///< of all models of a run
};

/// Error for formats that are none.
void check(const SaveModels& save);
/// "passkey-rope_base_500000-seed1": safe as a file's name, whatever the scheme's arguments are.
std::string model_name(const TrialSpec& spec);
/// What run_trial is to save; nothing for tasks whose models cannot be probed.
ModelFiles model_files(const SaveModels& save, const TrialSpec& spec, const Parts& parts);
/// Those of `trials` that should have files and have none, or those of another trial.
std::vector<TrialSpec> unsaved(const SaveModels& save, const std::vector<TrialSpec>& trials, const Parts& parts);

}  // namespace locus::lab
