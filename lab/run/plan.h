// SPDX-License-Identifier: Apache-2.0
// What a run does: its preset, changed by the user's options, as a queue of trials.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trial.h"

namespace locus::lab {

/// Options of the command line. Empty: as the preset says.
struct PlanRequest {
  std::string preset = "standard";
  std::vector<std::string> tasks = {};
  std::vector<std::string> schemes = {};  ///< "none" means "nope"
  std::string seeds = {};                 ///< a count, "3", or a list, "1,5,9"
  std::string lengths = {};               ///< "1x,2x,8x" in training lengths, or tokens: "64,512"
  std::optional<std::int64_t> trained_length = {};
  std::optional<std::int64_t> steps = {};
  std::string text_file = {};  ///< adds the task `text` unless `tasks` says otherwise
};

struct Plan {
  std::string preset;
  std::vector<std::string> tasks;
  std::vector<std::string> schemes;
  std::vector<std::int64_t> seeds;
  /// In the order of the queue: seed by seed, so that a run cut short has whole seeds; of each seed the task with the
  /// least work first, so that a first answer comes early.
  std::vector<TrialSpec> trials;
};

/// Tokens trained on, times layers and width: the time of a trial is proportional to it.
double training_work(const TrialSpec& spec);

/// Error naming what cannot be planned: an unknown preset, task or scheme, no seeds, a length below the trained one ...
Plan make_plan(const PlanRequest& request);

}  // namespace locus::lab
