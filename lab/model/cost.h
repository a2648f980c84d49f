// SPDX-License-Identifier: Apache-2.0
// Processor time and memory of a training step, and an allocator setting that makes it faster.
#pragma once

#include <cstdint>
#include <functional>

namespace locus::lab {

/// The most bytes that tensors made inside `work` held at once on this thread.
std::int64_t peak_tensor_bytes(const std::function<void()>& work);

/// Processor time of this thread, which other load on the machine does not change.
double processor_seconds();

/// A training step frees and allocates the same few megabytes again; by default glibc returns them to the system each
/// time and pays for new pages.
void keep_freed_memory();

}  // namespace locus::lab
