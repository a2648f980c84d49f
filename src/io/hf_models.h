// SPDX-License-Identifier: Apache-2.0
// What a model type of transformers implies and a config.json need not say.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace locus::io {

enum class HfFamily : std::uint8_t {
  rope,
  bloom,
  mpt,
  falcon,    // rope, or ALiBi where `alibi` is true
  baichuan,  // rope in the 7B model, ALiBi in the 13B one
  t5,
  learned,
  sinusoidal,  // Marian's: concatenated
  xlm,         // learned, or sinusoidal (interleaved) where the file says so
  whisper,     // sinusoidal encoder, learned decoder
  nope,
};

/// How the layers of a RoPE model differ when the rope block itself is not given per layer type.
enum class HfLayers : std::uint8_t {
  alike,
  own_bases,         // sliding layers have a base of their own and no scaling
  sliding_unscaled,  // one base; the scaling is for the full layers only
  sliding_only,      // full layers have no position encoding
  some_without,      // `no_rope_layers`, or every `no_rope_layer_interval`-th layer, has none
};

enum class HfPairing : std::uint8_t {
  half,
  interleaved,
  deinterleaving
};  // the last: interleaved in, [evens|odds] out

/// Which row of a learned table position 0 has.
enum class HfRowOffset : std::uint8_t { none, two, after_padding };

struct HfModel {
  std::string_view name;
  HfFamily family = HfFamily::rope;
  HfPairing pairing = HfPairing::half;
  HfLayers layers = HfLayers::alike;
  double base = 10000;
  double local_base = 10000;         // of sliding layers, with own_bases
  std::int64_t head_dim = 0;         // 0: hidden size / heads
  std::int64_t global_head_dim = 0;  // of full layers, where it differs
  std::int64_t hidden_size = 0;      // for files that leave sizes to the class
  std::int64_t heads = 0;
  double rotary_fraction = 1;
  std::int64_t rotary_dim = 0;
  bool rotates_last = false;  // the last coordinates of the head, not the first
  std::int64_t original_length = 0;
  std::string_view axes = {};           // empty: as the file says; "own": an order that Locus does not have
  std::array<double, 3> sections = {};  // of M-RoPE, when the file gives none
  std::string_view rope_block = {};     // JSON used when the file has no rope block
  HfRowOffset row_offset = HfRowOffset::none;
};

/// The row of `model_type`, or of its parent (`qwen3_vl` for `qwen3_vl_text`), or nullptr.
const HfModel* find_hf_model(std::string_view model_type);

}  // namespace locus::io
