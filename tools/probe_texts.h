// SPDX-License-Identifier: Apache-2.0
// The options for the text that `locus probe` reads, and its progress bar.
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

/// Returns at most `most` tokens of --text, of --ids, or sampled from the model. Error: no tokens.
probe::MeasuredText read_probe_text(const TextOptions& options, const ProbeOptions& model_options,
                                    const probe::Model& model, std::int64_t most, const probe::RunControl& control);

/// A progress bar over tokens with the time left; it also tells measurements when to stop.
class TokenProgress {
 public:
  TokenProgress(Executor& executor, const Interruption& interruption);
  /// Begins a stage of `all` tokens.
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
