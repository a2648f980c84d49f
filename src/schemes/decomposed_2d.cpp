// SPDX-License-Identifier: Apache-2.0
// Decomposed relative keys of a grid: the offset along each axis selects a learned vector,
//   score = scale q . k + q . (h_row + w_column),   the query unscaled in the second term.
// Ids are the cells of the grid in row-major order. Li et al. 2021, "MViTv2" (arXiv 2112.01526), equation 4; SAM and
// ViTDet use it with one grid, MViTv2 with a pooled grid of keys.
//   row = floor(q max(K/Q, 1) - k max(Q/K, 1) + (K - 1) max(Q/K, 1)),  for places q of Q and k of K along an axis
//   tables of another length than 2 max(Q, K) - 1 are resized: linear, half-pixel centres, clamped at the edges.
//
// Deviation: the released code computes the row in float32, which may fall below an integer where Q/K is no integer
// (e.g. 8 against 6); the profile `hf` does the same. Trained tables are those after resizing.
#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "schemes/common_parameters.h"

namespace locus {
namespace {

constexpr Claims claims{Claim::learned, Claim::cache_safe};

/// One axis of the two grids.
struct Axis {
  std::int64_t queries, keys;
  bool single;  // float32 arithmetic

  std::int64_t rows() const { return 2 * std::max(queries, keys) - 1; }

