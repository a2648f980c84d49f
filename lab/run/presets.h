// SPDX-License-Identifier: Apache-2.0
// The presets, and the budget of each task in them: one table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trial.h"

namespace locus::lab {

struct Preset {
  std::string name;
  std::string summary;
  std::vector<std::string> tasks;
  std::vector<std::string> schemes;
  std::int64_t seeds = 1;   ///< 1, 2, ... up to this
  bool every_rule = false;  ///< see TrialSpec
};

/// A task's budget under a preset: the same for every scheme.
struct Budget {
  std::string preset;
  std::string task;
  std::int64_t trained_length = 64;
  std::int64_t steps = 0;
  std::int64_t tune_steps = 0;
  std::int64_t batch = 32;
  std::int64_t test_rows = 32;
  double learning_rate = 3e-3;
  ModelShape model;
  std::vector<std::int64_t> multiples = {1, 2, 4, 8};  ///< lengths tested, in trained lengths
};

const std::vector<Preset>& presets();
/// Error: an unknown name; the message lists the known ones.
const Preset& find_preset(const std::string& name);
/// Error: a task without a row in the table.
const Budget& find_budget(const std::string& preset, const std::string& task);

}  // namespace locus::lab
