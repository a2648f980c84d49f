// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/position_faults.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "doctor/diagnose/explanations.h"

namespace locus::doctor {
namespace {

using Positions = std::vector<Position>;

// Intended and used positions, [batch, tokens], with derived values for the tests below.
struct Compared {
  const Positions& meant;
  const Positions& used;
  std::size_t tokens;

  std::size_t start(std::size_t n) const { return n / tokens * tokens; }
  bool all(const std::function<bool(std::size_t)>& holds) const {
    for (std::size_t n = 0; n < meant.size(); ++n) {
      if (!holds(n)) return false;
    }
    return true;
  }
  /// Returns the first position smaller than its predecessor within a batch row. Absent if there is none.
  std::optional<std::size_t> restart(const Positions& p) const {
    for (std::size_t n = 1; n < p.size(); ++n) {
      if (n % tokens != 0 && p[n] < p[n - 1]) return n;
    }
    return std::nullopt;
  }
};

using Named = std::optional<PositionFault>;

std::string text_of(Position p) { return std::to_string(p); }

Named same_everywhere(const Compared& c) {
  if (c.all([&](std::size_t n) { return c.used[n] == 0; })) {
    return PositionFault{"positions_all_zero", "every token was rotated as if at position 0"};
  }
  const Position shift = c.used[0] - c.meant[0];
  if (c.all([&](std::size_t n) { return c.used[n] == c.meant[n] + shift; })) {
    return PositionFault{"position_offset", "positions are off by " + text_of(shift) + " everywhere"};
  }
  if (c.all([&](std::size_t n) { return c.used[n] == c.used[0]; })) {
    return PositionFault{"positions_constant", "every token was rotated as if at position " + text_of(c.used[0])};
  }
  if (c.all([&](std::size_t n) { return c.used[n] == -c.meant[n]; })) {
    return PositionFault{"positions_negated", "positions are negated"};
  }
  if (c.all([&](std::size_t n) { return c.used[n] == 2 * c.meant[n]; })) {
    return PositionFault{"positions_doubled", "positions are doubled"};
  }
  for (Position by = 3; by <= 64; ++by) {
    if (!c.all([&](std::size_t n) { return c.used[n] == by * c.meant[n]; })) continue;
    return PositionFault{"positions_differ", "positions are multiplied by " + text_of(by)};
  }
  const auto mirrored = [&](std::size_t n) { return c.used[n] == c.meant[2 * c.start(n) + c.tokens - 1 - n]; };
  if (c.all(mirrored)) return PositionFault{"positions_reversed", "positions run from the last token to the first"};
  return std::nullopt;
}

// Recognizes unsigned and signed integers of a number of bits, and tables indexed modulo their length.
Named wrapped_or_clamped(const Compared& c) {
  for (int bits = 7; bits <= 31; ++bits) {
    const Position modulus = Position{1} << bits;
    const auto unsigned_rest = [&](Position p) { return p & (modulus - 1); };
    const auto signed_rest = [&](Position p) { return unsigned_rest(p + modulus / 2) - modulus / 2; };
    if (c.all([&](std::size_t n) { return c.used[n] == unsigned_rest(c.meant[n]); })) {
      return PositionFault{"positions_wrapped", "positions wrap at " + text_of(modulus) + " (2^" + text_of(bits) + ")"};
    }
    if (c.all([&](std::size_t n) { return c.used[n] == signed_rest(c.meant[n]); })) {
      return PositionFault{"positions_wrapped", "positions become negative at " + text_of(modulus / 2) +
                                                    ", like signed integers of " + text_of(bits) + " bits"};
    }
  }
  const Position last = *std::max_element(c.used.begin(), c.used.end());
  if (c.all([&](std::size_t n) { return c.used[n] == std::min(c.meant[n], last); })) {
    return PositionFault{"positions_clamped", "positions stop at " + text_of(last) + ": a table of " +
                                                  text_of(last + 1) + " rows ends there"};
  }
  return std::nullopt;
}

// Leading tokens with equal positions are padding.
bool padded(const Compared& c) {
  for (std::size_t row = 0; row < c.meant.size(); row += c.tokens) {
    if (c.tokens > 1 && c.meant[row] == c.meant[row + 1]) return true;
  }
  return false;
}

Named heads_or_padding(const Compared& c) {
  for (std::size_t ratio = 2; ratio <= 64 && ratio < c.tokens; ++ratio) {
    const auto slowed = [&](std::size_t n) { return c.used[n] == c.meant[c.start(n) + n % c.tokens / ratio]; };
    if (!c.all(slowed)) continue;
    return PositionFault{"heads_miscounted", "positions advance once every " + std::to_string(ratio) +
                                                 " tokens, as if a token had that many times its heads (keys with the "
                                                 "queries' head count?)"};
  }
  const bool counted = c.all([&](std::size_t n) { return c.used[n] == static_cast<Position>(n % c.tokens); });
  if (padded(c) && counted) {
    return PositionFault{"padding_counted", "padding was counted: positions run from the first token of the row"};
  }
  const bool first_row = c.all([&](std::size_t n) { return c.used[n] == c.meant[n % c.tokens]; });
  if (first_row) return PositionFault{"positions_of_first_document", "later batch rows have the ids of the first one"};
  return std::nullopt;
}

// Documents are runs of positions that go up by one. The first one's ids at the start of each later one, which is wrong
// where these go on from elsewhere.
bool first_again(const Compared& c) {
  std::size_t within = 0, documents = 0;
  for (std::size_t n = 0; n < c.meant.size(); ++n) {
    const bool starts = n % c.tokens == 0 || c.meant[n] != c.meant[n - 1] + 1;
    within = starts ? 0 : within + 1;
    documents += starts && n % c.tokens != 0 ? 1 : 0;
    if (c.used[n] != c.meant[c.start(n)] + static_cast<Position>(within)) return false;
  }
  return documents > 0;
}

Named packing(const Compared& c) {
  const auto meant = c.restart(c.meant), used = c.restart(c.used);
  if (first_again(c)) {
    return PositionFault{"positions_of_first_document", "documents after the first carry its ids"};
  }
  if (meant) {
    const std::size_t length = *meant % c.tokens;
    const auto first = [&](std::size_t n) { return c.used[n] == c.meant[c.start(n) + n % c.tokens % length]; };
    if (c.all(first)) {
      return PositionFault{"positions_of_first_document",
                           "documents after the first repeat its ids, those of " + std::to_string(length) + " tokens"};
    }
  }
  if (meant && !used) {
    return PositionFault{"positions_not_reset", "positions are not reset where a packed document starts, at token " +
                                                    std::to_string(*meant % c.tokens)};
  }
  return std::nullopt;
}

// Names tokens whose position differs from the intended one.
Named some_tokens(const Compared& c, const std::vector<std::size_t>& other) {
  const auto each = [&](const auto& holds) { return std::all_of(other.begin(), other.end(), holds); };
  std::vector<std::int64_t> tokens;
  for (const std::size_t n : other) tokens.push_back(static_cast<std::int64_t>(n % c.tokens));
  if (each([&](std::size_t n) { return c.used[n] == 0; })) {
    return PositionFault{"tokens_not_rotated", runs_of("tokens", tokens) + " not rotated (or rotated as if at 0)"};
  }
  if (each([&](std::size_t n) { return c.used[n] == 2 * c.meant[n]; })) {
    return PositionFault{"cached_rotated_twice", runs_of("tokens", tokens) + " rotated twice, the others once"};
  }
  Positions of_meant, of_used;
  for (const std::size_t n : other) {
    of_meant.push_back(c.meant[n] + static_cast<Position>(c.start(n)) * max_position);
    of_used.push_back(c.used[n] + static_cast<Position>(c.start(n)) * max_position);
  }
  std::sort(of_meant.begin(), of_meant.end());
  std::sort(of_used.begin(), of_used.end());
  if (of_meant == of_used)
    return PositionFault{"positions_swapped", runs_of("tokens", tokens) + " at each other's positions"};
  return std::nullopt;
}

Named from_a_token_on(const Compared& c, const std::vector<std::size_t>& other) {
  const Position shift = c.used[other.front()] - c.meant[other.front()];
  std::size_t first = c.tokens, last = 0;
  for (const std::size_t n : other) {
    first = std::min(first, n % c.tokens);
    last = std::max(last, n % c.tokens);
    if (c.used[n] != c.meant[n] + shift) return std::nullopt;
  }
  std::string text = "positions are off by " + text_of(shift) + " from token " + std::to_string(first) + " on";
  if (last + 1 < c.tokens) text += " to token " + std::to_string(last);
  for (const std::size_t page : {256u, 128u, 64u, 32u, 16u}) {
    if (first % page == 0 && first > 0) {
      return PositionFault{"position_offset_from", text + ", where a page of " + std::to_string(page) + " would start"};
    }
  }
  return PositionFault{"position_offset_from", text + ", where a chunk, a draft or a fork may start"};
}

Named restarted(const Compared& c) {
  const auto used = c.restart(c.used);
  if (!used || c.restart(c.meant)) return std::nullopt;
  for (std::size_t n = 0; n < c.used.size(); ++n) {
    const std::size_t t = n % c.tokens;
    const std::size_t at = *used % c.tokens;
    const Position from = c.used[c.start(n) + at];
    const bool right = t < at ? c.used[n] == c.meant[n] : c.used[n] == from + static_cast<Position>(t - at);
    if (!right || (from != 0 && from != c.meant[c.start(n)])) return std::nullopt;
  }
  return PositionFault{"positions_reset",
                       "positions restart at token " + std::to_string(*used % c.tokens) + ", as if packed"};
}

}  // namespace

std::string runs_of(const std::string& what, std::vector<std::int64_t> members) {
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  if (members.empty()) return "no " + what;
  if (members.size() == 1) {
    return what.substr(0, what.size() - 1) + " " + std::to_string(members.front()) + " is";
  }
  std::string text = what + " ";
  int runs = 0;
  for (std::size_t n = 0; n < members.size();) {
    std::size_t end = n;
    while (end + 1 < members.size() && members[end + 1] == members[end] + 1) ++end;
    if (++runs > 6) return text + ", ... are";
    if (n > 0) text += ", ";
    text += std::to_string(members[n]);
    if (end > n) text += " to " + std::to_string(members[end]);
    n = end + 1;
  }
  return text + " are";
}

PositionFault name_position_fault(const Positions& meant, const Positions& used, std::int64_t tokens) {
  if (meant == used) return {};
  const Compared compared{meant, used, static_cast<std::size_t>(tokens)};
  std::vector<std::size_t> other;
  for (std::size_t n = 0; n < meant.size(); ++n) {
    if (meant[n] != used[n]) other.push_back(n);
  }
  Named named = same_everywhere(compared);
  if (!named) named = wrapped_or_clamped(compared);
  if (!named) named = heads_or_padding(compared);
  if (!named) named = packing(compared);
  if (!named) named = some_tokens(compared, other);
  if (!named) named = restarted(compared);
  if (!named) named = from_a_token_on(compared, other);
  if (!named) {
    named = PositionFault{"positions_differ",
                          "positions differ from token " + std::to_string(other.front() % compared.tokens) + " on"};
  }
  named->text += "; expected " + describe_positions(meant) + ", used " + describe_positions(used);
  return *named;
}

}  // namespace locus::doctor
