// SPDX-License-Identifier: Apache-2.0
// The options that say what a measurement of `locus probe` reads, and the bar that shows its progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/interruption.h"
#include "probe/measure/text.h"
#include "probe/run_control.h"
#include "probe_options.h"
#include "progress_bar.h"

namespace locus::tools {

struct TextOptions {
  std::string text;
  std::string ids;
  std::int64_t seed = 0;
  bool special = false;
};

/// Adds --text, --ids, --special and --seed.
void add_text_options(CLI::App& command, TextOptions& options);

/// At most `most` tokens of --text, of --ids, or sampled from the model. Error where there are none.
probe::MeasuredText read_probe_text(const TextOptions& options, const ProbeOptions& model_options,
                                    const probe::Model& model, std::int64_t most, const probe::RunControl& control);

/// A bar with the time left, fed with tokens; the control for the measurements that it watches.
class TokenProgress {
 public:
  TokenProgress(Executor& executor, const Interruption& interruption);
  /// Begins a stage of so many tokens.
  void begin(std::string what, std::int64_t all);
  void clear() { bar_.clear(); }
  const probe::RunControl& control() const { return control_; }

 private:
  void add(std::int64_t tokens);
  ProgressBar bar_;
  probe::RunControl control_;
  std::string what_;
  std::int64_t done_ = 0, all_ = 1;
  std::chrono::steady_clock::time_point start_;
};

}  // namespace locus::tools
