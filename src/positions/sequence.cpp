// SPDX-License-Identifier: Apache-2.0
// One sequence, from its start or after a cached prefix.
#include "positions/checks.h"

namespace locus::positions {

namespace {

PositionIds running(std::string_view name, std::int64_t tokens, Position start) {
  PositionIds result = make_ids(name, 1, 1, tokens);
  if (tokens > 0) checked_sum(name, start, tokens - 1);
  // Not std::iota: its last increment would overflow if the last id is the largest 64-bit number.
  for (std::int64_t token = 0; token < tokens; ++token) result.ids[static_cast<std::size_t>(token)] = start + token;
  return result;
}

}  // namespace

PositionIds prefill(std::int64_t tokens, Position start) {
  require_at_least("prefill.tokens", tokens, 0);
  require_at_least("prefill.start", start, 0);
  return running("prefill", tokens, start);
}

PositionIds decode(std::int64_t prefix, std::int64_t tokens) {
  require_at_least("decode.prefix", prefix, 0);
  require_at_least("decode.tokens", tokens, 0);
  return running("decode", tokens, prefix);
}

}  // namespace locus::positions
