// SPDX-License-Identifier: Apache-2.0
// Memory grows with T x head_dim, not with T x T. Every allocation of this executable is counted.
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "attention_check.h"

namespace {

std::atomic<std::int64_t> live = 0, peak = 0;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const std::int64_t now = live += static_cast<std::int64_t>(malloc_usable_size(memory));
  std::int64_t before = peak;
  while (before < now && !peak.compare_exchange_weak(before, now)) {
  }
  return memory;
}

void release(void* memory) {
  if (memory != nullptr) live -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return counted(std::aligned_alloc(step, (size + step - 1) / step * step));
}
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { release(memory); }

namespace locus::testing {
namespace {

/// The peak allocation of attend(), in units of keys x head_dim floats.
double shares_of_a_tensor(std::int64_t n, std::int64_t queries, const Encoding& encoding) {
  Tensors<float> t({.queries = queries, .keys = n, .dim = 32});
  t.call.encoding = &encoding;
  t.call.mask = {.causal = true, .window = 200};  // for speed; the tiles have the same size
  const std::int64_t before = live;
  peak = before;
  attend(t.call);
  return static_cast<double>(peak - before) / static_cast<double>(n * 32 * 4);
}

// Packed keys and values take two tensors; relative rows for 2 T offsets take two more (four with values); a bias by
// offset is 2 T floats, and ids and places 8 bytes per token each. Tiles take about 200 KB, at T = 16,384 a tenth of
// a tensor. The scores would take 512 tensors.
TEST(AttendMemory, GrowsWithTokensTimesHeadDim) {
  const std::int64_t n = 16384;
  EXPECT_LT(shares_of_a_tensor(n, n, Encoding("nope")), 3);
  EXPECT_LT(shares_of_a_tensor(n, n, Encoding("alibi", {{"heads", std::int64_t{1}}})), 3);
  const Encoding shaw("shaw", {{"heads", std::int64_t{1}}, {"head_dim", std::int64_t{32}}, {"values", true}});
  EXPECT_LT(shares_of_a_tensor(n, n, shaw), 8);
}

// Decode reads the cache in place: only ids and a vector of biases have the length of the cache.
TEST(AttendMemory, DecodeDoesNotCopyTheCache) {
  EXPECT_LT(shares_of_a_tensor(16384, 1, Encoding("alibi", {{"heads", std::int64_t{1}}})), 0.3);
}

}  // namespace
}  // namespace locus::testing
