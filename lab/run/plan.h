// SPDX-License-Identifier: Apache-2.0
// What a run will do: its preset, changed by what the user asked for, cut into trials.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trial.h"

namespace locus::lab {

/// What may be said on the command line. Empty: as the preset says.
struct PlanRequest {
  std::string preset = "standard";
  std::vector<std::string> tasks = {};
  std::vector<std::string> schemes = {};  ///< "none" is another name of "nope"
  std::string seeds = {};                 ///< a count, "3", or a list, "1,5,9"
  std::string lengths = {};               ///< "1x,2x,8x" in training lengths, or tokens: "64,512"
  std::optional<std::int64_t> train_length = {};
  std::optional<std::int64_t> steps = {};
  std::string text_file = {};  ///< adds the task `text` unless `tasks` says otherwise
};

struct Plan {
  std::string preset;
  std::vector<std::string> tasks;
  std::vector<std::string> schemes;
  std::vector<std::int64_t> seeds;
  std::vector<TrialSpec> trials;  ///< seed by seed, so that a run that is cut short has whole seeds
};

/// Error that names what cannot be planned: an unknown preset, task or scheme, no seeds, a length below the training
/// length ...
Plan make_plan(const PlanRequest& request);

}  // namespace locus::lab
