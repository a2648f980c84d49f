// SPDX-License-Identifier: Apache-2.0
// Reads which positional encoding a GGUF file describes, as llama.cpp would.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "locus/io/gguf.h"
#include "locus/io/hf_config.h"

namespace locus::io {

/// The encodings of a file's layer types, in the form of hf_config.h. Keys are named without the architecture:
/// `rope.freq_base`.
struct GgufEncoding {
  std::string architecture;
  std::vector<LayerEncoding> layers;
};

/// Applies llama.cpp's rules: its defaults for absent keys, its pairing by architecture, its choice between the long
/// and the short factor list by the context size (`length`, else the file's). A list of divisors becomes the rule
/// longrope with equal lists. A file of locus_lab states its encoding.
/// Error: architectures that llama.cpp does not know, files without sizes.
GgufEncoding resolve_gguf_encoding(const GgufFile& file, std::optional<std::int64_t> length = {});

}  // namespace locus::io
