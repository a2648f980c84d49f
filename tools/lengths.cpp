// SPDX-License-Identifier: Apache-2.0
#include "lengths.h"

#include <charconv>

#include "locus/error.h"

namespace locus::tools {

Lengths parse_lengths(std::string_view option, std::string_view text) {
  Lengths lengths;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    std::int64_t length = 0;
    const auto [stop, error] = std::from_chars(at, end, length);
    const bool more = stop != end && *stop == 'x' && lengths.empty();
    require(error == std::errc() && length >= 1 && (stop == end || more), option,
            " must be a length such as 512 or a grid such as 14x14, got \"", text, "\"");
    lengths.push_back(length);
    if (!more) return lengths;
    at = stop + 1;
  }
}

}  // namespace locus::tools
