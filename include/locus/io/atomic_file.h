// SPDX-License-Identifier: Apache-2.0
// Writes files atomically: a reader sees the old file or the new one, never a part.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>

namespace locus::io {

using ByteChunk = std::span<const std::byte>;

/// Writes the chunks in order to a temporary file next to `path`, flushes it to disk and renames it to `path`. Follows
/// a symbolic link.
/// Error: any failure, with file and cause; `path` is unchanged and the temporary file removed. Also a `path` that is
/// not a regular file (a directory, a device).
void write_atomically(const std::filesystem::path& path, std::span<const ByteChunk> chunks);

/// Removes the temporary files that this process is writing, then calls `end` while writes are blocked. For a program
/// that ends on a signal. The next write to a folder removes temporary files that a killed process left there.
void remove_unfinished_files(const std::function<void()>& end);

}  // namespace locus::io
