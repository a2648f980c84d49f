// SPDX-License-Identifier: Apache-2.0
// Resizes a learned position table inside its checkpoint.
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
  std::int64_t to = 0;      ///< number of positions, for a table with one axis
  /// For a table with two axes instead: its grid, and the new grid.
  std::optional<Grid> from_grid = {}, to_grid = {};
  ResizeOptions resize = {.method = ResizeMethod::linear};  ///< prefix_rows: OPT's 2, a class token's 1
  std::filesystem::path output = {};                        ///< a new file, or a new folder if the input is a folder
  bool in_place = false;                                    ///< replaces the input; `output` must be empty
};

struct TableReport {
  std::vector<std::int64_t> shape_before, shape_after;
  std::string type;                          ///< of the elements, unchanged
  std::vector<std::string> adjusted;         ///< keys of the length that were changed: max_position_embeddings
  std::vector<std::filesystem::path> files;  ///< written
};

/// Replaces the named tensor [rows, dim] or [1, rows, dim] of a GGUF file, a .safetensors file or a Hugging Face
/// folder by its resized form; other tensors keep their bytes. Updates the old length in a folder's config.json
/// (max_position_embeddings, n_positions, n_ctx) or a GGUF file's metadata (`<architecture>.context_length`).
/// Computes in double and rounds once to the element type (float64, float32, float16 or bfloat16).
/// Error: an unknown tensor, another shape or type; before anything is written.
TableReport convert_table(const std::filesystem::path& input, const ConvertTableOptions& options);

}  // namespace locus::io
