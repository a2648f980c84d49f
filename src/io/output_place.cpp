// SPDX-License-Identifier: Apache-2.0
#include "io/output_place.h"

#include <cerrno>
#include <system_error>

#include "locus/error.h"

namespace locus::io {

namespace fs = std::filesystem;

void require_other_file(const fs::path& input, const fs::path& output) {
  std::error_code error;
  require(!fs::exists(output, error) || !fs::equivalent(input, output, error), output.string(),
          ": the output must not be the input; to replace it, use --in-place");
}

void require_free_space(const fs::path& folder, std::uint64_t bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder.empty() ? fs::path(".") : folder, error);
  if (error) return;  // the write will report it
  require(space.available >= bytes, folder.string(), ": not enough disk space, ", bytes, " bytes are needed and ",
          space.available, " are free");
}

StagingFolder::StagingFolder(const fs::path& target)
    : target_(target.has_filename() ? target : target.parent_path()),
      replaces_(fs::is_directory(target_)),
      path_(replaces_ ? target_ : target_.parent_path()) {
  std::error_code error;
  if (fs::create_directory(path_.path(), error)) return;
  path_.release();
  fail(target_.string(), ": cannot create a temporary folder ", replaces_ ? "in it (" : "next to it (", error.message(),
       ")");
}

void StagingFolder::publish() {
  std::error_code error;
  if (!replaces_) {
    if (!path_.rename_to(target_)) error = {errno, std::generic_category()};
    require(!error, target_.string(), ": cannot rename the finished folder into place (", error.message(), ")");
    return;
  }
  for (const auto& entry : fs::directory_iterator(path_.path())) {
    fs::rename(entry.path(), target_ / entry.path().filename(), error);
    require(!error, (target_ / entry.path().filename()).string(), ": cannot rename the finished file into place (",
            error.message(), ")");
  }
}

}  // namespace locus::io
