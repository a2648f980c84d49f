// SPDX-License-Identifier: Apache-2.0
// Times fused causal attention against the machine's fused multiply-adds, and decode against reading memory.
#include <thread>
#include <vector>

#include "attention_problem.h"
#include "cases.h"
#include "extra_memory.h"
#include "locus/locus.h"
#include "machine_limits.h"
#include "simd_targets.h"

namespace locus::bench {
namespace {

Encoding alibi() { return Encoding("alibi", {{"heads", attention_heads}}); }

// O(T x head_dim): four times the queries and keys of one head. The T x T scores of one head would be 4 times that at
// T = 2,048, and 8 times at T = 4,096.
double allowed_bytes(std::int64_t tokens) {
  return 4.0 * 2.0 * static_cast<double>(tokens * attention_head_dim) * sizeof(float);
}

Case share_of_peak(AttentionProblem& problem, const AttentionCall& call, const Pairs& pairs) {
  const auto peak = [&] { fma_chains(problem.flops()); };
  return {.group = {},
          .name = {},
          .limit = "FMA peak",
          .result = compare([&] { attend(call); }, at_best_width({peak}, pairs), pairs),
          .amount = problem.flops(),
          .unit = "GFLOP/s"};
}

Case dense(std::int64_t tokens, const Pairs& pairs) {
  const Encoding encoding = alibi();
  AttentionProblem problem(tokens, tokens);
  const AttentionCall call = problem.call(&encoding);
  const auto extra = extra_bytes_of([&] { attend(call); });
  Case measured = share_of_peak(problem, call, pairs);
  measured.bar = 0.80;
  if (extra) measured.extra_memory = ExtraMemory{*extra, allowed_bytes(tokens)};
  return measured;
}

Case without_term(std::int64_t tokens, const Pairs& pairs) {
  AttentionProblem problem(tokens, tokens);
  return share_of_peak(problem, problem.call(nullptr), pairs);
}

Case cost_of_term(std::int64_t tokens, const Pairs& pairs) {
  const Encoding encoding = alibi();
  AttentionProblem problem(tokens, tokens);
  const AttentionCall with = problem.call(&encoding);
  const AttentionCall without = problem.call(nullptr);
  return {.group = {},
          .name = {},
          .limit = "the same without a position term",
          .result = compare([&] { attend(with); }, [&] { attend(without); }, pairs),
          .bar = 0.98,
          .amount = problem.flops(),
          .unit = "GFLOP/s"};
}

Case two_threads(std::int64_t tokens, const Pairs& pairs) {
  const Encoding encoding = alibi();
  AttentionProblem problem(tokens, tokens);
  ThreadPool pool(2);
  const AttentionCall two = problem.call(&encoding, &pool);
  const AttentionCall one = problem.call(&encoding);
  return {.group = {},
          .name = {},
          .limit = "one thread",
          .result = compare([&] { attend(two); }, [&] { attend(one); }, pairs),
          .bar = 1.9,
          .beatable = true,
          .amount = problem.flops(),
          .unit = "GFLOP/s"};
}

Case two_threads_of_peak(std::int64_t tokens, const Pairs& pairs) {
  const Encoding encoding = alibi();
  AttentionProblem problem(tokens, tokens);
  ThreadPool pool(2);
  const AttentionCall call = problem.call(&encoding, &pool);
  const auto peak = [&] { pool.run(2, [&](std::int64_t) { fma_chains(problem.flops() / 2); }); };
  return {.group = {},
          .name = {},
          .limit = "FMA peak of two threads",
          .result = compare([&] { attend(call); }, at_best_width({peak}, pairs), pairs),
          .amount = problem.flops(),
          .unit = "GFLOP/s"};
}

// Skipped blocks count as done, so the ratio may exceed 1.
Case skipping(std::int64_t tokens, const Pairs& pairs) {
  const Encoding encoding = alibi();
  AttentionProblem problem(tokens, tokens);
  AttentionCall call = problem.call(&encoding);
  call.skip_irrelevant_blocks = true;
  Case measured = share_of_peak(problem, call, pairs);
  measured.limit += ", skipped work counted";
  measured.beatable = true;
  return measured;
}

// Five products of head_dim per visible pair: the scores again, and one for each gradient of weights, queries, keys and
// values; attend() has two.
Case backward(std::int64_t tokens, const Pairs& pairs) {
  const Encoding encoding = alibi();
  AttentionProblem problem(tokens, tokens), gradients(tokens, tokens);
  std::vector<float> log_sum_exp(static_cast<std::size_t>(attention_heads * tokens));
  AttentionGradientCall call;
  call.forward = problem.call(&encoding);
  call.forward.log_sum_exp = log_sum_exp.data();
  attend(call.forward);
  const AttentionCall like = gradients.call(nullptr);
  call.output_gradient = like.output;
  call.query_gradient = like.query;
  call.key_gradient = like.key;
  call.value_gradient = like.value;
  fill_normal(gradients.output(), 4);
  const double flops = 2.5 * problem.flops();
  return {.group = {},
          .name = {},
          .limit = "FMA peak",
          .result = compare([&] { attend_backward(call); }, [&] { fma_chains(flops); }, pairs),
          .amount = flops,
          .unit = "GFLOP/s"};
}

// `heads_inside`: keys and values are [tokens, heads, head_dim], else [heads, tokens, head_dim].
Case decode(bool heads_inside, const Pairs& pairs) {
  constexpr std::int64_t cached = 65536;  // keys and values of 128 MB each, larger than any cache
  const Encoding encoding = alibi();
  AttentionProblem problem(1, cached);
  AttentionCall call = problem.call(&encoding);
  for (HeadsView* view : {&call.key, &call.value}) {
    if (!heads_inside) break;
    view->token_stride = attention_heads * attention_head_dim;
    view->head_stride = attention_head_dim;
  }
  const auto read = [&] {
    read_stream(problem.key().floats(), problem.key().count());
    read_stream(problem.value().floats(), problem.value().count());
  };
  return {.group = {},
          .name = {},
          .limit = "DRAM read bandwidth",
          .result = compare([&] { attend(call); }, at_best_width({read}, pairs), pairs),
          .bar = 0.95,
          .amount = static_cast<double>(problem.key().bytes() + problem.value().bytes())};
}

}  // namespace

std::vector<PlannedCase> plan_attention_cases(bool quick) {
  std::vector<PlannedCase> cases;
  const auto add = [&](const std::string& name, std::int64_t tokens, Case (*measure)(std::int64_t, const Pairs&)) {
    cases.push_back({"attention", name + " " + std::to_string(tokens),
                     [tokens, measure](const Pairs& pairs) { return measure(tokens, pairs); }});
  };
  for (const std::int64_t tokens : {2048, 4096}) {
    if (quick && tokens > 2048) break;
    add("ALiBi dense", tokens, dense);
    add("no position term", tokens, without_term);
    add("ALiBi dense, cost of the term", tokens, cost_of_term);
    if (std::thread::hardware_concurrency() >= 2) {
      add("ALiBi dense, two threads against one", tokens, two_threads);
      add("ALiBi dense, two threads", tokens, two_threads_of_peak);
    }
    add("ALiBi with skipping", tokens, skipping);
    add("ALiBi backward", tokens, backward);
  }
  cases.push_back(
      {"attention", "ALiBi decode over 65536 keys", [](const Pairs& pairs) { return decode(false, pairs); }});
  cases.push_back(
      {"attention", "ALiBi decode over 65536 keys [t,h,d]", [](const Pairs& pairs) { return decode(true, pairs); }});
  return cases;
}

}  // namespace locus::bench
