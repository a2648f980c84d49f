// SPDX-License-Identifier: Apache-2.0
// The head of a GGUF file: its metadata and tensor directory without most of its data, as a browser reads it.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "locus/io/gguf.h"

namespace locus::io {

/// Parses the first bytes of a file that has `unread` more. Tensors that are not wholly in the head have no bytes, and
/// to_floats() refuses them. Error: as parse_gguf(), and a head that ends before the tensor directory does.
GgufFile parse_gguf_head(std::span<const std::byte> head, std::uint64_t unread, const std::string& name);

}  // namespace locus::io
