// SPDX-License-Identifier: Apache-2.0
// An array of floats, aligned for any vector, not initialised.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>

namespace locus {

class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(std::int64_t count)
      : data_(static_cast<float*>(::operator new(static_cast<std::size_t>(count) * sizeof(float), alignment))) {}
  float* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t alignment{256};
  struct Free {
    void operator()(float* data) const { ::operator delete(data, alignment); }
  };
  std::unique_ptr<float, Free> data_;
};

/// Returns the smallest multiple of `step` that is at least `count`.
inline std::int64_t round_up(std::int64_t count, std::int64_t step) { return (count + step - 1) / step * step; }

inline AlignedFloats zeros(std::int64_t count) {
  AlignedFloats room(count);
  std::fill_n(room.data(), count, 0.0f);
  return room;
}

}  // namespace locus
