// SPDX-License-Identifier: Apache-2.0
// Converts weights to the other pairing of RoPE: permutes the rows of Wq and Wk (and their biases and norms) per
// head.
//
//     interleaved   x0 y0 x1 y1 x2 y2 ...      pair i is rows 2i and 2i + 1 of the rotary slice
//     half          x0 x1 x2 ... y0 y1 y2 ...  pair i is rows i and i + d/2
//
// Queries and keys are permuted alike, so every score, and with it the model's output, is unchanged.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "locus/site.h"

namespace locus::io {

/// The shape of one head: coordinates [rotary_offset, rotary_offset + rotary_dim) are rotated.
struct HeadShape {
  std::int64_t head_dim = 0;
  std::int64_t rotary_dim = 0;
  std::int64_t rotary_offset = 0;
  friend bool operator==(const HeadShape&, const HeadShape&) = default;
};

/// Returns `order`: coordinate j of a converted head is coordinate order[j] of the input, which has the other
/// pairing.
/// Error: an odd rotary width, a rotary slice that exceeds the head.
std::vector<std::int64_t> pairing_order(const HeadShape& head, Pairing to);

struct ConvertPairingOptions {
  Pairing to = Pairing::half;
  std::filesystem::path output = {};  ///< a file; for a sharded model or a folder, a new folder
  bool in_place = false;              ///< replaces the input; `output` must be empty
  /// The config.json of safetensors files; empty: the one next to the weights.
  std::filesystem::path config = {};
  /// The pairing of the input weights; empty: engine_pairing below.
  std::optional<Pairing> from = {};
};

struct PairingReport {
  HeadShape head;                               ///< of the first layer
  std::int64_t heads = 0, key_value_heads = 0;  ///< of the first layer
  std::int64_t layers = 0;
  std::vector<std::string> tensors;          ///< those whose rows were permuted
  std::vector<std::filesystem::path> files;  ///< written
  std::string architecture;                  ///< model_type or general.architecture
  /// How transformers (safetensors) or llama.cpp (GGUF) pairs this architecture, independent of the weights. For a
  /// model that Locus's lab saved: the pairing that the input file states (the output states the new one).
  std::optional<Pairing> engine_pairing;
};

/// Converts a GGUF file, a .safetensors file, the index of a sharded model (.json) or a Hugging Face folder. All
/// other bytes are kept, so converting back restores the file. Rows are moved whole: quantised matrices are not
/// decoded.
/// Error: weights that already have the pairing `options.to`, by `from` or by the architecture; and, before anything
/// is written, whatever is not fully understood: query and key tensors of other names, fused forms or sizes, layers
/// that differ in width.
/// Cost: one copy of the file.
PairingReport convert_pairing(const std::filesystem::path& input, const ConvertPairingOptions& options);

}  // namespace locus::io
