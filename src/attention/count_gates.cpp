// SPDX-License-Identifier: Apache-2.0
// What the keys of a shard count, for encodings whose rows are chosen by counting gates.
#include <cmath>

#include "attention/double_head.h"
#include "locus/error.h"

namespace locus {

void count_gates_shard(const AttentionCall& call, const ShardOfKeys& shard) {
  const Problem problem(call, nullptr, shard);
  require(problem.relative() != nullptr && problem.relative()->counted, "count_gates_shard: ",
          call.encoding == nullptr ? std::string_view("no encoding") : call.encoding->scheme().name,
          " counts no gates; cope does");
  require(shard.gate_counts != nullptr, "count_gates_shard: gate_counts must be given");
  const std::int64_t heads = call.query.heads;
  const std::int64_t units = static_cast<std::int64_t>(problem.documents().size()) * heads;
  for_ranges(call.executor, units, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> scores;
    for (std::int64_t unit = begin; unit < end; ++unit) {
      const Document& document = problem.documents()[static_cast<std::size_t>(unit / heads)];
      const std::int64_t head = unit % heads;
      HeadInDouble rows(problem, document, head);
      for (std::int64_t query = 0; query < document.queries; ++query) {
        rows.scores(query, scores);
        double& count = *problem.gate_count(document.batch, head, document.first_query + query);
        for (std::int64_t key = 0; key < document.keys; ++key) {
          const double score = scores[static_cast<std::size_t>(key)];
          if (score != -HUGE_VAL) count += counted_gate(problem, document, {head, query, key}, score);
        }
      }
    }
  });
}

}  // namespace locus
