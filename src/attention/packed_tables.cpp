// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "attention/position_terms.h"

namespace locus {
namespace {

// More rows than this are not worth multiplying by every query: a pair needs one or two of them.
constexpr std::int64_t most_rows = 4096;

std::int64_t rows_of(const Tensor& table) { return table.data.empty() ? 0 : table.dim(0); }

void copy_rows(const RelativeKeys& keys, const Tensor& table, std::int64_t head, float* to) {
  for (std::int64_t i = 0; i < rows_of(table); ++i) {
    const std::span<const float> row = keys.row(table, i, head);
    std::copy(row.begin(), row.end(), to + i * keys.head_dim);
  }
}

AlignedFloats packed(const AlignedFloats& rows, std::int64_t count, std::int64_t dim) {
  const AttendKernels plain = attend_kernels(ElementType::float32);
  AlignedFloats to(round_up(count, plain.key_panel) * dim);
  plain.pack_keys({.data = rows.data(), .stride = dim, .rows = count, .dim = dim}, to.data());
  return to;
}

}  // namespace

PackedTables pack_tables(const RelativeKeys& keys, std::int64_t head, const AttendKernels& kernels) {
  PackedTables tables;
  const std::int64_t rows = rows_of(keys.key_table), all = rows + rows_of(keys.column_table);
  if (!keys.index || all > most_rows) return tables;
  tables.columns_from = rows;
  tables.room = round_up(all, kernels.key_panel);
  AlignedFloats plain(all * keys.head_dim);
  copy_rows(keys, keys.key_table, head, plain.data());
  copy_rows(keys, keys.column_table, head, plain.data() + rows * keys.head_dim);
  tables.rows = packed(plain, all, keys.head_dim);
  if (!keys.meets_keys()) return tables;
  tables.meeting_room = round_up(rows, kernels.key_panel);
  copy_rows(keys, keys.meeting_table(), head, plain.data());
  tables.meeting = packed(plain, rows, keys.head_dim);
  return tables;
}

}  // namespace locus
