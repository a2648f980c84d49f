// SPDX-License-Identifier: Apache-2.0
// Facts that a model type implies and a config.json may omit: one table of families, in src/io/families.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace locus::io {

/// How positions enter the model, before any key of the file is read.
enum class HfFamily : std::uint8_t {
  rope,
  bloom,            // ALiBi on the running index of unmasked tokens
  mpt,              // ALiBi, under attn_config
  falcon,           // rope, or ALiBi if `alibi` is true
  baichuan,         // rope in the 7B model, ALiBi in the 13B one
  t5,               // buckets; encoder and decoder, or a decoder only
  learned,          // a table; BERT may have relative distances instead
  sinusoidal,       // Marian's: [sin | cos] by 2i/d
  fairseq,          // [sin | cos] by i/(d/2 - 1), rows start at padding_idx + 1
  xlm,              // learned, or sinusoidal (interleaved) if the file says so
  whisper,          // sinusoidal encoder, learned decoder
  image_table,      // one learned row per patch, and rows before them
  image_waves,      // MAE: sines and cosines of the patch's row and column
  windows,          // Swin: a learned number per head and offset inside a window, one table per stage
  network_windows,  // Swin V2: a small network over the offset inside a window
  grid_keys,        // SAM: a learned table of patches, and rows for vertical and horizontal offsets
  transformer_xl,
  conformer,
  mpnet,   // a learned table, and T5's buckets on the scores
  by_key,  // position_embeddings_type or a similar key decides; see hf_other.cpp
  nope,    // attention without any positions
  no_attention,
  composite,    // no positions itself; its parts have them
  unsupported,  // `what` describes it
};

/// How the layers of a RoPE model differ if the rope block is not given per layer type.
enum class HfLayers : std::uint8_t {
  alike,
  own_bases,          // sliding layers have their own base and no scaling
  sliding_unscaled,   // one base; the scaling applies to full layers only
  sliding_only,       // full layers have no position encoding if a sliding window is used
  some_without,       // `no_rope_layers`, or every `no_rope_layer_interval`-th layer, has none
  layer_bases,        // `layer_rope_theta` has a base per layer; 0: no rotation
  main_and_compress,  // DeepSeek V4: sliding layers plain, compressed layers with their own base and rule
  listed_bases,       // `rope_theta` and `partial_rotary_factors` may be lists with an entry per layer (Step 3.5)
};

/// deinterleaving: interleaved input, [evens | odds] output.
enum class HfPairing : std::uint8_t { half, interleaved, deinterleaving };

/// The row of a learned table that position 0 uses.
enum class HfRowOffset : std::uint8_t { none, two, after_padding };

struct HfModel {
  std::string_view name = {};
  std::string_view seen = {};  ///< project and file or folder that states the facts of the row
  HfFamily family = HfFamily::rope;
  HfPairing pairing = HfPairing::half;
  HfLayers layers = HfLayers::alike;
  std::int64_t full_every = 0;  ///< without layer_types: every n-th layer is full
  bool full_first = false;      ///< counted from the first layer, not from the n-th
  double base = 10000;
  double older_base = 0;             ///< the default up to transformers 4.57, if it was different
  double local_base = 10000;         ///< of sliding layers, with own_bases
  std::int64_t head_dim = 0;         ///< 0: hidden size / heads
  std::int64_t global_head_dim = 0;  ///< of full layers, if different
  std::int64_t hidden_size = 0;      ///< for files that omit sizes
  std::int64_t heads = 0;
  std::int64_t max_length = 0;  ///< max_position_embeddings of the class, or its equivalent
  double rotary_fraction = 1;
  std::int64_t rotary_dim = 0;  ///< of latent attention: the default of qk_rope_head_dim
  bool latent = false;          ///< latent attention: a head has a separate rotary part
  bool rotates_last = false;    ///< rotates the last coordinates of the head
  bool turns_output = false;    ///< values are keys, and the output is rotated back by the query's position
  bool double_width = false;    ///< attention works on twice the hidden size (Zamba 2)
  bool scales_softmax = false;  ///< YaRN's mscale_all_dim multiplies the softmax scale, squared
  std::int64_t original_length = 0;
  std::string_view axes = {};           ///< empty: as the file says
  std::array<double, 3> sections = {};  ///< of M-RoPE, if the file gives none
  std::string_view rope_block = {};     ///< JSON used if the file has no rope block
  HfRowOffset row_offset = HfRowOffset::none;
  std::int64_t image_size = 0, patch_size = 0;
  std::int64_t extra_rows = 0;  ///< class tokens and similar rows before the patches
  double softmax_scale = 0;     ///< replaces 1 / sqrt(head_dim); 0: not replaced
  std::string_view parts = {};  ///< default model types of parts: "text_config=llama vision_config=clip_vision_model"
  /// For unsupported and no_attention: what the model does, with {key=default} taken from the file. Otherwise: what the
  /// model does in addition to the encoding, which Locus does not apply.
  std::string_view what = {};
};

/// Returns the row of `model_type`, or of its parent (`qwen3_vl` for `qwen3_vl_text`), or nullptr.
const HfModel* find_hf_model(std::string_view model_type);

/// Returns all rows, for programs that print or check the table.
std::span<const HfModel> hf_models();

}  // namespace locus::io
