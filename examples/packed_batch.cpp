// SPDX-License-Identifier: Apache-2.0
// Packs documents of different lengths in one row, without padding: positions restart, and no token sees another
// document.
#include <cmath>
#include <cstdio>
#include <vector>

#include "locus/locus.h"

namespace {

constexpr std::int64_t heads = 2, head_dim = 16;

// Causal attention over packed documents: rotates each by its own positions, then attends.
std::vector<float> attend(const locus::Encoding& rope, std::vector<float> x, const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> boundaries = {0};
  for (const std::int64_t length : lengths) boundaries.push_back(boundaries.back() + length);
  const auto view = [&](std::vector<float>& data) {
    return locus::heads_view(data.data(), locus::ElementType::float32, "thd", {{boundaries.back(), heads, head_dim}});
  };
  std::vector<float> value = x, output(x.size());
  const locus::PositionIds ids = locus::positions::packed(lengths);  // 0 1 2 0 1 2 3 4 0 1 for 3, 5, 2
  locus::rotate(rope, view(x), ids);
  locus::AttentionCall call;
  call.query = call.key = view(x);
  call.value = view(value);
  call.output = view(output);
  call.query_ids = call.key_ids = ids.ids;
  call.query_boundaries = call.key_boundaries = boundaries;
  call.mask.causal = true;
  locus::attend(call);
  return output;
}

}  // namespace

int main() {
  const locus::Encoding rope("rope", {{"head_dim", head_dim}, {"pairing", "interleaved"}});
  std::vector<float> tokens(10 * heads * head_dim);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = std::sin(static_cast<float>(i * i % 97));
  const std::vector<float> packed = attend(rope, tokens, {3, 5, 2});

  const auto second = tokens.begin() + 3 * heads * head_dim;  // the same document alone
  const std::vector<float> alone = attend(rope, {second, second + 5 * heads * head_dim}, {5});
  float difference = 0;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    difference = std::fmax(difference, std::abs(alone[i] - packed[3 * heads * head_dim + i]));
  }
  std::printf("document 2 packed and alone differ by %.2g\n", static_cast<double>(difference));
  return difference < 1e-6f ? 0 : 1;
}
