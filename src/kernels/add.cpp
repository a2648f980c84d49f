// SPDX-License-Identifier: Apache-2.0
#include "locus/add.h"

#include <vector>

#include "locus/error.h"
#include "locus/rows.h"

namespace locus {
namespace {

float narrow(float value, float) { return value; }
double narrow(double value, double) { return value; }
BFloat16 narrow(float value, BFloat16) { return to_bfloat16(value); }
Float16 narrow(float value, Float16) { return to_float16(value); }
float widen(float value) { return value; }
double widen(double value) { return value; }
float widen(BFloat16 value) { return to_float(value); }
float widen(Float16 value) { return to_float(value); }

template <class T, class Row>
void add_rows(const HiddenRows& hidden, const HiddenView& view, const PositionIds& ids) {
  std::vector<Row> row(static_cast<std::size_t>(view.dim));
  for (std::int64_t batch = 0; batch < view.batch; ++batch) {
    for (std::int64_t token = 0; token < view.tokens; ++token) {
      const auto index = static_cast<std::size_t>((ids.batch == 1 ? 0 : batch) * ids.tokens + token);
      hidden_row(hidden, ids.ids[index], std::span<Row>(row));
      T* values = static_cast<T*>(view.data) + batch * view.batch_stride + token * view.token_stride;
      for (std::size_t j = 0; j < row.size(); ++j) values[j] = narrow(widen(values[j]) + row[j], T());
    }
  }
}

}  // namespace

void add(const Encoding& encoding, const HiddenView& view, const PositionIds& ids) {
  const HiddenRows& hidden = encoding.hidden();
  require(view.batch >= 0 && view.tokens >= 0, "add: extents must not be negative");
  require(view.dim == hidden.dim, "add: the encoding has dim ", hidden.dim, ", the tensor ", view.dim);
  require(ids.axes == 1, "add: position ids must have one axis, got ", ids.axes);
  require(ids.batch == 1 || ids.batch == view.batch, "add: position ids must have 1 or ", view.batch,
          " batch rows, got ", ids.batch);
  require(ids.tokens == view.tokens, "add: the tensor has ", view.tokens, " tokens, the position ids ", ids.tokens);
  require(static_cast<std::int64_t>(ids.ids.size()) == ids.batch * ids.tokens, "add: position ids have ",
          ids.ids.size(), " values, their shape asks for ", ids.batch * ids.tokens);
  encoding.check_positions(ids.ids);
  switch (view.type) {
    case ElementType::float32:
      return add_rows<float, float>(hidden, view, ids);
    case ElementType::float64:
      return add_rows<double, double>(hidden, view, ids);
    case ElementType::bfloat16:
      return add_rows<BFloat16, float>(hidden, view, ids);
    case ElementType::float16:
      return add_rows<Float16, float>(hidden, view, ids);
  }
}

}  // namespace locus
