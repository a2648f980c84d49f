// SPDX-License-Identifier: Apache-2.0
#include "attention/attend.h"

namespace locus {

AttentionWork attend(const AttentionCall& call) {
  const Problem problem(call);
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
