// SPDX-License-Identifier: Apache-2.0
// Collects what a GGUF file says about positions, without interpreting it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "locus/io/gguf.h"

namespace locus::io {

/// How llama.cpp rotates the heads of an architecture; the file itself does not say.
enum class GgufRopeType : std::uint8_t {
  none,         ///< no rotation
  interleaved,  ///< llama.cpp's `normal`: pairs (2i, 2i + 1)
  half,         ///< llama.cpp's `neox`: pairs (i, i + d/2)
  mrope,        ///< half, several axes in consecutive sections
  imrope,       ///< half, several axes interleaved
  vision        ///< half, frequencies restart in every section
};

std::string_view name_of(GgufRopeType type);

/// The settings of one architecture. Empty: the file does not have the key or the tensor. `rope.x` means the key
/// `<architecture>.rope.x`.
struct GgufRope {
  std::string architecture;               ///< general.architecture
  std::optional<GgufRopeType> rope_type;  ///< empty: the architecture is not in llama.cpp's table

  std::optional<double> freq_base, freq_base_swa;                    ///< rope.freq_base; _swa: sliding-window layers
  std::optional<std::int64_t> dimension_count, dimension_count_swa;  ///< rope.dimension_count: the rotary width
  std::optional<std::vector<std::int64_t>> dimension_sections;       ///< rope.dimension_sections: pairs per axis

  std::optional<std::string> scaling_type;  ///< rope.scaling.type: none, linear, yarn, longrope
  std::optional<double> scaling_factor;     ///< rope.scaling.factor, else the older rope.scale_linear
  std::optional<double> scaling_alpha, scaling_attn_factor;
  std::optional<std::int64_t> original_context_length;  ///< rope.scaling.original_context_length
  std::optional<bool> scaling_finetuned;
  /// rope.scaling.yarn_*
  std::optional<double> yarn_log_multiplier, yarn_ext_factor, yarn_attn_factor, yarn_beta_fast, yarn_beta_slow;

  std::optional<std::vector<float>> freq_factors;   ///< tensor rope_freqs.weight: divisors of the frequencies
  std::optional<std::vector<float>> long_factors;   ///< tensor rope_factors_long.weight
  std::optional<std::vector<float>> short_factors;  ///< tensor rope_factors_short.weight

  std::optional<double> max_alibi_bias;  ///< attention.max_alibi_bias
  std::optional<std::int64_t> context_length, embedding_length, block_count;
  std::optional<std::int64_t> key_length, key_length_swa, value_length;  ///< attention.key_length: width of a head
  std::optional<std::int64_t> sliding_window;                          ///< attention.sliding_window, if it is a number
  std::optional<std::vector<std::int64_t>> head_count, head_count_kv;  ///< one number, or one per layer

  std::vector<std::string> unknown;  ///< other keys under `<architecture>.rope.`
};

/// Collects the settings of a file.
/// Error: a file without general.architecture, values of a wrong type.
GgufRope collect_gguf_rope(const GgufFile& file);

/// Looks an architecture up in llama.cpp's table. `has_axes`: the file's first two rope sections are not zero; some
/// architectures then use mrope.
std::optional<GgufRopeType> gguf_rope_type(std::string_view architecture, bool has_axes);

}  // namespace locus::io
