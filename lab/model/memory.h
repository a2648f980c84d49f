// SPDX-License-Identifier: Apache-2.0
// What tensors take, and how freed memory is kept for the next step.
#pragma once

#include <cstdint>
#include <functional>

namespace locus::lab {

/// The most bytes that tensors made inside `work` held at once on this thread.
std::int64_t peak_tensor_bytes(const std::function<void()>& work);

/// A training step frees and asks again for the same few megabytes; by default glibc gives them back to the system each
/// time and pays for fresh pages.
void keep_freed_memory();

}  // namespace locus::lab
