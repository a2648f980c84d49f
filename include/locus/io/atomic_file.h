// SPDX-License-Identifier: Apache-2.0
// Writing a file so that nobody ever sees half of it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>

namespace locus::io {

using ByteChunk = std::span<const std::byte>;

/// Writes the chunks, one after the other, to a temporary file beside `path`, flushes it to the disk and renames it
/// into place. On any failure the temporary is removed, `path` is as it was, and locus::Error names file and cause.
/// A symbolic link is followed; anything at `path` that is not a regular file (a directory, a device) is refused.
void write_atomically(const std::filesystem::path& path, std::span<const ByteChunk> chunks);

/// Removes the temporary files of everything that this process is writing, then calls `end` while no write can begin
/// or finish: for a program that a signal ends. What a killed process leaves is removed by the next write beside it.
void remove_unfinished_files(const std::function<void()>& end);

}  // namespace locus::io
