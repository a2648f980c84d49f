// SPDX-License-Identifier: Apache-2.0
// The part of DLPack's interface that is used here. The layout is defined by https://dmlc.github.io/dlpack (version 0).
#pragma once

#include <cstdint>

namespace locus::python {

struct DLDevice {
  std::int32_t device_type;  // 1: the CPU
  std::int32_t device_id;
};

struct DLDataType {
  std::uint8_t code;  // 2: IEEE floating point, 4: bfloat16
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct DLTensor {
  void* data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null if contiguous
  std::uint64_t byte_offset;
};

// A capsule named "dltensor" points to this. The members after the tensor are for consumers that take ownership.
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};

}  // namespace locus::python
