// SPDX-License-Identifier: Apache-2.0
// The numbers of an encoding: rows, their similarity, biases and buckets.
#include "numbers.h"

#include <cmath>

#include "encoding_options.h"
#include "encodings.h"
#include "locus/bias.h"
#include "locus/error.h"
#include "locus/rows.h"

namespace locus::wasm {
namespace {

/// The rows of positions, one after the other.
struct Rows {
  std::size_t width = 0;
  std::vector<float> numbers;
};

Rows rotation_rows_of(const Encoding& encoding, const std::vector<Position>& positions) {
  const Rotation& rotation = encoding.rotation();
  Rows rows{2 * static_cast<std::size_t>(rotation.pairs()), {}};
  rows.numbers.resize(rows.width * positions.size());
  const std::size_t pairs = rows.width / 2;
  for (std::size_t t = 0; t < positions.size(); ++t) {
    const std::span row = std::span(rows.numbers).subspan(t * rows.width, rows.width);
    const PositionIds ids = tools::fit_axes(rotation, {.tokens = 1, .ids = {positions[t]}});
    rotation_row(rotation, Role::query, ids.ids, row.first(pairs), row.last(pairs));
  }
  return rows;
}

Rows rows_of(const Encoding& encoding, const std::vector<Position>& positions) {
  encoding.check_positions(positions);
  if (encoding.site() == Site::query_key) {
    const Rotation& rotation = encoding.rotation();
    // With one axis and no query factor, the fast form has the same bits.
    if (rotation.axes > 1 || rotation.query_scale || rotation.scale || rotation.pairs() == 0) {
      return rotation_rows_of(encoding, positions);
    }
    Rows rows{2 * static_cast<std::size_t>(rotation.pairs()), {}};
    rows.numbers.resize(rows.width * positions.size());
    rotation_rows(rotation, positions, rows.numbers.data());
    return rows;
  }
  require(encoding.site() == Site::hidden, "rows: ", encoding.scheme().name,
          " has no rows; encodings of the sites hidden and query_key have");
  const HiddenRows& hidden = encoding.hidden();
  Rows rows{static_cast<std::size_t>(hidden.dim), {}};
  rows.numbers.resize(rows.width * positions.size());
  for (std::size_t t = 0; t < positions.size(); ++t) {
    hidden_row(hidden, positions[t], std::span(rows.numbers).subspan(t * rows.width, rows.width));
  }
  return rows;
}

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

}  // namespace

val position_range(const val& chosen) {
  return guarded([&] {
    const PositionRange range = encoding_of(chosen).position_range();
    val result = val::object();
    result.set("first", static_cast<double>(range.first));
    result.set("last", static_cast<double>(range.last));
    return result;
  });
}

val rows(const val& chosen, const val& positions) {
  return guarded([&] { return to_array(rows_of(encoding_of(chosen), to_positions(positions)).numbers); });
}

val similarity(const val& chosen, const val& positions) {
  return guarded([&] {
    const Rows rows = rows_of(encoding_of(chosen), to_positions(positions));
    const std::size_t count = rows.width == 0 ? 0 : rows.numbers.size() / rows.width;
    const auto row = [&](std::size_t t) { return std::span(rows.numbers).subspan(t * rows.width, rows.width); };
    std::vector<double> lengths;
    for (std::size_t t = 0; t < count; ++t) lengths.push_back(std::sqrt(dot(row(t), row(t))));
    std::vector<float> result(count * count);
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        const double both = lengths[a] * lengths[b];
        result[a * count + b] = result[b * count + a] =
            both == 0 ? 0.0f : static_cast<float>(dot(row(a), row(b)) / both);
      }
    }
    return to_array(result);
  });
}

val bias(const val& chosen, const val& queries, const val& keys) {
  return guarded([&] { return to_array(bias_matrix(encoding_of(chosen), to_positions(queries), to_positions(keys))); });
}

val buckets(const val& chosen, const val& queries, const val& keys) {
  return guarded([&] {
    const auto found = bucket_matrix(encoding_of(chosen), to_positions(queries), to_positions(keys));
    return to_array(std::vector<std::int32_t>(found.begin(), found.end()));
  });
}

}  // namespace locus::wasm
