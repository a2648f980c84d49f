// SPDX-License-Identifier: Apache-2.0
// Times rotation in place against the better of two in-place scalings of the same bytes, at the best vector width.
#include <algorithm>

#include "buffer.h"
#include "cases.h"
#include "locus/locus.h"
#include "machine_limits.h"
#include "memory_size.h"
#include "rotate_cases.h"
#include "simd_targets.h"

namespace locus::bench {
namespace {

// A factor that the compiler does not know to be 1.
volatile float unchanged = 1.0f;

// In L3 the linear scaling alone would be too low a limit.
std::function<void()> scaling_limit(Buffer& buffer, const Pairs& pairs) {
  const auto linear = [&buffer] { scale_linear(buffer.floats(), buffer.count(), unchanged); };
  const auto two = [&buffer] { scale_two_streams(buffer.floats(), buffer.count(), rotate_head_dim, unchanged); };
  return at_best_width({linear, two}, pairs);
}

Case measure(const RotateCase& kind, const Size& size, double bar, const Pairs& pairs) {
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
          .bar = bar,
          .amount = 2.0 * static_cast<double>(size.bytes)};
}

}  // namespace

std::vector<PlannedCase> plan_rotate_cases(bool quick) {
  std::vector<PlannedCase> cases;
  const auto add = [&](const RotateCase& kind, const std::string& name, const Size& size, std::size_t which) {
    cases.push_back({"rotate", std::string(kind.name) + " " + name, [&kind, size, which](const Pairs& pairs) {
                       return measure(kind, size, (vector_bytes() >= 64 ? kind.wide_bars : kind.bars)[which], pairs);
                     }});
  };
  const Size memory{"from memory", memory_bytes()};
  for (const RotateCase& kind : rotate_cases) {
    for (std::size_t s = 0; s < std::size(sizes); ++s) add(kind, sizes[s].name, sizes[s], s);
    if (quick || memory.bytes == sizes[2].bytes) continue;
    add(kind, std::to_string(memory.bytes >> 20) + " MB", memory, 2);
  }
  return cases;
}

}  // namespace locus::bench
