// SPDX-License-Identifier: Apache-2.0
// Weights for the other pairing of RoPE: the rows of Wq and Wk (and their biases and norms) in another order per head.
//
//     interleaved   x0 y0 x1 y1 x2 y2 ...      pair i is rows 2i and 2i + 1 of the rotary slice
//     half          x0 x1 x2 ... y0 y1 y2 ...  pair i is rows i and i + d/2
//
// Queries and keys change alike, so that every score, and with it the model's output, stays what it was.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "locus/site.h"

namespace locus::io {

/// What one head looks like: coordinates [rotary_offset, rotary_offset + rotary_dim) are rotated.
struct HeadShape {
  std::int64_t head_dim = 0;
  std::int64_t rotary_dim = 0;
  std::int64_t rotary_offset = 0;
  friend bool operator==(const HeadShape&, const HeadShape&) = default;
};

/// Coordinate j of a converted head is coordinate order[j] of the given one, which has the other pairing than `to`.
/// Throws Error for an odd rotary width and for one that leaves the head.
std::vector<std::int64_t> pairing_order(const HeadShape& head, Pairing to);

struct ConvertPairingOptions {
  Pairing to = Pairing::half;
  std::filesystem::path output = {};  ///< a file, or for a sharded model or a folder a folder that does not exist yet
  bool in_place = false;              ///< replace the input; `output` must be empty then
  /// config.json of safetensors; empty: the one beside the weights.
  std::filesystem::path config = {};
  /// The pairing that the weights have; empty: that of engine_pairing below. Weights that have `to` are refused.
  std::optional<Pairing> from = {};
};

struct PairingReport {
  HeadShape head;                               ///< of the first layer
  std::int64_t heads = 0, key_value_heads = 0;  ///< of the first layer
  std::int64_t layers = 0;
  std::vector<std::string> tensors;          ///< those whose rows have moved
  std::vector<std::filesystem::path> files;  ///< written
  std::string architecture;                  ///< model_type or general.architecture
  /// How transformers (safetensors) or llama.cpp (GGUF) pairs this architecture, whatever the weights are; of a model
  /// that Locus's lab saved, what its file said before. (The new file says the new one.)
  std::optional<Pairing> engine_pairing;
};

/// `input`: a GGUF file, a .safetensors file, the index of a sharded model (.json) or a Hugging Face folder, whose
/// weights have the other pairing than `options.to`; refused where `from` or the architecture says that they have it
/// already. All else in the files keeps its bytes, so that converting back
/// gives the file that was. Rows are moved whole: a quantised matrix is converted without being decoded.
/// Throws Error, before anything is written, for what is not understood in full: tensors of queries and keys by other
/// names, fused in another form, of another size than the heads make, layers that differ in width.
PairingReport convert_pairing(const std::filesystem::path& input, const ConvertPairingOptions& options);

}  // namespace locus::io
