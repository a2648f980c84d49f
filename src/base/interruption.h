// SPDX-License-Identifier: Apache-2.0
// Ctrl-C with a chance to show what is done: the first one is noted, another after a second or two ends the program.
#pragma once

namespace locus {

/// While it lives, SIGINT and SIGTERM are noted instead of ending the program.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool happened() const;
  /// Ends the program as the noted signal would have, so that a shell or a script sees it.
  [[noreturn]] void end_program() const;
};

}  // namespace locus
