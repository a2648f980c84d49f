// SPDX-License-Identifier: Apache-2.0
// Small GGUF files with only settings and lists of factors.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "locus/io/gguf.h"

namespace locus::testing {

class GgufModel {
 public:
  explicit GgufModel(const std::string& architecture) : prefix_(architecture + ".") {
    metadata_.push_back({"general.architecture", io::GgufValue::of(std::string_view(architecture))});
  }
  GgufModel& integer(const std::string& key, std::uint32_t value) { return entry(key, io::GgufValue::of(value)); }
  GgufModel& real(const std::string& key, float value) { return entry(key, io::GgufValue::of(value)); }
  GgufModel& text(const std::string& key, std::string_view value) { return entry(key, io::GgufValue::of(value)); }
  GgufModel& integers(const std::string& key, const std::vector<std::int32_t>& values) {
    return entry(key, io::GgufValue::of_array(std::span(values)));
  }
  /// A float32 tensor of this shape.
  GgufModel& tensor(const std::string& name, std::vector<std::int64_t> shape, std::vector<float> values) {
    tensors_.push_back({name, std::move(shape), std::move(values)});
    return *this;
  }
  void write(const std::filesystem::path& path) const {
    std::vector<io::GgufTensor> tensors;
    for (const Held& held : tensors_) {
      tensors.push_back({held.name, io::GgufTensorType::f32, held.shape, std::as_bytes(std::span(held.values))});
    }
    io::write_gguf(path, metadata_, tensors);
  }

 private:
  struct Held {
    std::string name;
    std::vector<std::int64_t> shape;
    std::vector<float> values;
  };
  GgufModel& entry(const std::string& key, io::GgufValue value) {
    metadata_.push_back({prefix_ + key, std::move(value)});
    return *this;
  }
  std::string prefix_;
  std::vector<io::GgufEntry> metadata_;
  std::vector<Held> tensors_;
};

}  // namespace locus::testing
