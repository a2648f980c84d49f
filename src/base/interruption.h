// SPDX-License-Identifier: Apache-2.0
// Handles Ctrl-C so that a program can show what it has done: the first one is noted, another after a second or two
// ends the program.
#pragma once

namespace locus {

/// During its lifetime SIGINT and SIGTERM are noted and do not end the program.
class Interruption {
 public:
  Interruption();
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  bool happened() const;
  /// Ends the program by the noted signal, so that a shell or a script sees it.
  [[noreturn]] void end_program() const;
};

}  // namespace locus
