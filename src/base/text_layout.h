// SPDX-License-Identifier: Apache-2.0
// Text in columns: widths, padding and line breaks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace locus {

/// The number of characters of a UTF-8 text, colours not counted; every character counts as one column.
std::size_t columns_of(std::string_view text);

std::string left_padded(std::string_view text, std::size_t columns);
std::string right_padded(std::string_view text, std::size_t columns);

/// The first `columns` characters at most, the last of them … where some are left out.
std::string shortened(std::string_view text, std::size_t columns);

/// Lines of at most `width` columns, broken at blanks, each ended by a newline.
std::string wrapped(std::string_view text, std::size_t width);

}  // namespace locus
