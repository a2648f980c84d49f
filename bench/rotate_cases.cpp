// SPDX-License-Identifier: Apache-2.0
// Times rotation in place against the better of two in-place scalings of the same bytes.
#include <algorithm>

#include "buffer.h"
#include "cases.h"
#include "locus/locus.h"
#include "machine_limits.h"
#include "rotate_cases.h"

namespace locus::bench {
namespace {

// A factor that the compiler does not know to be 1.
volatile float unchanged = 1.0f;

// In L3 the linear scaling alone would be too low a limit.
std::function<void()> scaling_limit(Buffer& buffer, const Pairs& pairs) {
  const auto linear = [&buffer] { scale_linear(buffer.floats(), buffer.count(), unchanged); };
  const auto two = [&buffer] { scale_two_streams(buffer.floats(), buffer.count(), rotate_head_dim, unchanged); };
  const Comparison which = compare(two, linear, {.rounds = 7, .round_seconds = pairs.round_seconds});
  return which.share.median > 1 ? std::function<void()>(two) : linear;
}

Case measure(const RotateCase& kind, std::size_t which, const Pairs& pairs) {
  const Size& size = sizes[which];
  const Encoding encoding("rope", {{"head_dim", rotate_head_dim}, {"pairing", std::string(kind.pairing)}},
                          std::size_t{64} << 20);
  Buffer buffer(size.bytes);
  if (kind.type != ElementType::float32) {  // small finite values in any 16-bit format
    auto* bits = static_cast<std::uint16_t*>(buffer.data());
    std::fill_n(bits, buffer.bytes() / 2, std::uint16_t{0x3c00});
  }
  const std::int64_t tokens = tokens_in(size, kind.type);
  const HeadsView view = heads_view(buffer.data(), kind.type, "thd", {{tokens, rotate_heads, rotate_head_dim}});
  const PositionIds ids = positions::prefill(tokens);
  const std::function<void()> limit = scaling_limit(buffer, pairs);
  return {.group = {},
          .name = {},
          .limit = "in-place scaling",
          .result = compare([&] { rotate(encoding, view, ids); }, limit, pairs),
          .bar = kind.bars[which],
          .amount = 2.0 * static_cast<double>(size.bytes)};
}

}  // namespace

std::vector<PlannedCase> plan_rotate_cases() {
  std::vector<PlannedCase> cases;
  for (const RotateCase& kind : rotate_cases) {
    for (std::size_t s = 0; s < std::size(sizes); ++s) {
      cases.push_back({"rotate", std::string(kind.name) + " " + sizes[s].name,
                       [&kind, s](const Pairs& pairs) { return measure(kind, s, pairs); }});
    }
  }
  return cases;
}

}  // namespace locus::bench
