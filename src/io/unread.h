// SPDX-License-Identifier: Apache-2.0
// Files of which only the head is stored, as a browser reads large models.
#pragma once

#include <cstdint>
#include <filesystem>

namespace locus::io {

/// Returns how many bytes of a file follow those that are stored: 0, except in a browser, where a page stores the head
/// of a large file and this number, as text, in PATH.unread.
std::uint64_t unread_bytes(const std::filesystem::path& path);

}  // namespace locus::io
