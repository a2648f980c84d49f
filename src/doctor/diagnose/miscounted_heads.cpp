// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/miscounted_heads.h"

#include "doctor/diagnose/solved_positions.h"
#include "doctor/diagnose/turning.h"

namespace locus::doctor {

std::optional<Verdict> judge_miscounted_heads(const RotationDump& dump, const Expectation& expected,
                                              const std::vector<Turning>& slices, double floor) {
  if (!expected.encoding || dump.heads < 2 || expected.encoding->rotation().axes != 1) return std::nullopt;
  const Rotation& rotation = expected.encoding->rotation();
  // If the heads of a token turn alike, their number is right.
  if (!slices.empty() && tokens_turning_alike(dump, slices.front()) > 0.9) return std::nullopt;
  RotationDump each = dump;  // each head becomes a token
  each.tokens = dump.tokens * dump.heads;
  each.heads = 1;
  const Turning turning = measure(
      each, {rotation.pairing, rotation.deinterleaved_output, rotation.rotary_offset, rotation.rotary_dim}, floor);
  if (turning.relative_noise > 0.02) return std::nullopt;
  std::vector<Position> meant;
  for (std::int64_t row = 0; row < dump.batch * dump.tokens; ++row) {
    const std::int64_t t = row % dump.tokens;
    const std::int64_t b = expected.positions && expected.positions->batch > 1 ? row / dump.tokens : 0;
    meant.push_back(expected.positions ? expected.positions->ids[static_cast<std::size_t>(b * dump.tokens + t)] : t);
  }
  constexpr std::int64_t most = 256;
  for (std::int64_t heads = 1; heads <= most; ++heads) {
    if (heads == dump.heads) continue;
    std::vector<Position> counted;
    bool inside = true;
    for (std::int64_t n = 0; n < each.batch * each.tokens; ++n) {
      const auto row = static_cast<std::size_t>(n / each.tokens * dump.tokens + n % each.tokens / heads);
      inside = inside && n % each.tokens / heads < dump.tokens;
      if (inside) counted.push_back(meant[row]);
    }
    if (!inside) continue;
    double worst = 0;
    for (std::int64_t n = 0; n < turning.rows && worst < 3; ++n) {
      const double p = static_cast<double>(counted[static_cast<std::size_t>(n)]);
      worst = std::max(worst, row_misfit(turning, n, {rotation.inv_freq, {}}, p, 0x1p-26));
    }
    if (worst >= 3) continue;
    return Verdict{Verdict::About::heads, "heads_miscounted",
                   "rotated as if a token had " + std::to_string(heads) + " heads; it has " +
                       std::to_string(dump.heads) + " (keys with the queries' head count?)",
                   "each head is a rotation at the position of token n / " + std::to_string(heads) + ", worst misfit " +
                       std::to_string(worst) + " (1: storage noise)",
                   0.95};
  }
  return std::nullopt;
}

}  // namespace locus::doctor