  std::int64_t row(std::int64_t query, std::int64_t key) const {
    if (single) {
      const double by_query = std::max(static_cast<double>(keys) / static_cast<double>(queries), 1.0);
      const double by_key = std::max(static_cast<double>(queries) / static_cast<double>(keys), 1.0);
      const float difference = static_cast<float>(query) * static_cast<float>(by_query) -
                               static_cast<float>(key) * static_cast<float>(by_key);
      return static_cast<std::int64_t>(difference + static_cast<float>(static_cast<double>(keys - 1) * by_key));
    }
    if (queries >= keys) return query + (keys - 1 - key) * queries / keys;
    return query * keys / queries + keys - 1 - key;
  }
};

// torch's linear interpolation with align_corners = false: centre i of the result is (i + 1/2) in/out - 1/2 of the
// input.
Tensor resized(const Tensor& table, std::int64_t rows) {
  const std::int64_t given = table.dim(0), width = table.dim(1);
  if (given == rows) return table;
  Tensor result{.shape = {rows, width}, .data = std::vector<float>(static_cast<std::size_t>(rows * width))};
  for (std::int64_t i = 0; i < rows; ++i) {
    const double place = (static_cast<double>(i) + 0.5) * static_cast<double>(given) / static_cast<double>(rows) - 0.5;
    const double inside = std::clamp(place, 0.0, static_cast<double>(given - 1));
    const auto low = static_cast<std::int64_t>(inside);
    const double share = inside - static_cast<double>(low);
    const std::span<const float> from = table.row(low), to = table.row(std::min(low + 1, given - 1));
    for (std::size_t j = 0; j < static_cast<std::size_t>(width); ++j) {
      const double value = static_cast<double>(from[j]) * (1 - share) + static_cast<double>(to[j]) * share;
      result.data[static_cast<std::size_t>(i * width) + j] = static_cast<float>(value);
    }
  }
  return result;
}

Tensor table_of(const Arguments& arguments, std::string_view name, std::int64_t rows, std::int64_t stream) {
  const std::int64_t head_dim = arguments.integer("head_dim");
  const std::int64_t any = arguments.has(name) ? -1 : rows;
  const Tensor table = weights_or_normal("decomposed_2d", arguments, name, {any, head_dim}, stream);
  require(!table.data.empty(), "decomposed_2d.", name, " must have rows");
  return resized(table, rows);
}

SchemeResult make(const Arguments& arguments) {
  RelativeKeys keys;
  keys.heads = arguments.integer("heads");
  keys.head_dim = arguments.integer("head_dim");
  keys.scaled = false;
  const bool single = arguments.text("profile") == "hf";
  const std::int64_t height = arguments.integer("grid_height"), width = arguments.integer("grid_width");
  const Axis rows{height, arguments.maybe_integer("key_height").value_or(height), single};
  const Axis columns{width, arguments.maybe_integer("key_width").value_or(width), single};
  const std::int64_t query_cells = height * width, key_cells = rows.keys * columns.keys;
  keys.refuses = query_cells != key_cells;  // else the range of positions says it all
  keys.index = [=](Position query, Position key) {
    require(query_cells == key_cells || (query < query_cells && key < key_cells), "decomposed_2d has ", query_cells,
            " cells for queries and ", key_cells, " for keys, got ids ", query, " and ", key);
    return rows.row(query / columns.queries, key / columns.keys);
  };
  keys.column_index = [=](Position query, Position key) {
    return columns.row(query % columns.queries, key % columns.keys);
  };
  keys.key_table = table_of(arguments, "row_table", rows.rows(), 0);
  keys.column_table = table_of(arguments, "column_table", columns.rows(), 1);
  SchemeResult result{.term = {}, .claims = claims};
  const double deviation = 1 / std::sqrt(static_cast<double>(keys.head_dim));
  result.learned = {{.name = "row_table",
                     .shape = keys.key_table.shape,
                     .deviation = deviation,
                     .gradient = LearnedGradient::key_table},
                    {.name = "column_table",
                     .shape = keys.column_table.shape,
                     .deviation = deviation,
                     .gradient = LearnedGradient::column_table}};
  result.range = PositionRange{0, std::max(query_cells, key_cells) - 1};
  result.range_reason = "the cells of its grid";
  result.term = std::move(keys);
  return result;
}

Parameter extent(std::string_view name, std::string_view meaning, bool required) {
  return {.name = name, .kind = ValueKind::integer, .meaning = meaning, .required = required, .least = 1, .most = 4096};
}

}  // namespace

const Scheme& decomposed_2d_scheme();
const Scheme& decomposed_2d_scheme() {
  static const Scheme scheme{
      .name = "decomposed_2d",
      .title = "decomposed 2-D",
      .summary = "a learned vector per row offset and one per column offset, multiplied by the query",
      .paper = "Li et al. 2021, arXiv 2112.01526",
      .site = Site::relative_key,
      .claims = claims,
      .parameters = {heads_parameter(),
                     head_dim_parameter(1),
                     extent("grid_height", "rows of the grid of queries", true),
                     extent("grid_width", "columns of the grid of queries", true),
                     extent("key_height", "rows of the grid of keys; absent: grid_height", false),
                     extent("key_width", "columns of the grid of keys; absent: grid_width", false),
                     {.name = "row_table",
                      .kind = ValueKind::tensor,
                      .meaning = "vectors of row offsets [rows, head_dim] (rel_pos_h); resized to the grid"},
                     {.name = "column_table",
                      .kind = ValueKind::tensor,
                      .meaning = "vectors of column offsets [rows, head_dim] (rel_pos_w); resized to the grid"},
                     {.name = "profile",
                      .kind = ValueKind::choice,
                      .meaning = "hf: rows computed in float32",
                      .fallback = std::string("exact"),
                      .choices = {"exact", "hf"}},
                     seed_parameter(),
                     deviation_parameter()},
      .make = make,
      .example = {{"heads", 4}, {"head_dim", 8}, {"grid_height", 8}, {"grid_width", 8}},
      .variants = {{"grid_width=3", {{"heads", 2}, {"head_dim", 4}, {"grid_height", 5}, {"grid_width", 3}}},
                   {"profile=hf",
                    {{"heads", 2}, {"head_dim", 4}, {"grid_height", 4}, {"grid_width", 6}, {"profile", "hf"}}}},
      .compared = ComparedIn::never,
  };
  return scheme;
}

}  // namespace locus
