// SPDX-License-Identifier: Apache-2.0
// What the rest of the lab supplies to a run: tasks, and trials as functions. Tests supply their own.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages/language.h"
#include "results/results.h"
#include "task.h"
#include "trial.h"

namespace locus::lab {

struct Parts {
  std::function<std::vector<Measurement>(const TrialSpec&, const Heartbeat&, const ModelFiles&)> run_trial;
  std::function<std::vector<std::string>(const TrialSpec&)> lines_of;
  std::function<TaskDescription(const std::string& task, const std::string& text_file)> describe;
  /// Names and versions of the libraries that trials use, e.g. libtorch; recorded after our own.
  std::vector<std::pair<std::string, std::string>> versions = {};
  std::function<void()> prepare;  ///< called once in every process before a trial; throws if trials must not run
  /// Measures `run.speed` with a trial's settings for each of the schemes. May be absent.
  std::function<results::Speed(const TrialSpec& spec, const std::vector<std::string>& schemes)> speed;
  /// Writes the results as a page. May be absent.
  std::function<void(const results::Results& results, const std::filesystem::path& page, Language language)> report;
};

}  // namespace locus::lab
