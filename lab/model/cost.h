// SPDX-License-Identifier: Apache-2.0
// Processor time and memory of a training step, and an allocator setting that makes it faster.
#pragma once

#include <cstdint>
#include <functional>

namespace locus::lab {

/// Returns the peak number of bytes in tensors that `work` allocated on this thread.
std::int64_t peak_tensor_bytes(const std::function<void()>& work);

/// Returns the processor time of this thread, which does not depend on other load.
double processor_seconds();

/// Keeps freed memory in the process. A training step frees and allocates the same few megabytes; by default, glibc
/// returns them to the system and maps new pages each time.
void keep_freed_memory();

}  // namespace locus::lab
