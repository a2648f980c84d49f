// SPDX-License-Identifier: Apache-2.0
// A trial: one scheme learns one task from one seed and is tested at every length.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace locus::lab {

struct ModelShape {
  std::int64_t layers = 2;
  std::int64_t heads = 4;
  std::int64_t width = 64;
};

/// Everything a trial's numbers depend on: equal specs give equal numbers.
struct TrialSpec {
  std::string task;
  std::string scheme;  ///< a trained scheme: a registry name, which may carry arguments as in "rope:base=500000"
  std::int64_t seed = 1;
  std::int64_t trained_length = 64;
  std::vector<std::int64_t> lengths;  ///< tested lengths, the trained one first
  std::int64_t steps = 0;
  std::int64_t tune_steps = 0;  ///< steps of fine-tuning per stretched line, at the longest length; 0: none
  std::int64_t batch = 32;
  std::int64_t test_rows = 32;
  double learning_rate = 3e-3;
  ModelShape model;
  bool every_rule = false;  ///< stretch by every rule that derives from a factor, not only by those compared by default
  std::string text_file;    ///< for the task `text`
};

/// One number. A trained scheme has several lines: "rope", "rope+yarn", "rope+yarn+tuned", "learned+resized" ...
struct Measurement {
  std::string line;
  std::string name;         ///< a TestSet's, with "_by_position" for buckets; or a cost: "parameters",
                            ///< "seconds_per_step", "peak_bytes", "train_loss" (place = step)
  std::int64_t length = 0;  ///< 0 for costs
  std::int64_t place = -1;  ///< depth in percent, first position of a bucket, or step; -1: the whole sequence
  double value = 0;
};

/// Called regularly with the finished share of the trial, 0 to 1; renews the worker's lease.
using Heartbeat = std::function<void(double done)>;

/// Where the trained model is saved for `locus probe`; nowhere unless a format is chosen.
struct ModelFiles {
  std::string path;          ///< of a folder with config.json and model.safetensors; with ".gguf" appended, of a file
  bool safetensors = false;  ///< writes the folder
  bool gguf = false;         ///< writes the file
  std::string trial;         ///< the trial's key, which is stored in the files
};

/// Trains, tests and saves. The same spec gives the same numbers, except for costs.
std::vector<Measurement> run_trial(const TrialSpec& spec, const Heartbeat& heartbeat, const ModelFiles& files = {});

/// Returns the names of the lines of a trained scheme, the plain one first; fine-tuned ones only with `tune_steps`.
std::vector<std::string> lines_of(const TrialSpec& spec);

}  // namespace locus::lab
