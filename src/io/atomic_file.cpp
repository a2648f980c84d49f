// SPDX-License-Identifier: Apache-2.0
#include "locus/io/atomic_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "io/temporary_path.h"
#include "locus/error.h"

namespace locus::io {
namespace {

namespace fs = std::filesystem;

std::string reason(int error_number) { return std::generic_category().message(error_number); }

/// Returns the path that receives the bytes. Renaming onto a link would replace the link, and renaming onto /dev/null
/// would replace the device, so links are resolved and anything but a regular file is refused.
fs::path resolve_target(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::is_symlink(path, error) ? fs::canonical(path, error) : path;
  require(!target.empty(), path.string(), ": cannot write, the symbolic link leads nowhere (", error.message(), ")");
  const fs::file_status status = fs::status(target, error);
  require(!fs::exists(status) || fs::is_regular_file(status), path.string(), ": cannot write, it is ",
          fs::is_directory(status) ? "a directory" : "not a regular file");
  return target;
}

/// A temporary file next to the target, removed unless it was renamed. Its name does not contain the target's, which
/// may already be as long as the file system allows.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& target) : target_(target), path_(target.parent_path()) {
    stream_ = std::fopen(path_.path().c_str(), "wbx");
    if (stream_ != nullptr) return;
    const int cause = errno;
    path_.release();  // nothing was created
    errno = cause;
    fail_with_cause("cannot create a temporary file next to it");
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (stream_ != nullptr) std::fclose(stream_);
  }

  void write(ByteChunk chunk) {
    if (chunk.empty()) return;
    if (std::fwrite(chunk.data(), 1, chunk.size(), stream_) != chunk.size()) fail_with_cause("cannot write");
  }

  void rename_into_place() {
    if (std::fflush(stream_) != 0 || fsync(fileno(stream_)) != 0) fail_with_cause("cannot write");
    const int closed = std::fclose(stream_);
    stream_ = nullptr;
    if (closed != 0) fail_with_cause("cannot write");
    if (!path_.rename_to(target_)) fail_with_cause("cannot rename the finished file into place");
  }

 private:
  [[noreturn]] void fail_with_cause(const char* what) const {
    const int cause = errno;
    fail(target_.string(), ": ", what, " (", reason(cause), ")");
  }

  fs::path target_;
  TemporaryPath path_;
  std::FILE* stream_ = nullptr;
};

}  // namespace

void write_atomically(const std::filesystem::path& path, std::span<const ByteChunk> chunks) {
  require(path.has_filename(), "the output path must name a file, got \"", path.string(), "\"");
  TemporaryFile file(resolve_target(path));
  for (const ByteChunk& chunk : chunks) file.write(chunk);
  file.rename_into_place();
}

}  // namespace locus::io
