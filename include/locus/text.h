// SPDX-License-Identifier: Apache-2.0
// Builds text from parts, lists and numbers.
#pragma once

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>

namespace locus {

/// Concatenates the parts; reals have at most `digits` significant digits.
template <int digits = 6, class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream text;
  text.precision(digits);
  (text << ... << parts);
  return text.str();
}

/// `a, b, c`: joins the items with `between`. `as_text(item)` converts an item that is neither text nor number.
template <class Items, class AsText>
std::string joined(const Items& items, std::string_view between, const AsText& as_text) {
  std::ostringstream text;
  text.precision(12);
  bool first = true;
  for (const auto& item : items) {
    if (!first) text << between;
    text << as_text(item);
    first = false;
  }
  return text.str();
}

template <class Items>
std::string joined(const Items& items, std::string_view between = ", ") {
  return joined(
      items, between, [](const auto& item) -> const auto& { return item; });
}

/// `a, b and c`: joins the items with commas, and `last` before the last one.
template <class Items>
std::string listed(const Items& items, std::string_view last = " and ") {
  std::ostringstream text;
  text.precision(12);
  std::size_t i = 0;
  for (const auto& item : items) {
    if (i > 0) text << (i + 1 == std::size(items) ? last : ", ");
    text << item;
    ++i;
  }
  return text.str();
}

/// Formats with at most `digits` significant digits: 0.0123, 12.3, 1.23e-07, 0.
std::string significant(double value, int digits = 3);
/// Formats with exactly `decimals` decimals.
std::string fixed(double value, int decimals);
/// Formats with thousands separators: 12,345.
std::string grouped(std::int64_t value);

}  // namespace locus
