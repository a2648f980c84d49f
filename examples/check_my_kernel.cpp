// SPDX-License-Identifier: Apache-2.0
// Checks your own rotation: pass it with the encoding that it should implement, and read the checks.
#include <cmath>
#include <cstdio>
#include <string>

#include "locus/doctor/verify_callable.h"
#include "locus/encoding.h"

namespace {

// A user's kernel. With half = false it has a fault: it takes the pairs (2i, 2i + 1) instead of (i, i + d/2).
void my_rotate(const locus::RotateRequest& request, bool half) {
  const std::int64_t d = request.head_dim;
  for (std::int64_t t = 0; t < request.tokens; ++t) {
    for (std::int64_t h = 0; h < request.heads; ++h) {
      float* head = request.data.data() + (t * request.heads + h) * d;
      for (std::int64_t i = 0; i < d / 2; ++i) {
        float& x = half ? head[i] : head[2 * i];
        float& y = half ? head[i + d / 2] : head[2 * i + 1];
        const double angle = static_cast<double>(request.ids[static_cast<std::size_t>(t)]) *
                             std::pow(10000.0, -2.0 * static_cast<double>(i) / static_cast<double>(d));
        const auto c = static_cast<float>(std::cos(angle)), s = static_cast<float>(std::sin(angle));
        const float turned = x * c - y * s;
        y = x * s + y * c;
        x = turned;
      }
    }
  }
}

std::int64_t report(const char* title, bool half) {
  const locus::Encoding rope("rope", {{"head_dim", 32}, {"pairing", "half"}});
  const auto checks =
      locus::verify_rotate(rope, [half](const locus::RotateRequest& request) { my_rotate(request, half); });
  std::printf("%s\n", title);
  for (const locus::Check& check : checks) {
    std::printf("  %s  %s  %s\n", check.pass ? "pass" : "FAIL", check.name.c_str(), check.note.c_str());
  }
  return locus::failed(checks);
}

}  // namespace

int main() {
  const std::int64_t wrong = report("pairs (2i, 2i + 1):", false);
  const std::int64_t right = report("pairs (i, i + d/2):", true);
  return wrong > 0 && right == 0 ? 0 : 1;
}
