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
  std::function<void(std::int64_t)> on_tokens = [](std::int64_t) {};  ///< so many more tokens went through the model
  std::function<void(const std::string& stage, std::int64_t tokens)> on_stage = [](const std::string&, std::int64_t) {
  };                                                         ///< begins, with so many tokens to go
  std::function<bool()> interrupted = [] { return false; };  ///< true: what is measured so far is returned
  std::int64_t chunk = 256;                                  ///< tokens that go through the model at a time
};

}  // namespace locus::probe
