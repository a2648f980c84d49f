// SPDX-License-Identifier: Apache-2.0
// Memory for measurements: page-aligned and written once, so that no page fault is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace locus::bench {

class Buffer {
 public:
  /// `bytes` must be a multiple of 4,096. Fills it with different small floats of both signs.
  explicit Buffer(std::size_t bytes) : data_(std::aligned_alloc(4096, bytes)), bytes_(bytes) {
    if (data_ == nullptr) throw std::bad_alloc();
    for (std::size_t i = 0; i < count(); ++i) floats()[i] = static_cast<float>(i * 29 % 61) / 32.0f - 0.9375f;
  }
  float* floats() { return static_cast<float*>(data_.get()); }
  void* data() { return data_.get(); }
  std::size_t bytes() const { return bytes_; }
  std::size_t count() const { return bytes_ / sizeof(float); }

 private:
  struct Free {
    void operator()(void* data) const { std::free(data); }
  };
  std::unique_ptr<void, Free> data_;
  std::size_t bytes_;
};

}  // namespace locus::bench
