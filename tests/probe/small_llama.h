// SPDX-License-Identifier: Apache-2.0
// A small llama2.c model with random weights.
#pragma once

#include <unistd.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "probe/model.h"

namespace locus::probe {

struct SmallShape {
  std::int32_t dim = 8, hidden = 12, layers = 2, heads = 2, kv_heads = 1, vocab = 20, trained = 8;
  bool blind = false;  ///< queries are zero: every head looks at all keys alike
};

/// The file is deleted when this returns; the model keeps its mapping.
inline Model small_llama(const SmallShape& shape = {}, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 0.5F);
  std::vector<float> weights;
  const auto add = [&](std::int64_t count, float scale, float middle = 0) {
    for (std::int64_t i = 0; i < count; ++i) weights.push_back(middle + scale * normal(random));
  };
  const std::int64_t d = shape.dim, l = shape.layers, kv = d / shape.heads * shape.kv_heads, h = shape.hidden;
  add(std::int64_t{shape.vocab} * d, 2);                    // token embedding
  add(l * d, 0.1F, 1);                                      // attention norm
  add(l * d * d, shape.blind ? 0.0F : 1.5F);                // wq
  for (int i = 0; i < 2; ++i) add(l * d * kv, 1.5F);        // wk, wv
  add(l * d * d, 1);                                        // wo
  add(l * d, 0.1F, 1);                                      // feed-forward norm
  for (int i = 0; i < 3; ++i) add(l * d * h, 1);            // w1, w2, w3
  add(d, 0.1F, 1);                                          // final norm
  add(std::int64_t{shape.trained} * (d / shape.heads), 0);  // two unused tables
  const std::array<std::int32_t, 7> header = {shape.dim,      shape.hidden, shape.layers, shape.heads,
                                              shape.kv_heads, shape.vocab,  shape.trained};
  const auto path = std::filesystem::temp_directory_path() / ("small-llama-" + std::to_string(getpid()) + ".bin");
  {
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(header.data()), sizeof(header));
    file.write(reinterpret_cast<const char*>(weights.data()), static_cast<std::streamsize>(weights.size() * 4));
  }
  Model model = load(path);
  std::filesystem::remove(path);
  return model;
}

inline std::vector<Token> random_tokens(std::size_t count, std::int32_t vocab, unsigned seed = 5) {
  std::mt19937 random(seed);
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < count; ++i) tokens.push_back(static_cast<Token>(random() % static_cast<unsigned>(vocab)));
  return tokens;
}

}  // namespace locus::probe
