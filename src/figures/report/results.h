// SPDX-License-Identifier: Apache-2.0
// The results of a lab run as docs/results-format.md describes them, read once and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "figures/figure.h"

namespace locus::figures {

struct ResultTask {
  std::string name, title, measures;
  std::string main;  ///< the name of the numbers that rank
  bool higher_is_better = true;
  bool is_loss = false;
  std::optional<double> chance, majority, learned_at;
  std::int64_t train_length = 0;
  std::vector<std::int64_t> lengths;
  std::int64_t steps = 0, tune_steps = 0, batch = 0;
  std::optional<double> learning_rate;
  std::int64_t layers = 0, heads = 0, width = 0;
};

struct ResultLine {
  std::string name, trained, label, site, variant;
  bool tuned = false;
  /// Tested as it was trained: not stretched, resized or tuned afterwards.
  bool is_plain() const { return name == trained; }
};

struct ResultNumber {
  std::string task, line, name;
  std::int64_t length = 0;
  std::int64_t place = -1;
  double mean = 0;
  std::optional<double> low, high;            ///< 95 % interval over seeds
  std::vector<std::optional<double>> values;  ///< one per seed
};

struct ResultVerdict {
  std::string task, line;
  bool learned = false;
  std::optional<double> in_range, beyond;
  std::string reason;
};

struct ResultClaim {
  std::string claim, source, seen, agrees;
};

struct ResultCost {
  std::string task, line;
  std::optional<double> parameters, seconds_per_step, peak_bytes;
};

struct ResultFailure {
  std::string task, scheme;
  std::int64_t seed = 0;
  std::string error;
};

struct Results {
  Json run;  ///< as it stands in the file
  std::vector<std::int64_t> seeds;
  std::vector<ResultTask> tasks;
  std::vector<ResultLine> lines;
  std::vector<ResultNumber> numbers;
  std::vector<ResultVerdict> verdicts;
  std::vector<ResultClaim> claims;
  std::vector<ResultCost> costs;
  std::vector<ResultFailure> failures;

  const ResultLine& line(const std::string& name) const;  ///< Error where there is none
  /// What `label` calls it, and the name where there is no such line.
  std::string label(const std::string& name) const;
  /// False also where nothing is said about it.
  bool learned(const std::string& task, const std::string& line) const;
};

/// Error naming the place where `file` is not as the format says, or where its format number is another.
Results read_results(const Json& file);

}  // namespace locus::figures
