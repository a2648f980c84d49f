// SPDX-License-Identifier: Apache-2.0
#include "kernels/bias_rows.h"

namespace locus {
namespace {

constexpr Position kept_distances = 32768;

}  // namespace

BiasRows::BiasRows(const ScoreBias& bias)
    : bias_(bias),
      past_(2 * bias.heads, static_cast<std::size_t>(2 * bias.heads * kept_distances) * sizeof(float)),
      future_(2 * bias.heads, static_cast<std::size_t>(2 * bias.heads * kept_distances) * sizeof(float)) {}

double BiasRows::value(std::int64_t head, Position offset) const {
  const Position sign = offset > 0 ? 1 : -1;
  const RowTable& table = offset > 0 ? future_ : past_;
  const auto fill = [&](Position first, std::int64_t count, float* rows) {
    for (Position distance = first; distance < first + count; ++distance) {
      for (std::int64_t h = 0; h < bias_.heads; ++h) {
        const double value = bias_.value(h, 0, sign * distance);
        const auto high = static_cast<float>(value);
        *rows++ = high;
        *rows++ = static_cast<float>(value - static_cast<double>(high));
      }
    }
  };
  const Position distance = sign * offset;
  const float* row = table.built_row(distance);
  if (row == nullptr && distance < kept_distances) {  // blocks are built in order
    for (Position block = 0; block <= distance; block += RowTable::block_rows) table.row(block, fill);
    row = table.built_row(distance);
  }
  if (row == nullptr) return bias_.value(head, 0, offset);
  return static_cast<double>(row[2 * head]) + static_cast<double>(row[2 * head + 1]);
}

}  // namespace locus
