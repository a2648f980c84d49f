// SPDX-License-Identifier: Apache-2.0
// Rows, rotation, addition and biases.
#include <algorithm>
#include <vector>

#include "convert.h"
#include "handles.h"
#include "locus/add.h"
#include "locus/bias.h"
#include "locus/polar.h"
#include "locus/rotate.h"
#include "locus/rows.h"
#include "locus/turn_output.h"
#include "sized.h"

namespace locus::c {
namespace {

template <class Real>
void fill_rotation_rows(const Rotation& rotation, Role role, const PositionIds& ids, Real* rows) {
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  std::vector<Position> token(static_cast<std::size_t>(ids.axes));
  for (std::int64_t t = 0; t < ids.tokens; ++t, rows += 2 * pairs) {
    for (std::int64_t axis = 0; axis < ids.axes; ++axis) {
      token[static_cast<std::size_t>(axis)] = ids.ids[static_cast<std::size_t>(axis * ids.tokens + t)];
    }
    rotation_row(rotation, role, token, std::span(rows, pairs), std::span(rows + pairs, pairs));
  }
}

void fill_rotation_rows(const Rotation& rotation, Role role, const PositionIds& ids, float* rows) {
  if (rotation.axes == 1 && !rotation.scale) {  // the same bits, faster; only the scale of xPos depends on the role
    rotation_rows(rotation, ids.ids, rows);
  } else {
    fill_rotation_rows<float>(rotation, role, ids, rows);
  }
}

template <class Real>
void fill_rows(const Encoding& encoding, Role role, const PositionIds& ids, Real* rows) {
  require(ids.batch == 1, "ids must have one batch row, got ", ids.batch);
  if (encoding.site() == Site::hidden) {
    const HiddenRows& hidden = encoding.hidden();
    require(ids.axes == 1, "ids must have one axis, got ", ids.axes);
    encoding.check_positions(ids.ids);
    const auto width = static_cast<std::size_t>(hidden.dim);
    for (std::size_t t = 0; t < ids.ids.size(); ++t) hidden_row(hidden, ids.ids[t], std::span(rows + t * width, width));
    return;
  }
  const Rotation& rotation = encoding.rotation();
  require(ids.axes == rotation.axes, "ids must have ", rotation.axes, " axes, got ", ids.axes);
  encoding.check_positions(ids.ids);
  fill_rotation_rows(rotation, role, ids, rows);
}

template <class Real>
int rows_of(const locus_encoding* encoding, int role, const locus_ids* ids, Real* rows) {
  return guarded([&] { fill_rows(encoding_of(encoding), role_of(role), ids_of(ids), &at(rows, "rows")); });
}

locus_rotation rotation_or(locus_role role, const locus_rotation* how) {
  if (how != nullptr) return read_sized(how, "how");
  return {.size = sizeof(locus_rotation), .role = role, .direction = LOCUS_FORWARD, .pool = nullptr};
}

}  // namespace
}  // namespace locus::c

using namespace locus::c;

extern "C" {

int locus_rows(const locus_encoding* encoding, int role, const locus_ids* ids, float* rows) {
  return rows_of(encoding, role, ids, rows);
}

int locus_rows_f64(const locus_encoding* encoding, int role, const locus_ids* ids, double* rows) {
  return rows_of(encoding, role, ids, rows);
}

int locus_rotate(const locus_encoding* encoding, const locus_heads* input, const locus_heads* output,
                 const locus_ids* ids, const locus_rotation* how) {
  return guarded([&] {
    const locus::HeadsView from = heads_of(input, "input");
    const locus::HeadsView to = output == nullptr ? from : heads_of(output, "output");
    const locus_rotation as = rotation_or(LOCUS_QUERY, how);
    locus::rotate(encoding_of(encoding), {from, to}, ids_of(ids), role_of(as.role), direction_of(as.direction),
                  executor_of(as.pool));
  });
}

int locus_rotate_query_key(const locus_encoding* encoding, const locus_heads* query, const locus_heads* key,
                           const locus_ids* ids, int direction, locus_pool* pool) {
  return guarded([&] {
    locus::rotate_query_key(encoding_of(encoding), heads_of(query, "query"), heads_of(key, "key"), ids_of(ids),
                            direction_of(direction), executor_of(pool));
  });
}

int locus_rotate_into(const locus_encoding* encoding, const locus_heads* input, const locus_heads* cache,
                      locus_span_i64 slots, const locus_ids* ids, const locus_rotation* how) {
  return guarded([&] {
    const locus_rotation as = rotation_or(LOCUS_KEY, how);
    locus::require(direction_of(as.direction) == locus::Direction::forward,
                   "locus_rotate_into rotates forward only, got direction ", as.direction);
    locus::rotate_into(encoding_of(encoding), heads_of(input, "input"),
                       {heads_of(cache, "cache"), span_of(slots, "slots")}, ids_of(ids), role_of(as.role),
                       executor_of(as.pool));
  });
}

int locus_shift(const locus_encoding* encoding, const locus_heads* view, const locus_ids* deltas, int role,
                locus_pool* pool) {
  return guarded([&] {
    locus::shift(encoding_of(encoding), heads_of(view, "view"), ids_of(deltas, "deltas"), role_of(role),
                 executor_of(pool));
  });
}

int locus_turn_output(const locus_encoding* encoding, const locus_heads* output, const locus_ids* ids,
                      locus_pool* pool) {
  return guarded(
      [&] { locus::turn_output(encoding_of(encoding), heads_of(output, "output"), ids_of(ids), executor_of(pool)); });
}

int locus_to_polar(const locus_encoding* encoding, const locus_heads* input, const locus_heads* output, int role,
                   locus_pool* pool) {
  return guarded([&] {
    locus::to_polar(encoding_of(encoding), {heads_of(input, "input"), heads_of(output, "output")}, role_of(role),
                    executor_of(pool));
  });
}

int locus_add(const locus_encoding* encoding, const locus_hidden* view, const locus_ids* ids, locus_pool* pool) {
  return guarded([&] { locus::add(encoding_of(encoding), hidden_of(view), ids_of(ids), executor_of(pool)); });
}

int locus_bias(const locus_encoding* encoding, locus_span_i64 queries, locus_span_i64 keys, locus_out_f64 bias) {
  return guarded([&] {
    const locus::Encoding& scheme = encoding_of(encoding);
    const auto place = span_of(bias, "bias");
    const auto rows = span_of(queries, "queries");
    const auto columns = span_of(keys, "keys");
    const std::int64_t heads = scheme.score().heads;
    const std::int64_t needed = elements("bias", heads, queries.count, keys.count, 1);
    locus::require(bias.count == needed, "bias.count must be ", heads, " heads x ", queries.count, " queries x ",
                   keys.count, " keys, got ", bias.count);
    const std::vector<double> values = locus::bias_matrix(scheme, rows, columns);
    std::copy(values.begin(), values.end(), place.begin());
  });
}

}  // extern "C"
