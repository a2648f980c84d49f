// SPDX-License-Identifier: Apache-2.0
// What a grader throws at the first law that a solution breaks. Their sentences are in the catalogue (messages/sentences.h).
#pragma once

#include <sstream>
#include <string>

#include "messages/sentences.h"

namespace locus::learn {

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
