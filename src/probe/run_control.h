// SPDX-License-Identifier: Apache-2.0
// Controls a long measurement: its threads, its progress, and its interruption.
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
  };  ///< called at the start of a stage, with its number of tokens
  std::function<bool()> interrupted = [] { return false; };  ///< true: the measurement stops and returns what it has
  std::int64_t chunk = 256;                                  ///< tokens per forward call
};

}  // namespace locus::probe
