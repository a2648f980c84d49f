// SPDX-License-Identifier: Apache-2.0
// Decompresses raw deflate streams with zlib, if the build found it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace locus::io {

bool inflate_is_available();

/// Returns exactly `size` bytes. Error: anything else; `subject` starts the message.
std::vector<std::byte> inflate(std::span<const std::byte> deflated, std::size_t size, const std::string& subject);

}  // namespace locus::io
