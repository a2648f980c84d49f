// SPDX-License-Identifier: Apache-2.0
// A program that uses Locus from outside: the core, the readers and the doctor.
#include <cmath>
#include <cstdio>
#include <vector>

#include "locus/doctor/diagnose.h"
#include "locus/io/hf_config.h"
#include "locus/locus.h"

int main() {
  const auto config = locus::io::resolve_hf_config(
      R"({"model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, "rope_theta": 10000.0})", "config");
  const locus::Encoding rope(config.layers.front().scheme, config.layers.front().arguments);
  std::vector<float> q(3 * 8, 1.0f);
  locus::rotate(rope, locus::heads_view(q.data(), locus::ElementType::float32, "td", {{3, 8}}),
                locus::positions::prefill(3));
  const double angle = 2;  // the first pair of token 2 turns by 2 x 1
  const bool right = std::abs(static_cast<double>(q[16]) - (std::cos(angle) - std::sin(angle))) < 1e-6;

  locus::RotationDump dump{1, 3, 1, 8, std::vector<double>(24, 1.0), {q.begin(), q.end()}};
  const bool seen = locus::diagnose(dump).kind == locus::Diagnosis::Kind::rotation;
  std::printf("%s\n", right && seen ? "ok" : "wrong");
  return right && seen ? 0 : 1;
}
