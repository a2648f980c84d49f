// SPDX-License-Identifier: Apache-2.0
// Memory whose first or last byte is adjacent to a protected page.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <stdexcept>
#include <vector>

namespace locus::testing {

enum class Side { before, after };  ///< where the forbidden page is

/// An access beyond the guarded end is a segmentation fault; intact() finds a write beyond the other end.
class GuardedBuffer {
 public:
  GuardedBuffer(std::size_t bytes, Side side) : bytes_(bytes) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t room = (bytes / page + 1) * page;
    mapped_ = room + 2 * page;
    void* address = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (address == MAP_FAILED) throw std::runtime_error("mmap failed");
    start_ = static_cast<std::byte*>(address);
    room_ = {start_ + page, room};
    protect(PROT_READ | PROT_WRITE);
    std::fill(room_.begin(), room_.end(), filler);
    data_ = side == Side::before ? room_.data() : room_.data() + room - bytes;
  }
  template <class T>
  GuardedBuffer(const std::vector<T>& values, Side side) : GuardedBuffer(values.size() * sizeof(T), side) {
    std::memcpy(data_, values.data(), bytes_);
  }
  ~GuardedBuffer() { munmap(start_, mapped_); }
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;

  template <class T>
  T* as() {
    return reinterpret_cast<T*>(data_);
  }
  void* data() { return data_; }
  std::span<const std::byte> bytes() const { return {data_, bytes_}; }

  /// From here on writing is a segmentation fault.
  void make_read_only() { protect(PROT_READ); }

  /// Whether the bytes around the buffer are unchanged.
  bool intact() const {
    return std::all_of(room_.data(), data_, [](std::byte b) { return b == filler; }) &&
           std::all_of(data_ + bytes_, room_.data() + room_.size(), [](std::byte b) { return b == filler; });
  }

 private:
  static constexpr std::byte filler{0xa5};

  void protect(int access) {
    if (mprotect(room_.data(), room_.size(), access) != 0) throw std::runtime_error("mprotect failed");
  }

  std::size_t bytes_;
  std::size_t mapped_ = 0;
  std::byte* start_ = nullptr;
  std::span<std::byte> room_;
  std::byte* data_ = nullptr;
};

}  // namespace locus::testing
