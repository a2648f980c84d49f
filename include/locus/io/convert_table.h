// SPDX-License-Identifier: Apache-2.0
// A learned position table resized inside the checkpoint that holds it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "locus/resize.h"

namespace locus::io {

struct ConvertTableOptions {
  std::string tensor = {};  ///< e.g. transformer.wpe.weight, position_embd.weight
  std::int64_t to = 0;      ///< positions wanted, for a table with one axis
  /// A table with two axes instead: what its rows are, and what they shall be.
  std::optional<Grid> from_grid = {}, to_grid = {};
  ResizeOptions resize = {.method = ResizeMethod::linear};  ///< prefix_rows: OPT's 2, a class token's 1
  std::filesystem::path output = {};                        ///< a new file, or a new folder for a Hugging Face folder
  bool in_place = false;                                    ///< replace the input; `output` must be empty then
};

struct TableReport {
  std::vector<std::int64_t> shape_before, shape_after;
  std::string type;                          ///< of the elements, unchanged
  std::vector<std::string> adjusted;         ///< keys that gave the length and were changed: max_position_embeddings
  std::vector<std::filesystem::path> files;  ///< written
};

/// `input`: a GGUF file, a .safetensors file, or a Hugging Face folder. The named tensor [rows, dim] or [1, rows, dim],
/// of float64, float32, float16 or bfloat16, is replaced by its resized form; other tensors keep their bytes. Where a
/// folder's config.json (max_position_embeddings, n_positions, n_ctx) or a GGUF file's metadata
/// (`<architecture>.context_length`) gives the old length, it gets the new one.
/// Arithmetic is in double, rounded once to the element type. Throws Error before anything is written.
TableReport convert_table(const std::filesystem::path& input, const ConvertTableOptions& options);

}  // namespace locus::io
