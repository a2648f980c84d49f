// SPDX-License-Identifier: Apache-2.0
// Small random models of every family, as Hugging Face folders and as GGUF files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "locus/io/gguf.h"
#include "locus/io/safetensors.h"

namespace locus::testing {

struct TinyTensor {
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

struct TinySizes {
  std::int64_t layers = 2, heads = 4, kv_heads = 4, head_dim = 8, dim = 32, feed_forward = 48, vocab = 50, length = 64;
};

struct TinyModel {
  std::string architecture;  ///< as config.json has it
  TinySizes sizes;
  bool tied = false;
  nlohmann::json config;
  std::map<std::string, TinyTensor> tensors;  ///< under their Hugging Face names

  const TinyTensor& at(const std::string& name) const { return tensors.at(name); }
};

/// llama, mistral (window 5), qwen2, qwen3, gpt2, gpt_neox (half of each head rotated) or bloom.
TinyModel make_tiny(const std::string& architecture, TinySizes sizes = {}, bool tied = false, std::uint64_t seed = 1);

/// config.json and model.safetensors; type f32, f16 or bf16. The model's values become the stored ones.
void write_hf_folder(TinyModel& model, const std::filesystem::path& folder,
                     io::SafetensorsType type = io::SafetensorsType::f32);
/// Names, orders and settings as llama.cpp's converter writes them. Types other than f32 are for matrices only, and
/// quantised ones get random blocks: the model's values become the decoded ones.
void write_gguf_file(TinyModel& model, const std::filesystem::path& path,
                     io::GgufTensorType type = io::GgufTensorType::f32);

}  // namespace locus::testing
