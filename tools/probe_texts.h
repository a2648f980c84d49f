// SPDX-License-Identifier: Apache-2.0
// What the measurements of `locus probe` read: a text, ids, or what the model itself says; and how they show progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/interruption.h"
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

struct ProbeText {
  std::vector<probe::Token> tokens = {};
  std::optional<probe::Token> bos = {};
  std::string source = {};  ///< "story.txt", "ids.json", "sampled from the model"
  bool bos_added = false;
  std::string caveat = {};  ///< what the text cannot show; empty for a user's own
};

/// At most `most` tokens, beginning-of-sequence in front, which is added where it is lacking. Error where it is empty.
ProbeText read_probe_text(const TextOptions& options, const ProbeOptions& model_options, const probe::Model& model,
                          std::int64_t most, const probe::RunControl& control);

/// A bar with the time left, fed with tokens; the control for the measurements that it watches.
class TokenProgress {
 public:
  TokenProgress(Executor& executor, const Interruption& interruption);
  /// What comes now and how many tokens all of it takes.
  void begin(std::string what, std::int64_t all);
  void rename(std::string what) { what_ = std::move(what); }
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
