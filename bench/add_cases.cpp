// SPDX-License-Identifier: Apache-2.0
// Times adding rows to hidden states in place against adding one row to all of them.
#include "buffer.h"
#include "cases.h"
#include "locus/locus.h"
#include "machine_limits.h"
#include "rotate_cases.h"
#include "simd_targets.h"

namespace locus::bench {
namespace {

constexpr std::int64_t dim = 4096;

Case measure(const Encoding& encoding, const Size& size, const Pairs& pairs) {
  Buffer buffer(size.bytes);
  const std::int64_t tokens = static_cast<std::int64_t>(buffer.count()) / dim;
  const HiddenView view{.data = buffer.data(), .tokens = tokens, .dim = dim, .token_stride = dim};
  const PositionIds ids = positions::prefill(tokens);
  const std::vector<float> row(static_cast<std::size_t>(dim), 0.5f);
  const auto limit = [&] { add_repeated_row(buffer.floats(), buffer.count(), row.data(), row.size()); };
  return {.group = {},
          .name = {},
          .limit = "adding one row to all",
          .result = compare([&] { add(encoding, view, ids); }, at_best_width({limit}, pairs), pairs),
          .amount = 2.0 * static_cast<double>(size.bytes)};
}

}  // namespace

std::vector<PlannedCase> plan_add_cases() {
  struct Scheme {
    const char* name;
    Encoding encoding;
  };
  const Scheme schemes[] = {
      {"sinusoidal interleaved", Encoding("sinusoidal", {{"dim", dim}})},
      {"sinusoidal concatenated", Encoding("sinusoidal", {{"dim", dim}, {"arrangement", std::string("concatenated")}})},
      {"learned", Encoding("learned", {{"dim", dim}, {"max_positions", std::int64_t{16384}}})},
  };
  std::vector<PlannedCase> cases;
  for (const Scheme& one : schemes) {
    for (const Size& size : sizes) {
      const Encoding& encoding = one.encoding;
      cases.push_back({"add", std::string(one.name) + " float32 " + size.name,
                       [encoding, &size](const Pairs& pairs) { return measure(encoding, size, pairs); }});
    }
  }
  return cases;
}

}  // namespace locus::bench
