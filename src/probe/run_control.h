// SPDX-License-Identifier: Apache-2.0
// How a long measurement is run: its threads, its progress, and how it may be interrupted.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "locus/executor.h"

namespace locus::probe {

struct RunControl {
  Executor* executor = nullptr;
  std::function<void(std::int64_t)> on_tokens = [](std::int64_t) {};  ///< called with the number of tokens just read
  std::function<void(const std::string& stage, std::int64_t tokens)> on_stage = [](const std::string&, std::int64_t) {
  };                                                         ///< called where a stage begins, with its number of tokens
  std::function<bool()> interrupted = [] { return false; };  ///< true: the measurement ends and returns what it has
  std::int64_t chunk = 256;                                  ///< tokens per forward call
};

}  // namespace locus::probe
