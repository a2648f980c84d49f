// SPDX-License-Identifier: Apache-2.0
// JSON for readers: any value, and changes of a value that a reader takes.
#pragma once

#include <nlohmann/json.hpp>

#include "choices.h"

namespace locus::fuzz {

using Json = nlohmann::ordered_json;

/// Makes a value of any type.
inline Json any_json(Choices& choices, int depth = 0) {
  switch (choices.below(depth < 3 ? 8 : 6)) {
    case 0:
      return choices.integer();
    case 1:
      return choices.real();
    case 2:
      return choices.text();
    case 3:
      return choices.flag();
    case 4:
      return nullptr;
    case 5:
      return choices.below(4096);
    case 6: {
      Json list = Json::array();
      for (std::size_t i = choices.below(5); i > 0; --i) list.push_back(any_json(choices, depth + 1));
      return list;
    }
    default: {
      Json object = Json::object();
      for (std::size_t i = choices.below(4); i > 0; --i) object[choices.text()] = any_json(choices, depth + 1);
      return object;
    }
  }
}

/// Makes another number, text or flag in the place of one.
inline Json other_leaf(const Json& value, Choices& choices) {
  if (value.is_number_integer()) return choices.integer();
  if (value.is_number()) return choices.real();
  if (value.is_string()) return choices.text();
  if (value.is_boolean()) return choices.flag();
  return any_json(choices, 3);
}

/// Changes some of the values inside: leaves get other values of their type or of any type, members of objects and lists
/// are dropped, doubled or swapped.
inline void vary(Json& value, Choices& choices) {
  if (!choices.more()) return;
  if (!value.is_structured()) {
    const std::uint8_t change = choices.byte();
    if (change >= 216) value = other_leaf(value, choices);
    if (change >= 250) value = any_json(choices);
    return;
  }
  if (choices.fault()) {
    value = any_json(choices);
    return;
  }
  if (value.is_array() && !value.empty()) {
    const std::uint8_t change = choices.byte();
    const auto at = static_cast<std::ptrdiff_t>(choices.below(value.size()));
    if (change >= 250) {
      value.erase(value.begin() + at);
    } else if (change >= 230) {
      value.push_back(Json(value[static_cast<std::size_t>(at)]));
    } else if (change >= 220) {
      std::swap(value.front(), value[static_cast<std::size_t>(at)]);
    }
  } else if (!value.empty() && choices.fault()) {
    value.erase(std::next(value.begin(), static_cast<std::ptrdiff_t>(choices.below(value.size()))));
  }
  for (Json& inner : value) vary(inner, choices);
}

/// Returns the text, sometimes damaged. Bytes that are not UTF-8 are left out.
inline std::string text_of(const Json& value, Choices& choices) {
  std::string text = value.dump(-1, ' ', choices.flag(), Json::error_handler_t::ignore);
  damage(text, choices);
  return text;
}

}  // namespace locus::fuzz
