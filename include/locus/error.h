// SPDX-License-Identifier: Apache-2.0
// The one exception type of Locus, and the way its messages are put together.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace locus {

/// Thrown for bad input. The message names the thing, the value and the rule, e.g.
/// `rope.rotary_dim must be even and at most head_dim (128), got 129`.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

/// Puts the parts together and throws Error.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  text.precision(12);
  (text << ... << parts);
  throw Error(text.str());
}

/// Throws Error made of `parts` unless `condition` holds.
template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) fail(parts...);
}

}  // namespace locus
