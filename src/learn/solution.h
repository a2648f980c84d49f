// SPDX-License-Identifier: Apache-2.0
// A learner's functions, called in a process of their own. harness.py and locus_exercise.h are the other side.
#pragma once

#include <string>
#include <vector>

#include "learn/broken_law.h"
#include "learn/child.h"
#include "learn/value.h"

namespace locus::learn {

class Solution {
 public:
  /// Starts the program `words`, which serves the functions, for at most `seconds` in all.
  Solution(std::vector<std::string> words, double seconds);

  /// Calls a function. Throws BrokenLaw if it is not there, raises, crashes, takes too long, or returns something else
  /// than finite numbers (of `shape`, if given).
  Array call(const std::string& function, const std::vector<Argument>& arguments);
  Array call(const std::string& function, const std::vector<Argument>& arguments, const Shape& shape);
  /// Calls a function that returns text.
  std::string call_for_text(const std::string& function, const std::vector<Argument>& arguments);

  const std::string& printed() { return child_.printed(); }

 private:
  Array numbers(const std::string& function, const std::vector<Argument>& arguments);
  void ask(const std::string& function, const std::vector<Argument>& arguments);
  Argument read_value(const std::string& function);
  void send_value(const Argument& value, std::size_t index);
  [[noreturn]] void lost();
  [[noreturn]] void refused(const std::vector<std::string>& words);
  std::vector<std::string> read_words();
  std::string read_bytes(std::size_t count);

  Child child_;
  double seconds_;
};

}  // namespace locus::learn
