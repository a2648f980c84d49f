// SPDX-License-Identifier: Apache-2.0
// The head of a safetensors file: its directory of tensors without most of its data, as a browser reads it.
#pragma once

#include "locus/io/safetensors.h"

namespace locus::io {

/// Parses the first bytes of a file that has `unread` more. Tensors that are not wholly in the head have no bytes, and
/// floats() refuses them. Error: as parse_safetensors(), and a head that ends before the directory does.
SafetensorsFile parse_safetensors_head(std::span<const std::byte> head, std::uint64_t unread, const std::string& name);

}  // namespace locus::io
