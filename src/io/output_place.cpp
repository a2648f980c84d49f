// SPDX-License-Identifier: Apache-2.0
#include "io/output_place.h"

#include <random>
#include <system_error>

#include "locus/error.h"

namespace locus::io {
namespace {

namespace fs = std::filesystem;

fs::path hidden_name() {
  std::random_device random;
  return ".locus-" + std::to_string(random()) + std::to_string(random()) + ".tmp";
}

}  // namespace

void require_other_file(const fs::path& input, const fs::path& output) {
  std::error_code error;
  require(!fs::exists(output, error) || !fs::equivalent(input, output, error), output.string(),
          ": the output must not be the input; to replace it say so (--in-place)");
}

void require_free_space(const fs::path& folder, std::uint64_t bytes) {
  std::error_code error;
  const fs::space_info space = fs::space(folder.empty() ? fs::path(".") : folder, error);
  if (error) return;  // writing will tell
  require(space.available >= bytes, folder.string(), ": not enough disk space, ", bytes, " bytes are needed and ",
          space.available, " are free");
}

StagingFolder::StagingFolder(const fs::path& target)
    : target_(target.has_filename() ? target : target.parent_path()), replaces_(fs::is_directory(target_)) {
  path_ = (replaces_ ? target_ : target_.parent_path()) / hidden_name();
  std::error_code error;
  require(fs::create_directory(path_, error), target_.string(), ": cannot create a temporary folder ",
          replaces_ ? "in it (" : "beside it (", error.message(), ")");
}

StagingFolder::~StagingFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

void StagingFolder::publish() {
  std::error_code error;
  if (!replaces_) {
    fs::rename(path_, target_, error);
    require(!error, target_.string(), ": cannot rename the finished folder into place (", error.message(), ")");
    return;
  }
  for (const auto& entry : fs::directory_iterator(path_)) {
    fs::rename(entry.path(), target_ / entry.path().filename(), error);
    require(!error, (target_ / entry.path().filename()).string(), ": cannot rename the finished file into place (",
            error.message(), ")");
  }
}

}  // namespace locus::io
