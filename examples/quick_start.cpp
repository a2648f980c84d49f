// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>

#include "locus/locus.h"

int main() {
  const locus::Encoding rope("rope", {{"head_dim", 128}, {"pairing", "half"}, {"base", 5e5}});
  std::vector<float> q(6 * 32 * 128, 1.0f);  // 6 tokens, 32 heads of 128
  const auto view = locus::heads_view(q.data(), locus::ElementType::float32, "thd", {{6, 32, 128}});
  locus::rotate(rope, view, locus::positions::prefill(6, 1000000));  // exact at a million, too
  std::printf("%.9g %.9g\n", q[0], q[64]);
}
