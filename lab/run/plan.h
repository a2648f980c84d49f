// SPDX-License-Identifier: Apache-2.0
// Converts a preset and the user's options to a queue of trials.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trial.h"

namespace locus::lab {

/// Options of the command line. Empty ones take the preset's value.
struct PlanRequest {
  std::string preset = "standard";
  std::vector<std::string> tasks = {};
  std::vector<std::string> schemes = {};  ///< "none" means "nope"
  std::string seeds = {};                 ///< a count, "3", or a list, "1,5,9"
  std::string lengths = {};               ///< "1x,2x,8x" in trained lengths, or tokens: "64,512"
  std::optional<std::int64_t> trained_length = {};
  std::optional<std::int64_t> steps = {};
  std::string text_file = {};  ///< adds the task `text` unless `tasks` is given
};

struct Plan {
  std::string preset;
  std::vector<std::string> tasks;
  std::vector<std::string> schemes;
  std::vector<std::int64_t> seeds;
  /// In the order of the queue: seed by seed, so that an interrupted run has complete seeds; within a seed, the task with
  /// the least work first, so that the first answer comes early.
  std::vector<TrialSpec> trials;
};

/// Returns tokens trained on times layers times width; the time of a trial is proportional to it.
double training_work(const TrialSpec& spec);

/// Error: an unknown preset, task or scheme, no seeds, a length below the trained one ...
Plan make_plan(const PlanRequest& request);

}  // namespace locus::lab
