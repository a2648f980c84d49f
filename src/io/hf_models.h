// SPDX-License-Identifier: Apache-2.0
// What a model type implies and a config.json need not say: one table of families, in src/io/families.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace locus::io {

/// How positions enter the model, before the file's own keys are asked.
enum class HfFamily : std::uint8_t {
  rope,
  bloom,        // ALiBi on the running index of unmasked tokens
  mpt,          // ALiBi, under attn_config
  falcon,       // rope, or ALiBi where `alibi` is true
  baichuan,     // rope in the 7B model, ALiBi in the 13B one
  t5,           // buckets; encoder and decoder, or a decoder alone
  learned,      // a table; BERT's relations may have distances in place of it
  sinusoidal,   // Marian's: [sin | cos] by 2i/d
  fairseq,      // [sin | cos] by i/(d/2 - 1), rows from padding_idx + 1 on
  xlm,          // learned, or sinusoidal (interleaved) where the file says so
  whisper,      // sinusoidal encoder, learned decoder
  image_table,  // a learned row per patch, and rows before them
  image_waves,  // MAE's: sines and cosines of the patch's row and column
  windows,      // Swin: a learned number per head and offset inside a window, one table per stage
  transformer_xl,
  mpnet,   // a learned table, and T5's buckets on the scores
  by_key,  // position_embeddings_type or its like decides: see hf_other.cpp
  nope,    // attention without any positions
  no_attention,
  composite,    // nothing of its own: its parts have positions
  unsupported,  // `what` says what it does
};

/// How the layers of a RoPE model differ when the rope block itself is not given per layer type.
enum class HfLayers : std::uint8_t {
  alike,
  own_bases,          // sliding layers have a base of their own and no scaling
  sliding_unscaled,   // one base; the scaling is for the full layers only
  sliding_only,       // full layers have no position encoding where a sliding window is in use
  some_without,       // `no_rope_layers`, or every `no_rope_layer_interval`-th layer, has none
  layer_bases,        // `layer_rope_theta` has a base per layer; 0: no rotation
  main_and_compress,  // DeepSeek V4: sliding layers plain, compressed layers with a base and a rule of their own
  listed_bases,       // `rope_theta` and `partial_rotary_factors` may be lists with an entry per layer (Step 3.5)
};

/// The last: interleaved in, [evens | odds] out.
enum class HfPairing : std::uint8_t { half, interleaved, deinterleaving };

/// Which row of a learned table position 0 has.
enum class HfRowOffset : std::uint8_t { none, two, after_padding };

struct HfModel {
  std::string_view name = {};
  std::string_view seen = {};  ///< project and folder or file where the facts of the row stand
  HfFamily family = HfFamily::rope;
  HfPairing pairing = HfPairing::half;
  HfLayers layers = HfLayers::alike;
  std::int64_t full_every = 0;  ///< without layer_types: every n-th layer is a full one
  bool full_first = false;      ///< counted from the first layer on, not from the n-th
  double base = 10000;
  double older_base = 0;             ///< the default up to transformers 4.57, where it was another one
  double local_base = 10000;         ///< of sliding layers, with own_bases
  std::int64_t head_dim = 0;         ///< 0: hidden size / heads
  std::int64_t global_head_dim = 0;  ///< of full layers, where it differs
  std::int64_t hidden_size = 0;      ///< for files that leave sizes to the class
  std::int64_t heads = 0;
  std::int64_t max_length = 0;  ///< the class's max_position_embeddings or its like
  double rotary_fraction = 1;
  std::int64_t rotary_dim = 0;  ///< of latent attention: the default of qk_rope_head_dim
  bool latent = false;          ///< latent attention: a head has a rotary part of its own
  bool rotates_last = false;    ///< the last coordinates of the head, not the first
  bool turns_output = false;    ///< values are keys, and the output is turned back by the query's position
  bool double_width = false;    ///< attention works on twice the hidden size (Zamba 2)
  bool scales_softmax = false;  ///< YaRN's mscale_all_dim acts on the softmax scale, squared
  std::int64_t original_length = 0;
  std::string_view axes = {};           ///< empty: as the file says
  std::array<double, 3> sections = {};  ///< of M-RoPE, when the file gives none
  std::string_view rope_block = {};     ///< JSON used when the file has no rope block
  HfRowOffset row_offset = HfRowOffset::none;
  std::int64_t image_size = 0, patch_size = 0;
  std::int64_t extra_rows = 0;  ///< class tokens and the like before the patches
  double softmax_scale = 0;     ///< in place of 1 / sqrt(head_dim); 0: that
  std::string_view parts = {};  ///< default model types of parts: "text_config=llama vision_config=clip_vision_model"
  /// unsupported and no_attention: what the model does, {key=default} taken from the file. Of the others: what it does
  /// beside the encoding and Locus does not apply.
  std::string_view what = {};
};

/// The row of `model_type`, or of its parent (`qwen3_vl` for `qwen3_vl_text`), or nullptr.
const HfModel* find_hf_model(std::string_view model_type);

/// All rows, for programs that print or check the table.
std::span<const HfModel> hf_models();

}  // namespace locus::io
