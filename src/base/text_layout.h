// SPDX-License-Identifier: Apache-2.0
// Text in columns: widths, padding and line breaks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace locus {

/// Returns the number of characters of a UTF-8 text without colours; every character counts as one column.
std::size_t columns_of(std::string_view text);

std::string left_padded(std::string_view text, std::size_t columns);
std::string right_padded(std::string_view text, std::size_t columns);

/// Returns at most the first `columns` characters; the last is … if some are omitted.
std::string shortened(std::string_view text, std::size_t columns);

/// Returns a count with its noun: "1 error", "2 errors". The plural is formed by an s.
std::string counted(std::size_t count, std::string_view noun);

/// Breaks a text at blanks into lines of at most `width` columns, each ended by a newline.
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace locus
