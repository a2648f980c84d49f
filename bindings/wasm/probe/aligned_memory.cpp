// SPDX-License-Identifier: Apache-2.0
// The two functions of Highway's library that the probe calls; the module has only Highway's headers.
#include <cstdlib>

#include "hwy/aligned_allocator.h"

namespace hwy {

void* AllocateAlignedBytes(size_t payload_size, AllocPtr, void*) {
  constexpr size_t alignment = HWY_ALIGNMENT;
  return std::aligned_alloc(alignment, (payload_size + alignment - 1) / alignment * alignment);
}

void FreeAlignedBytes(const void* aligned_pointer, FreePtr, void*) { std::free(const_cast<void*>(aligned_pointer)); }

}  // namespace hwy
