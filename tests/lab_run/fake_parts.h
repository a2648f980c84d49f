// SPDX-License-Identifier: Apache-2.0
// A lab without a model: trials whose numbers follow a formula, and which misbehave if their scheme's arguments
// request it.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "locus/error.h"
#include "run/parts.h"

namespace locus::lab::testing {

inline TaskDescription fake_task(const std::string& name) {
  TaskDescription task;
  task.name = name;
  task.title = "fake " + name;
  task.measures = "nothing";
  const bool loss = name == "verbs" || name == "text";
  task.main = loss ? "loss" : "accuracy";
  task.metric = loss ? Metric::loss : Metric::accuracy;
  task.chance = loss ? 4 : 0.1;
  task.majority = loss ? 3 : 0.2;
  task.learned_at = loss ? 2 : 0.9;
  task.vocabulary = 10;
  task.pooled = name == "order";
  return task;
}

/// A loss of 1 that grows by `slope` with every doubling beyond the trained length, and with the seed.
inline double fake_loss(double slope, std::int64_t seed, std::int64_t trained_length, std::int64_t length) {
  double loss = 1 + 0.01 * static_cast<double>(seed);
  for (std::int64_t l = trained_length; l < length; l *= 2) loss += slope;
  return loss;
}

/// The kind of machine that a test pretends to be.
inline std::string fake_blas() {
  const char* name = std::getenv("LOCUS_FAKE_BLAS");
  return name == nullptr ? "" : name;
}

inline std::vector<Measurement> fake_trial(const TrialSpec& spec, const Heartbeat& heartbeat, const ModelFiles& files) {
  const std::string how = spec.scheme.substr(std::min(spec.scheme.find(':') + 1, spec.scheme.size()));
  const auto sleep = [](int milliseconds) { std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds)); };
  if (how == "throw") throw std::runtime_error("the trial threw");
  if (how == "crash") kill(getpid(), SIGABRT);
  if (how == "crash_once") {  // only the first time: it creates a file
    const std::string mark = spec.text_file.empty() ? "crashed-once" : spec.text_file;
    if (!std::filesystem::exists(mark)) {
      std::ofstream(mark) << "x";
      kill(getpid(), SIGKILL);
    }
  }
  if (how == "busy") sleep(4000);  // without a heartbeat
  const int beats = how == "slow" ? 20 : how == "long" ? 100 : 1;
  for (int i = 0; i < beats; ++i) {
    if (beats > 1) sleep(40);
    heartbeat(static_cast<double>(i) / beats);
  }
  double slope = spec.scheme == "alibi" ? 0 : 0.5;
  if (how == "by_blas" && fake_blas() == "fused") slope += 1e-6;
  std::vector<Measurement> measured = {{spec.scheme, "parameters", 0, -1, 1000},
                                       {spec.scheme, "seconds_per_step", 0, -1, 0.01}};
  for (const std::int64_t length : spec.lengths) {
    const double loss = fake_loss(slope, spec.seed, spec.trained_length, length);
    if (fake_task(spec.task).metric == Metric::loss) {
      measured.push_back({spec.scheme, "loss", length, -1, loss});
    } else {
      measured.push_back({spec.scheme, "accuracy", length, -1, 2 - loss});
    }
  }
  // Like the real one, except for the weights.
  if (files.safetensors) {
    std::filesystem::create_directories(files.path);
    std::ofstream(files.path + "/model.safetensors") << "x";
    std::ofstream(files.path + "/config.json") << nlohmann::json{{"lab", {{"trial", files.trial}}}};
  }
  return measured;
}

inline Parts fake_parts() {
  Parts parts;
  parts.run_trial = fake_trial;
  if (!fake_blas().empty()) parts.versions = {{"blas", fake_blas()}};
  parts.lines_of = [](const TrialSpec& spec) { return std::vector<std::string>{spec.scheme}; };
  parts.describe = [](const std::string& task, const std::string&) { return fake_task(task); };
  return parts;
}

}  // namespace locus::lab::testing
