// SPDX-License-Identifier: Apache-2.0
#include "case.h"

namespace locus::bench {

std::string Case::verdict() const {
  const Ratio& share = result.share;
  if (extra_memory && extra_memory->bytes > extra_memory->allowed) return "missed";
  if (!beatable && share.low > 1.05) return "the limit is measured wrongly";  // even with a wide interval
  if (share.noisy()) return "noisy";
  if (!beatable && share.median > 1.05) return "the limit is measured wrongly";
  if (!bar) return "";
  return share.median >= *bar ? "ok" : "missed";
}

}  // namespace locus::bench
