// SPDX-License-Identifier: Apache-2.0
#include "kernels/piece_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace locus {
namespace {

constexpr Position kept_queries = 32768;
constexpr std::size_t most_bytes = std::size_t{1} << 24;

ScoreBias as_bias(const BiasPieces& pieces) {
  ScoreBias bias;
  bias.heads = 1;
  bias.value = [&pieces](std::int64_t, Position query, Position key) { return pieces.by_distance(query - key); };
  return bias;
}

// A row starts with the bits of the query's factor.
constexpr std::int64_t factor_floats = sizeof(double) / sizeof(float);

std::int64_t floats_of(const BiasPieces& pieces) { return factor_floats + std::ssize(pieces.breaks); }

double factor_in(const float* row) {
  double factor = 0;
  std::memcpy(&factor, row, sizeof factor);
  return factor;
}

}  // namespace

PieceRows::PieceRows(const BiasPieces& pieces)
    : pieces_(pieces),
      distances_(as_bias(pieces)),
      kept_distances_(distances_),
      kept_queries_(floats_of(pieces),
                    std::min(static_cast<std::size_t>(floats_of(pieces) * kept_queries) * sizeof(float), most_bytes)) {}

// A distance beyond 2^24 is rounded. The bias has no jump at a break, so that such a distance may be in either piece.
void PieceRows::compute(Position query, float* to) const {
  const double factor = pieces_.by_query(query);
  std::memcpy(to, &factor, sizeof factor);
  to += factor_floats;
  for (const double at : pieces_.breaks) {
    *to++ = static_cast<float>(std::floor(pieces_.distance_of(at / factor)) + 1);
  }
}

PieceQuery PieceRows::query(Position query, std::vector<float>& room) const {
  const float* row = kept_queries_.built_row(query);
  if (row == nullptr && query >= 0 && query < kept_queries) {
    const std::int64_t floats = floats_of(pieces_);
    const auto fill = [&](Position first, std::int64_t count, float* rows) {
      for (std::int64_t i = 0; i < count; ++i) {
        // Queries with the same factor have the same distances.
        if (i > 0 && pieces_.by_query(first + i) == factor_in(rows + (i - 1) * floats)) {
          std::copy_n(rows + (i - 1) * floats, floats, rows + i * floats);
        } else {
          compute(first + i, rows + i * floats);
        }
      }
    };
    for (Position block = 0; block <= query; block += RowTable::block_rows) kept_queries_.row(block, fill);
    row = kept_queries_.built_row(query);
  }
  if (row == nullptr) {
    room.resize(static_cast<std::size_t>(floats_of(pieces_)));
    compute(query, room.data());
    row = room.data();
  }
  return {factor_in(row), row + factor_floats};
}

}  // namespace locus
