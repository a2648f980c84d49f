// SPDX-License-Identifier: Apache-2.0
// Continues when the context is full: drops the oldest tokens of a KV cache without recomputing any key.
#include <cmath>
#include <cstdio>
#include <vector>

#include "locus/locus.h"

namespace {

constexpr std::int64_t heads = 2, head_dim = 32, size = heads * head_dim;

std::vector<float> key_of(std::int64_t token) {  // in place of the model
  std::vector<float> key(size);
  for (std::size_t j = 0; j < key.size(); ++j)
    key[j] = std::sin(static_cast<float>(token) * 1.7f + static_cast<float>(j));
  return key;
}

locus::HeadsView view(std::vector<float>& key) {
  return locus::heads_view(key.data(), locus::ElementType::float32, "thd", {{1, heads, head_dim}});
}

}  // namespace

int main() {
  const locus::Encoding rope("rope", {{"head_dim", head_dim}, {"pairing", "half"}});
  locus::KvCache cache(rope, {.capacity = 48, .heads = heads, .head_dim = head_dim, .page_size = 16});
  const locus::SequenceId chat = cache.create();
  for (std::int64_t token = 0; token < 100; ++token) {
    if (cache.length(chat) == 16) cache.slide(chat, 4, 8, true);  // keep 4 sinks and the last 8, positions 0 .. 11
    std::vector<float> key = key_of(token), value = key;
    const std::vector<locus::Position> next = {cache.length(chat)};
    cache.append(chat, view(key), view(value), next);
  }

  // The oldest of the last tokens was shifted several times; it must equal a fresh rotation at its position.
  const locus::CachedSequence kept = cache.gather(chat);
  const std::int64_t moved = 4, token = 100 - (cache.length(chat) - moved);
  std::vector<float> fresh = key_of(token);
  locus::rotate(rope, view(fresh), locus::positions::prefill(1, kept.ids[moved]), locus::Role::key);
  double error = 0;
  for (std::int64_t j = 0; j < size; ++j) {
    const std::int64_t at = moved * kept.keys.token_stride + j / head_dim * kept.keys.head_stride + j % head_dim;
    const float key = static_cast<const float*>(kept.keys.data)[at];
    error = std::fmax(error, std::abs(double{key} - double{fresh[static_cast<std::size_t>(j)]}));
  }
  std::printf("%lld tokens kept, the last at position %lld, error %.2g\n", static_cast<long long>(cache.length(chat)),
              static_cast<long long>(kept.ids.back()), error);
  return kept.ids.back() < 16 && error < 1e-6 ? 0 : 1;
}
