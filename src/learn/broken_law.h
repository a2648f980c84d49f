// SPDX-License-Identifier: Apache-2.0
// What a grader throws at the first law that a solution breaks. Sentences are in the catalogue (messages.h).
#pragma once

#include <map>
#include <sstream>
#include <string>

namespace locus::learn {

/// What stands for {name} in a sentence.
using Parameters = std::map<std::string, std::string>;

/// Text of a number or word, with at most six digits.
template <class T>
std::string shown(const T& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

struct BrokenLaw {
  std::string law;         ///< key of the sentence that states the law and where it is broken
  std::string cause = {};  ///< key of the sentence that names the likely cause; empty: unknown
  Parameters parameters = {};
};

}  // namespace locus::learn
