// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <utility>

#include "locus/error.h"
#include "locus/names.h"
#include "locus/text.h"

namespace locus {
namespace {

bool same_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// The optimal string alignment distance: insertions, deletions, replacements, and swaps of neighbours. Three rows of
// the table of prefix distances are enough, since a swap looks back two rows.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same_letter(a[i - 1], b[j - 1]) ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) && same_letter(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest_name(std::string_view given, const std::vector<std::string_view>& known) {
  constexpr std::size_t longest = 256;  // longer names are no typing errors, and the distance costs their square
  if (given.empty() || given.size() > longest) return std::nullopt;
  std::optional<std::string_view> nearest;
  std::size_t fewest = std::max<std::size_t>(1, given.size() / 3) + 1;
  for (const std::string_view name : known) {
    if (name.size() > longest) continue;
    const std::size_t edits = edits_between(given, name);
    if (edits < fewest && edits < name.size()) {
      fewest = edits;
      nearest = name;
    }
  }
  return nearest;
}

std::string unknown_name(std::string_view kind, std::string_view given, const std::vector<std::string_view>& known) {
  const std::optional<std::string_view> nearest = nearest_name(given, known);
  const std::string hint = nearest ? concat("did you mean '", *nearest, "'? ") : std::string();
  return concat("unknown ", kind, " '", given.substr(0, 80), "'; ", hint,
                "known: ", known.empty() ? std::string("none") : joined(known));
}

void fail_unknown(std::string_view kind, std::string_view given, const std::vector<std::string_view>& known) {
  throw Error(unknown_name(kind, given, known));
}

}  // namespace locus
