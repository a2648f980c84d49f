// SPDX-License-Identifier: Apache-2.0
#include "locus/add.h"

#include <algorithm>
#include <vector>

#include "kernels/add_simd.h"
#include "kernels/kernel_state.h"
#include "kernels/token_access.h"
#include "locus/error.h"
#include "locus/rows.h"

namespace locus {
namespace {

void check(const Encoding& encoding, const HiddenView& view, const PositionIds& ids) {
  const HiddenRows& hidden = encoding.hidden();
  require(view.batch >= 0 && view.tokens >= 0, "add: extents must not be negative");
  require(view.dim == hidden.dim, "add: the encoding has dim ", hidden.dim, ", the tensor ", view.dim);
  require(ids.axes == 1, "add: position ids must have one axis, got ", ids.axes);
  require(ids.batch == 1 || ids.batch == view.batch, "add: position ids must have 1 or ", view.batch,
          " batch rows, got ", ids.batch);
  require(ids.tokens == view.tokens, "add: the tensor has ", view.tokens, " tokens, the position ids ", ids.tokens);
  require(static_cast<std::int64_t>(ids.ids.size()) == ids.batch * ids.tokens, "add: position ids have ",
          ids.ids.size(), " values, their shape needs ", ids.batch * ids.tokens);
  encoding.check_positions(ids.ids);
}

// The share of one thread, a range of batch x tokens.
void add_range(const HiddenRows& hidden, const HiddenPlan& plan, const HiddenView& view, const PositionIds& ids,
               std::int64_t begin, std::int64_t end) {
  const auto dim = static_cast<std::size_t>(view.dim);
  HiddenRowMaker maker(hidden, plan);
  std::vector<float> row(dim);
  std::vector<double> wide_row(view.type == ElementType::float64 ? dim : 0);
  for (std::int64_t flat = begin; flat < end; ++flat) {
    const std::int64_t batch = flat / view.tokens;
    const std::int64_t token = flat % view.tokens;
    const Position id = ids.ids[static_cast<std::size_t>((ids.batch == 1 ? 0 : batch) * ids.tokens + token)];
    std::byte* values = at(view, batch, token);
    if (view.type == ElementType::float64) {
      hidden_row(hidden, id, std::span<double>(wide_row));
      auto* wide = reinterpret_cast<double*>(values);
      for (std::size_t j = 0; j < dim; ++j) wide[j] += wide_row[j];
    } else if (hidden.waves.empty()) {
      add_row(view.type, hidden.table.row(id + hidden.row_offset).data(), dim, values);
    } else {
      maker.row(id, row);
      add_row(view.type, row.data(), dim, values);
    }
  }
}

}  // namespace

void add(const Encoding& encoding, const HiddenView& view, const PositionIds& ids, Executor* executor) {
  check(encoding, view, ids);
  const HiddenRows& hidden = encoding.hidden();
  if (hidden.neighbours) {
    return add_from_neighbours(hidden, *kernel_state_of(encoding).neighbours, view, ids, executor);
  }
  const HiddenPlan& plan = *kernel_state_of(encoding).hidden;
  const std::int64_t row_bytes = view.dim * static_cast<std::int64_t>(size_of(view.type));
  for_ranges(executor, view.batch * view.tokens, grain_of(row_bytes),
             [&](std::int64_t begin, std::int64_t end) { add_range(hidden, plan, view, ids, begin, end); });
}

void add_backward(const Encoding& encoding, const AddGradientCall& call, const PositionIds& ids) {
  check(encoding, call.input, ids);
  const HiddenRows& hidden = encoding.hidden();
  require(hidden.neighbours.has_value(), "add_backward: the rows of ", encoding.scheme().name,
          " do not depend on the tokens' vectors: their gradient is that of the output");
  for (const HiddenView* view : {&call.output_gradient, &call.input_gradient}) {
    require(view->type == call.input.type && view->batch == call.input.batch && view->tokens == call.input.tokens &&
                view->dim == call.input.dim,
            "add_backward: gradients must have the type and the extents of the input");
    require(view->data != call.input.data || view->data == nullptr,
            "add_backward: gradients must not be in the place of the input");
  }
  const auto size_is = [](const char* name, std::span<const double> given, std::size_t size) {
    require(given.empty() || given.size() == size, "add_backward: ", name, " must have ", size, " values, got ",
            given.size());
  };
  size_is("weight", call.weight, hidden.neighbours->weight.size());
  size_is("bias", call.bias, hidden.neighbours->bias.size());
  add_from_neighbours_backward(hidden, call, ids);
}

}  // namespace locus
