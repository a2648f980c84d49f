// SPDX-License-Identifier: Apache-2.0
// What a training step costs, in processor time and in memory, and a way to make it cost less.
#pragma once

#include <cstdint>
#include <functional>

namespace locus::lab {

/// The most bytes that tensors made inside `work` held at once on this thread.
std::int64_t peak_tensor_bytes(const std::function<void()>& work);

/// Of this thread, so that others on the same machine do not count.
double processor_seconds();

/// A training step frees and asks again for the same few megabytes; by default glibc gives them back to the system each
/// time and pays for fresh pages.
void keep_freed_memory();

}  // namespace locus::lab
