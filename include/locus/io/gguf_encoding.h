// SPDX-License-Identifier: Apache-2.0
// Which positional encoding a GGUF file describes, read as llama.cpp reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "locus/io/gguf.h"
#include "locus/io/hf_config.h"

namespace locus::io {

/// The encodings of a file's kinds of layers, in the form that hf_config.h gives them. Keys are named without the
/// architecture: `rope.freq_base`.
struct GgufEncoding {
  std::string architecture;
  std::vector<LayerEncoding> layers;
};

/// llama.cpp's rules: its defaults for absent keys, its pairing by architecture, its choice between the long and short
/// factor list by the context size (`length`, or the file's own). A list of divisors becomes rule longrope with equal
/// lists. A file of locus_lab says it outright. Throws locus::Error for architectures that llama.cpp does not know and
/// for files without sizes.
GgufEncoding resolve_gguf_encoding(const GgufFile& file, std::optional<std::int64_t> length = {});

}  // namespace locus::io
