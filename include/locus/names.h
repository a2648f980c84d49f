// SPDX-License-Identifier: Apache-2.0
// One phrase for names that are unknown, with the nearest known one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace locus {

/// The known name nearest to `given`: at most one edit (a letter inserted, dropped or replaced, or two neighbours
/// swapped; case is ignored) for every three letters, and at least one. Nothing where no name is that near.
std::optional<std::string_view> nearest_name(std::string_view given, const std::vector<std::string_view>& known);

/// `unknown scheme 'ropee'; did you mean 'rope'? known: nope, rope, ...`. `kind` says what the name stands for.
std::string unknown_name(std::string_view kind, std::string_view given, const std::vector<std::string_view>& known);

/// Throws Error with unknown_name().
[[noreturn]] void fail_unknown(std::string_view kind, std::string_view given,
                               const std::vector<std::string_view>& known);

/// The names of `entries`: `name_of(entry)` must outlive the result.
template <class Entries, class NameOf>
std::vector<std::string_view> names_of(const Entries& entries, const NameOf& name_of) {
  std::vector<std::string_view> names;
  for (const auto& entry : entries) names.push_back(name_of(entry));
  return names;
}

/// The entry whose name is `name`; Error with unknown_name() where there is none.
template <class Entries, class NameOf>
const auto& find_named(std::string_view kind, const Entries& entries, std::string_view name, const NameOf& name_of) {
  for (const auto& entry : entries) {
    if (name_of(entry) == name) return entry;
  }
  fail_unknown(kind, name, names_of(entries, name_of));
}

}  // namespace locus
