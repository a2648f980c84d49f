// SPDX-License-Identifier: Apache-2.0
// Rotates in an engine's own buffers: one fused row per token, [q heads | k heads | v heads].
//
// The pairs of a head (c is multiplied by cos, s by sin; 0 is beyond rotary_dim and is not changed):
//   pairing "half"         [ccccssss0000]  pair i is (i, i + d/2)     Hugging Face, GPT-NeoX
//   pairing "interleaved"  [cscscscs0000]  pair i is (2i, 2i + 1)     Meta's Llama, GPT-J, most GGUF files
// There is no default: with the wrong one everything runs, and only the model's output gets worse.
#include <cmath>
#include <cstdio>
#include <vector>

#include "locus/locus.h"

namespace {

constexpr std::int64_t layers = 2, tokens = 5, query_heads = 4, key_heads = 2, head_dim = 64;
constexpr std::int64_t row = (query_heads + 2 * key_heads) * head_dim;

void project(std::vector<float>& qkv, std::int64_t layer) {  // in place of the engine's matrix product
  for (std::size_t i = 0; i < qkv.size(); ++i) qkv[i] = std::sin(static_cast<float>(i) + static_cast<float>(layer));
}

// Heads inside the fused row: token_stride is the whole row, not heads x head_dim.
locus::HeadsView heads_at(float* first, std::int64_t heads) {
  return {.data = first,
          .tokens = tokens,
          .heads = heads,
          .head_dim = head_dim,
          .token_stride = row,
          .head_stride = head_dim};
}

}  // namespace

int main() {
  const locus::Encoding rope("rope", {{"head_dim", head_dim}, {"pairing", "half"}, {"rotary_dim", 32}, {"base", 5e5}});
  locus::ThreadPool pool(2);
  std::vector<float> qkv(static_cast<std::size_t>(tokens * row));
  bool norms_kept = true;
  for (const std::int64_t cached : {std::int64_t{0}, tokens}) {               // a prompt, then more tokens after it
    const locus::PositionIds ids = locus::positions::decode(cached, tokens);  // once per step, for all layers
    for (std::int64_t layer = 0; layer < layers; ++layer) {
      project(qkv, layer);
      const std::vector<float> before = qkv;
      locus::rotate_query_key(rope, heads_at(qkv.data(), query_heads),
                              heads_at(qkv.data() + query_heads * head_dim, key_heads), ids, locus::Direction::forward,
                              &pool);
      // ... attention over the rotated queries and keys; values (the rest of the row) are unchanged.
      double change = 0;
      for (std::size_t i = 0; i < qkv.size(); ++i) change += double{qkv[i]} * qkv[i] - double{before[i]} * before[i];
      norms_kept = norms_kept && std::abs(change) < 1e-3 && qkv.back() == before.back();
    }
  }
  std::printf("rotated %lld layers, norms %s\n", static_cast<long long>(layers), norms_kept ? "kept" : "changed");
  return norms_kept ? 0 : 1;
}
