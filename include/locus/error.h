// SPDX-License-Identifier: Apache-2.0
// The exception type of Locus and the functions that throw it.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace locus {

/// Thrown for bad input. The message names the parameter or file, the value and the rule, e.g.
/// `rope.rotary_dim must be even and at most head_dim (128), got 129`.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

/// Throws Error with the concatenated parts. A part that is callable without arguments is called for its text.
template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  std::ostringstream text;
  text.precision(12);
  const auto add = [&text](const auto& part) {
    if constexpr (std::is_invocable_v<decltype(part)>) {
      text << part();
    } else {
      text << part;
    }
  };
  (add(parts), ...);
  throw Error(text.str());
}

/// Throws Error with the concatenated `parts` unless `condition` holds. Pass an expensive part as a lambda, which is
/// called only on failure:
///   require(fits, "the table must be ", [&] { return shape_text(wanted); });
template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) fail(parts...);
}

}  // namespace locus
