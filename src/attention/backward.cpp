// SPDX-License-Identifier: Apache-2.0
// Checks the call of attend_backward() and splits it over threads.
#include "attention/backward.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "locus/error.h"

namespace locus {
namespace {

void check_view(std::string_view what, const HeadsView& view, const HeadsView& like) {
  require(view.batch == like.batch && view.tokens == like.tokens && view.heads == like.heads &&
              view.head_dim == like.head_dim,
          "attend_backward: ", what, " must be ", like.batch, " x ", like.tokens, " x ", like.heads, " x ",
          like.head_dim, " (batch, tokens, heads, head_dim), got ", view.batch, " x ", view.tokens, " x ", view.heads,
          " x ", view.head_dim);
  require(view.type == like.type, "attend_backward: ", what, " must be ", name_of(like.type), ", got ",
          name_of(view.type));
  require(view.data != nullptr || view.batch * view.tokens * view.heads == 0, "attend_backward: ", what,
          " has no data");
}

void check_learned(std::string_view what, std::span<double> given, std::size_t expected) {
  require(given.empty() || given.size() == expected, "attend_backward: ", what, " must have ", expected,
          " values, as many as the encoding has, got ", given.size());
}

void check(const Problem& problem, const AttentionGradientCall& call) {
  const AttentionCall& forward = call.forward;
  check_view("output_gradient", call.output_gradient, forward.output);
  check_view("query_gradient", call.query_gradient, forward.query);
  check_view("key_gradient", call.key_gradient, forward.key);
  check_view("value_gradient", call.value_gradient, forward.value);
  for (const auto& [what, view, like] :
       {std::tuple{"query_numbers_gradient", &call.query_numbers_gradient, &forward.query_numbers},
        std::tuple{"key_numbers_gradient", &call.key_numbers_gradient, &forward.key_numbers}}) {
    if (view->data == nullptr) continue;
    HeadsView in_double = *like;
    in_double.type = ElementType::float64;
    check_view(what, *view, in_double);
  }
  require(forward.query.type == ElementType::float64 || forward.log_sum_exp != nullptr,
          "attend_backward: forward.log_sum_exp must be given, as attend() wrote it");
  const LearnedGradients& learned = call.learned;
  check_learned("learned.sink_logits", learned.sink_logits, forward.sink_logits.size());
  static const ScoreBias no_bias;
  static const RelativeKeys no_keys;
  const ScoreBias& bias = problem.bias() == nullptr ? no_bias : *problem.bias();
  const RelativeKeys& keys = problem.relative() == nullptr ? no_keys : *problem.relative();
  check_learned("learned.bias_table", learned.bias_table, bias.table.data.size());
  check_learned("learned.bias_parameters", learned.bias_parameters,
                static_cast<std::size_t>(bias.parameters * bias.heads));
  check_learned("learned.bias_network", learned.bias_network, static_cast<std::size_t>(bias.network_weights));
  check_learned("learned.key_table", learned.key_table, keys.key_table.data.size());
  check_learned("learned.query_table", learned.query_table, keys.query_table.data.size());
  check_learned("learned.column_table", learned.column_table, keys.column_table.data.size());
  check_learned("learned.value_table", learned.value_table, keys.value_table.data.size());
  check_learned("learned.u", learned.u, keys.u.data.size());
  check_learned("learned.v", learned.v, keys.v.data.size());
  check_learned("learned.w_r", learned.w_r, keys.w_r.data.size());
  check_learned("learned.gate_mix", learned.gate_mix, keys.gate_mix.data.size());
}

// Keys that are padding, or of documents without queries, get no other gradient.
void set_to_zero(const HeadsView& view) {
  const std::size_t bytes = static_cast<std::size_t>(view.head_dim) * size_of(view.type);
  for (std::int64_t batch = 0; batch < view.batch; ++batch) {
    for (std::int64_t token = 0; token < view.tokens; ++token) {
      for (std::int64_t head = 0; head < view.heads; ++head) {
        std::memset(Problem::row(view, batch, token, head), 0, bytes);
      }
    }
  }
}

AttentionWork run_backward(const Problem& problem, const AttentionGradientCall& call) {
  check(problem, call);
  set_to_zero(call.key_gradient);
  set_to_zero(call.value_gradient);
  if (call.query_numbers_gradient.data != nullptr) set_to_zero(call.query_numbers_gradient);
  if (call.key_numbers_gradient.data != nullptr) set_to_zero(call.key_numbers_gradient);

  const std::int64_t heads = call.forward.key.heads;
  const std::int64_t units = static_cast<std::int64_t>(problem.documents().size()) * heads;
  const bool counted = problem.relative() != nullptr && problem.relative()->counted;
  const bool in_double = call.forward.query.type == ElementType::float64;
  // Every unit of a round has separate sums, which are added in the order of units. So the result does not depend on
  // the threads.
  constexpr std::int64_t round_size = 16;
  LearnedSums total(problem, call.learned);
  std::vector<LearnedSums> sums(static_cast<std::size_t>(std::min(round_size, units)), total);
  std::vector<std::int64_t> tiles(sums.size());
  AttentionWork work;
  for (std::int64_t first = 0; first < units; first += round_size) {
    const std::int64_t count = std::min(round_size, units - first);
    const auto piece = [&](std::int64_t i) {
      const Document& document = problem.documents()[static_cast<std::size_t>((first + i) / heads)];
      LearnedSums& own = sums[static_cast<std::size_t>(i)];
      own.clear();
      if (counted) {
        backward_counted(problem, call, document, (first + i) % heads, own);
      } else if (in_double) {
        backward_in_double(problem, call, document, (first + i) % heads, own);
      } else {
        tiles[static_cast<std::size_t>(i)] = backward_in_tiles(problem, call, document, (first + i) % heads, own);
      }
    };
    if (call.forward.executor != nullptr && count > 1) {
      call.forward.executor->run(count, piece);
    } else {
      for (std::int64_t i = 0; i < count; ++i) piece(i);
    }
    for (std::int64_t i = 0; i < count; ++i) {
      total.add(sums[static_cast<std::size_t>(i)]);
      work.computed += tiles[static_cast<std::size_t>(i)];
    }
  }
  total.store(call.learned);
  return work;
}

}  // namespace

AttentionWork attend_backward(const AttentionGradientCall& call) { return run_backward(Problem(call.forward), call); }

AttentionWork attend_backward_shard(const AttentionGradientCall& call, const ShardOfKeys& shard) {
  require(call.forward.query.type != ElementType::float64, "attend_backward: a shard of keys must not be float64");
  const Problem problem(call.forward, nullptr, shard);
  const bool counted = problem.relative() != nullptr && problem.relative()->counted;
  require(!counted || (shard.gate_counts != nullptr && shard.count_gradients != nullptr),
          "attend_backward: a shard of keys needs gate_counts and count_gradients with ",
          call.forward.encoding == nullptr ? std::string_view() : call.forward.encoding->scheme().name,
          ", whose gates are counted over all keys");
  return run_backward(problem, call);
}

}  // namespace locus
