// SPDX-License-Identifier: Apache-2.0
// Fills the blanks of a text, names in braces, as in "{count} seeds".
#pragma once

#include <string>
#include <string_view>

#include "locus/error.h"

namespace locus {

/// Returns `text` with each {name} replaced by *value_of(name); `key` names the text in errors.
/// Error: a brace that does not close, a name without a value (null).
template <class ValueOf>
std::string filled(std::string_view key, std::string_view text, const ValueOf& value_of) {
  std::string result;
  for (std::size_t open = text.find('{'); open != text.npos; open = text.find('{')) {
    const std::size_t close = text.find('}', open);
    require(close != text.npos, "the message ", key, " has a brace that does not close");
    const std::string_view name = text.substr(open + 1, close - open - 1);
    const std::string* const value = value_of(name);
    require(value != nullptr, "the message ", key, " needs {", name, "}");
    result += text.substr(0, open);
    result += *value;
    text.remove_prefix(close + 1);
  }
  return result += text;
}

}  // namespace locus
