// SPDX-License-Identifier: Apache-2.0
// The results of a lab run. docs/results-format.md describes the same structure as JSON, field by field.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/statistics.h"

namespace locus::results {

struct Task {
  std::string name, title, measures;
  std::string main;  ///< the name of the numbers used for ranking
  bool is_loss = false;
  bool higher_is_better = true;
  std::optional<double> chance, majority, learned_at;
  std::int64_t trained_length = 0;
  std::vector<std::int64_t> lengths;
  std::int64_t steps = 0, tune_steps = 0, batch = 0;
  std::optional<double> learning_rate;
  std::int64_t layers = 0, heads = 0, width = 0;
  std::vector<std::string> lines;  ///< names of the lines planned in this task

  /// Returns the score of an answer that ignores the input: gains are measured from it.
  std::optional<double> level() const { return majority ? majority : chance; }
  bool is_better(double a, double b) const { return higher_is_better ? a > b : a < b; }
  bool has_line(const std::string& name) const;
};

struct Line {
  std::string name, trained, label, site, variant;
  bool tuned = false;
  /// True if tested as trained: not stretched, resized or fine-tuned.
  bool is_plain() const { return name == trained; }
};

struct Number {
  std::string task, line, name;
  std::int64_t length = 0;
  std::int64_t place = -1;  ///< depth in percent, first position of a bucket, or step; -1: the whole sequence
  BySeed values = {};
  std::optional<Estimate> estimate = {};  ///< absent if a seed's number was not finite
};

/// Whether a line learned its task, and how it performs beyond the trained length.
struct Outcome {
  std::string task, line;
  bool learned = false;
  std::optional<double> in_range, beyond;
  std::optional<std::int64_t> rank;  ///< in this task; equals share a rank
  std::string reason;
};

/// A line compared with the baseline, paired over seeds.
struct Pair {
  std::string task, name;
  std::int64_t length = 0;
  std::string line, other;
  Estimate difference;
};

struct PaperClaim {
  std::string claim, source, seen;
  std::string agrees;  ///< "yes", "no" or "cannot tell"
};

struct Cost {
  std::string task, line;
  std::optional<double> parameters, seconds_per_step, peak_bytes;
};

/// A trial without numbers.
struct Failure {
  std::string task, scheme;
  std::int64_t seed = 0;
  std::string error;
};

/// Where a finished trial ran. Texts are empty if the store does not know.
struct Trial {
  std::string task, scheme;
  std::int64_t seed = 0;
  double seconds = 0;
  std::string host, machine;  ///< `machine` is the kind: SIMD target and libraries
};

/// A trial that two kinds of machine ran, and the largest relative difference of its numbers, without costs.
struct Repeat {
  std::array<std::string, 2> machines;
  std::string task, scheme;
  std::int64_t seed = 0;
  double largest_difference = 0;
};

struct Machine {
  std::string cpu, simd;
  std::int64_t cores = 0, memory_bytes = 0;
};

struct SchemeSpeed {
  std::string scheme;
  double steps_per_second = 0;
  std::optional<double> torch_steps_per_second, ratio;  ///< absent if the baseline does not have the scheme
};

/// Training speed on the library's kernels, compared with the same model in torch operations.
struct Speed {
  std::string task;
  double ratio = 0;  ///< geometric mean over schemes
  std::vector<SchemeSpeed> schemes;
};

struct Run {
  std::string preset, created, finished;  ///< times in ISO 8601, UTC; `finished` is empty until all trials have ended
  double seconds = 0;                     ///< work time of all workers
  std::int64_t planned = 0, completed = 0, failed = 0;  ///< trials
  Machine machine;
  std::vector<std::pair<std::string, std::string>> versions;
  std::vector<std::int64_t> seeds;
  std::string baseline;  ///< the line that others are paired with
  std::optional<Speed> speed;
};

struct Results {
  Run run;
  std::vector<Task> tasks;
  std::vector<Line> lines;
  std::vector<Number> numbers;
  std::vector<Outcome> outcomes;
  std::vector<Pair> pairs;
  std::vector<PaperClaim> paper_claims;
  std::vector<Cost> costs;
  std::vector<Failure> failures;
  std::vector<Trial> trials;
  std::vector<Repeat> repeats;

  const Line& line(const std::string& name) const;       ///< Error: an unknown name
  std::string label(const std::string& name) const;      ///< the name itself for an unknown one
  const Task* find_task(const std::string& name) const;  ///< null for an unknown name
  const Outcome* outcome(const std::string& task, const std::string& line) const;  ///< null if there is none
  bool learned(const std::string& task, const std::string& line) const;            ///< false if there is no outcome
  /// Returns the task's main number at a length; null if there is none.
  const Number* main_number(const Task& task, const std::string& line, std::int64_t length,
                            std::int64_t place = -1) const;
};

/// Removes the training curves and the numbers by position, which are most of a file and follow from no other number.
/// Numbers by depth stay: main numbers may exist by depth only.
void remove_curves(Results& results);

/// Computes everything that follows from run, tasks, lines and the values of the numbers: estimates, means over places
/// of main numbers that exist by place only, outcomes, pairs and paper claims. Sorts the numbers by task and line.
/// Values that are not finite become absent, and their number has no estimate.
void conclude(Results& results);

}  // namespace locus::results
