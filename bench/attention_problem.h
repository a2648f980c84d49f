// SPDX-License-Identifier: Apache-2.0
// The attention problem that we and the peers solve: causal, 8 heads of 64, float32, standard normal inputs.
#pragma once

#include <array>
#include <random>

#include "buffer.h"
#include "locus/attention.h"

namespace locus::bench {

constexpr std::int64_t attention_heads = 8;
constexpr std::int64_t attention_head_dim = 64;

/// Fills with standard normal values. They repeat after a prime number, so that no two neighbouring keys are equal.
inline void fill_normal(Buffer& buffer, unsigned seed) {
  std::mt19937 bits(seed);
  std::normal_distribution<float> normal;
  std::array<float, 65521> values;
  for (float& value : values) value = normal(bits);
  for (std::size_t i = 0; i < buffer.count(); ++i) buffer.floats()[i] = values[i % values.size()];
}

/// Inputs [heads, tokens, head_dim] and a call on them.
class AttentionProblem {
 public:
  AttentionProblem(std::int64_t queries, std::int64_t keys)
      : queries_(queries),
        keys_(keys),
        query_(bytes(queries)),
        key_(bytes(keys)),
        value_(bytes(keys)),
        output_(bytes(queries)) {
    fill_normal(query_, 1);
    fill_normal(key_, 2);
    fill_normal(value_, 3);
  }

  /// Returns a causal call, without a position term if `encoding` is null. No block is skipped.
  AttentionCall call(const Encoding* encoding, Executor* executor = nullptr) {
    AttentionCall call{.query = view(query_, queries_),
                       .key = view(key_, keys_),
                       .value = view(value_, keys_),
                       .output = view(output_, queries_),
                       .encoding = encoding,
                       .skip_irrelevant_blocks = false,
                       .executor = executor};
    call.mask.causal = true;
    return call;
  }
  Buffer& query() { return query_; }
  Buffer& key() { return key_; }
  Buffer& value() { return value_; }
  Buffer& output() { return output_; }

  /// Returns the operations that count: two products of head_dim per visible pair of query and key.
  double flops() const {
    const auto q = static_cast<double>(queries_);
    const auto visible = q * static_cast<double>(keys_ - queries_) + q * (q + 1) / 2;
    return 4 * static_cast<double>(attention_head_dim * attention_heads) * visible;
  }

 private:
  static std::size_t bytes(std::int64_t tokens) {
    const auto needed = static_cast<std::size_t>(attention_heads * tokens * attention_head_dim) * sizeof(float);
    return (needed + 4095) / 4096 * 4096;
  }
  static HeadsView view(Buffer& buffer, std::int64_t tokens) {
    return heads_view(buffer.data(), ElementType::float32, "htd", {{attention_heads, tokens, attention_head_dim}});
  }

  std::int64_t queries_, keys_;
  Buffer query_, key_, value_, output_;
};

}  // namespace locus::bench
