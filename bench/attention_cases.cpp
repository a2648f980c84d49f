// SPDX-License-Identifier: Apache-2.0
// Fused causal attention against the machine's fused multiply-adds; decode against reading memory.
#include <thread>

#include "attention_problem.h"
#include "extra_memory.h"
#include "cases.h"
#include "locus/locus.h"
#include "machine_limits.h"

namespace locus::bench {
namespace {

Encoding alibi() { return Encoding("alibi", {{"heads", attention_heads}}); }

// O(T x head_dim): four times the queries and keys of one head. One head's T x T scores would be 4 times that at
// T = 2,048, and 8 times at T = 4,096.
double allowed_bytes(std::int64_t tokens) {
  return 4.0 * 2.0 * static_cast<double>(tokens * attention_head_dim) * sizeof(float);
}

Line share_of_peak(AttentionProblem& problem, const AttentionCall& call, const Pairs& pairs) {
  return {.group = {},
          .name = {},
          .limit = "FMA peak",
          .result = compare([&] { attend(call); }, [&] { fma_chains(problem.flops()); }, pairs),
          .amount = problem.flops(),
          .unit = "GFLOP/s"};
}

Line dense(std::int64_t tokens, const Pairs& pairs) {
  const Encoding encoding = alibi();
  AttentionProblem problem(tokens, tokens);
  const AttentionCall call = problem.call(&encoding);
  const auto extra = extra_bytes_of([&] { attend(call); });
  Line line = share_of_peak(problem, call, pairs);
  line.bar = 0.80;
  if (extra) line.extra_memory = ExtraMemory{*extra, allowed_bytes(tokens)};
  return line;
}

Line without_term(std::int64_t tokens, const Pairs& pairs) {
  AttentionProblem problem(tokens, tokens);
  return share_of_peak(problem, problem.call(nullptr), pairs);
}

Line cost_of_term(std::int64_t tokens, const Pairs& pairs) {
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

Line two_threads(std::int64_t tokens, const Pairs& pairs) {
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

Line two_threads_of_peak(std::int64_t tokens, const Pairs& pairs) {
  const Encoding encoding = alibi();
  AttentionProblem problem(tokens, tokens);
  ThreadPool pool(2);
  const AttentionCall call = problem.call(&encoding, &pool);
  const auto peak = [&] { pool.run(2, [&](std::int64_t) { fma_chains(problem.flops() / 2); }); };
  return {.group = {},
          .name = {},
          .limit = "FMA peak of two threads",
          .result = compare([&] { attend(call); }, peak, pairs),
          .amount = problem.flops(),
          .unit = "GFLOP/s"};
}

// Blocks that are passed over count as done, so that the ratio may exceed 1.
Line skipping(std::int64_t tokens, const Pairs& pairs) {
  const Encoding encoding = alibi();
  AttentionProblem problem(tokens, tokens);
  AttentionCall call = problem.call(&encoding);
  call.skip_irrelevant_blocks = true;
  Line line = share_of_peak(problem, call, pairs);
  line.limit += ", skipped work counted";
  line.beatable = true;
  return line;
}

Line decode(const Pairs& pairs) {
  constexpr std::int64_t cached = 65536;  // keys and values of 128 MB each: no cache holds them
  const Encoding encoding = alibi();
  AttentionProblem problem(1, cached);
  const AttentionCall call = problem.call(&encoding);
  const auto read = [&] {
    read_stream(problem.key().floats(), problem.key().count());
    read_stream(problem.value().floats(), problem.value().count());
  };
  return {.group = {},
          .name = {},
          .limit = "DRAM read bandwidth",
          .result = compare([&] { attend(call); }, read, pairs),
          .bar = 0.90,
          .amount = static_cast<double>(problem.key().bytes() + problem.value().bytes())};
}

}  // namespace

std::vector<Task> attention_tasks(bool quick) {
  std::vector<Task> tasks;
  const auto add = [&](const std::string& name, std::int64_t tokens, Line (*measure)(std::int64_t, const Pairs&)) {
    tasks.push_back({"attention", name + " " + std::to_string(tokens),
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
  }
  tasks.push_back({"attention", "ALiBi decode over 65536 keys", decode});
  return tasks;
}

}  // namespace locus::bench
