// SPDX-License-Identifier: Apache-2.0
// Joins text and numbers for verdicts and their evidence.
#pragma once

#include <sstream>
#include <string>

namespace locus::doctor {

template <class... Parts>
std::string sentence(const Parts&... parts) {
  std::ostringstream stream;
  stream.precision(4);
  (stream << ... << parts);
  return stream.str();
}

}  // namespace locus::doctor
