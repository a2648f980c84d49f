// SPDX-License-Identifier: Apache-2.0
// The message for unknown names, with the nearest known one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace locus {

/// Returns the known name nearest to `given`, or nothing. Allows one edit per three letters and at least one; an edit
/// inserts, drops or replaces a letter or swaps two neighbours. Case is ignored.
std::optional<std::string_view> nearest_name(std::string_view given, const std::vector<std::string_view>& known);

/// `unknown scheme 'ropee'; did you mean 'rope'? known: nope, rope, ...`. `kind` says what was named.
std::string unknown_name(std::string_view kind, std::string_view given, const std::vector<std::string_view>& known);

/// Error: always, with the text of unknown_name().
[[noreturn]] void fail_unknown(std::string_view kind, std::string_view given,
                               const std::vector<std::string_view>& known);

/// Returns the names of `entries`. `name_of(entry)` must outlive the result.
template <class Entries, class NameOf>
std::vector<std::string_view> names_of(const Entries& entries, const NameOf& name_of) {
  std::vector<std::string_view> names;
  for (const auto& entry : entries) names.push_back(name_of(entry));
  return names;
}

/// Returns the entry called `name`.
/// Error: unknown_name() if there is none.
template <class Entries, class NameOf>
const auto& find_named(std::string_view kind, const Entries& entries, std::string_view name, const NameOf& name_of) {
  for (const auto& entry : entries) {
    if (name_of(entry) == name) return entry;
  }
  fail_unknown(kind, name, names_of(entries, name_of));
}

}  // namespace locus
