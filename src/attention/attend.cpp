// SPDX-License-Identifier: Apache-2.0
#include "attention/attend.h"

namespace locus {

AttentionWork attend(const AttentionCall& call) { return attend_shard(call, {}); }

AttentionWork attend_shard(const AttentionCall& call, const ShardOfKeys& shard) {
  const Problem problem(call, nullptr, shard);
  AttentionWork work;
  if (call.query.type == ElementType::float64) {
    attend_in_double(problem);
  } else {
    work = is_decode(problem) ? attend_one_query(problem) : attend_in_tiles(problem);
  }
  store_probabilities(problem);
  return work;
}

}  // namespace locus
