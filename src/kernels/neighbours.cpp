// SPDX-License-Identifier: Apache-2.0
#include "kernels/neighbours.h"

#include <algorithm>
#include <cmath>

#include "kernels/add_simd.h"
#include "kernels/any_element.h"
#include "kernels/neighbours_simd.h"
#include "kernels/token_access.h"

namespace locus {
namespace {

double gelu(double x) { return 0.5 * x * (1 + std::erf(x * 0.70710678118654752440)); }

// The definition, in double.
void add_run(const HiddenRows& hidden, const HiddenView& view, const IdRun& run) {
  const Neighbours& from = *hidden.neighbours;
  const std::vector<double> inputs = run_inputs<double>(hidden, view, run);
  const std::int64_t group = hidden.dim / from.groups;
  for (std::int64_t t = 0; t < run.tokens; ++t) {
    auto* values = reinterpret_cast<double*>(at(view, run.batch, run.first + t));
    for (std::int64_t c = 0; c < hidden.dim; ++c) {
      double sum = from.bias[static_cast<std::size_t>(c)];
      const double* weight = from.weight.data() + c * group * from.kernel;
      for (std::int64_t i = 0; i < group; ++i) {
        const double* input = inputs.data() + t * hidden.dim + c / group * group + i;
        for (std::int64_t j = 0; j < from.kernel; ++j) sum += *weight++ * input[j * hidden.dim];
      }
      values[c] += gelu(sum);
    }
  }
}

/// A run with its inputs in float32.
struct RunInputs {
  const HiddenRows& hidden;
  const NeighbourPlan& plan;
  const IdRun& run;
  std::vector<float> inputs;
};

// Tokens [begin, end) of a run.
void add_tokens(const RunInputs& from, const HiddenView& view, std::int64_t begin, std::int64_t end) {
  const auto& [hidden, plan, run, inputs] = from;
  const auto dim = static_cast<std::size_t>(hidden.dim);
  std::vector<float> sums(neighbour_tokens * dim);
  NeighbourTokens call{.weights = plan.weights.data(),
                       .bias = plan.bias.data(),
                       .dim = dim,
                       .group = dim / static_cast<std::size_t>(hidden.neighbours->groups),
                       .kernel = static_cast<std::size_t>(hidden.neighbours->kernel),
                       .sums = sums.data()};
  for (std::int64_t t = begin; t < end; t += static_cast<std::int64_t>(call.tokens)) {
    call.tokens = std::min(neighbour_tokens, static_cast<std::size_t>(end - t));
    call.inputs = inputs.data() + t * hidden.dim;
    neighbour_sums(call);
    for (std::size_t i = 0; i < call.tokens * dim; ++i)
      sums[i] = static_cast<float>(gelu(static_cast<double>(sums[i])));
    for (std::size_t i = 0; i < call.tokens; ++i) {
      add_row(view.type, sums.data() + i * dim, dim, at(view, run.batch, run.first + t + static_cast<std::int64_t>(i)));
    }
  }
}

}  // namespace

std::vector<IdRun> id_runs(const HiddenView& view, const PositionIds& ids) {
  std::vector<IdRun> runs;
  for (std::int64_t batch = 0; batch < view.batch; ++batch) {
    const Position* row = ids.ids.data() + (ids.batch == 1 ? 0 : batch * ids.tokens);
    for (std::int64_t t = 0; t < view.tokens; ++t) {
      if (t > 0 && row[t] == row[t - 1] + 1) {
        ++runs.back().tokens;
      } else {
        runs.push_back({batch, t, 1});
      }
    }
  }
  return runs;
}

template <class Real>
std::vector<Real> run_inputs(const HiddenRows& hidden, const HiddenView& view, const IdRun& run) {
  const Neighbours& from = *hidden.neighbours;
  const std::int64_t dim = hidden.dim;
  std::vector<Real> inputs(static_cast<std::size_t>((run.tokens + from.kernel - 1) * dim), Real{0});
  for (std::int64_t t = 0; t < run.tokens; ++t) {
    const std::byte* token = at(view, run.batch, run.first + t);
    Real* to = inputs.data() + (from.before + t) * dim;
    for (std::int64_t c = 0; c < dim; ++c) {
      const double x = element_at(view.type, token, c);
      const auto place = static_cast<std::size_t>(c);
      to[c] = static_cast<Real>(from.input_scale.empty() ? x : x * from.input_scale[place] + from.input_shift[place]);
    }
  }
  return inputs;
}

template std::vector<float> run_inputs<float>(const HiddenRows&, const HiddenView&, const IdRun&);
template std::vector<double> run_inputs<double>(const HiddenRows&, const HiddenView&, const IdRun&);

NeighbourPlan::NeighbourPlan(const HiddenRows& hidden) {
  const Neighbours& from = *hidden.neighbours;
  const std::int64_t group = hidden.dim / from.groups;
  weights.resize(from.weight.size());
  for (std::int64_t c = 0; c < hidden.dim; ++c) {
    for (std::int64_t i = 0; i < group; ++i) {
      for (std::int64_t j = 0; j < from.kernel; ++j) {
        const std::int64_t to = ((c / group * from.kernel + j) * group + i) * group + c % group;
        weights[static_cast<std::size_t>(to)] =
            static_cast<float>(from.weight[static_cast<std::size_t>((c * group + i) * from.kernel + j)]);
      }
    }
  }
  for (const double value : from.bias) bias.push_back(static_cast<float>(value));
}

void add_from_neighbours(const HiddenRows& hidden, const NeighbourPlan& plan, const HiddenView& view,
                         const PositionIds& ids, Executor* executor) {
  // A token takes about as long as this many bytes of a plain addition.
  const std::int64_t work = static_cast<std::int64_t>(plan.weights.size());
  for (const IdRun& run : id_runs(view, ids)) {
    if (view.type == ElementType::float64) {
      add_run(hidden, view, run);
      continue;
    }
    const RunInputs from{hidden, plan, run, run_inputs<float>(hidden, view, run)};
    for_ranges(executor, run.tokens, grain_of(work),
               [&](std::int64_t begin, std::int64_t end) { add_tokens(from, view, begin, end); });
  }
}

}  // namespace locus
