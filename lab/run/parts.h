// SPDX-License-Identifier: Apache-2.0
// What the running of a lab is given from outside: the tasks, and trials as functions. Tests give their own.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "run/json.h"
#include "task.h"
#include "trial.h"

namespace locus::lab {

struct Parts {
  std::function<std::vector<Measurement>(const TrialSpec&, const Heartbeat&, const ModelFiles&)> run_trial;
  std::function<std::vector<std::string>(const TrialSpec&)> lines_of;
  std::function<TaskDescription(const std::string& task, const std::string& text_file)> describe;
  Json versions = Json::object();  ///< of what the trials are made with, e.g. libtorch; put beside our own
  std::function<void()> prepare;   ///< once in every process before anything is run; throws where it must not run
  /// What results.json says under `run.speed`, measured with a trial's settings for each of the schemes. May be absent.
  std::function<Json(const TrialSpec& spec, const std::vector<std::string>& schemes)> speed;
  /// Writes a page of the results (as results.json has them) to a file. May be absent.
  std::function<void(const Json& results, const std::filesystem::path& page)> report;
};

}  // namespace locus::lab
