// SPDX-License-Identifier: Apache-2.0
#include "locus/io/hf_folder.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "locus/error.h"

namespace locus::io {
namespace {

namespace fs = std::filesystem;

std::optional<fs::path> file_in(const fs::path& folder, const char* name) {
  std::error_code error;  // a file that cannot be examined counts as absent
  const fs::path path = folder / name;
  return fs::is_regular_file(path, error) ? std::optional(path) : std::nullopt;
}

/// Returns a few names in the folder with this ending, sorted, for a message.
std::string some_ending_in(const fs::path& folder, std::string_view ending) {
  std::error_code error;
  std::vector<std::string> names;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::string name = entry->path().filename().string();
    if (name.ends_with(ending)) names.push_back(std::move(name));
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 3); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > 3 ? text + ", ..." : text;
}

}  // namespace

HfFolder find_hf_folder(const std::filesystem::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  require(fs::exists(status), folder.string(), ": cannot read (", error.message(), ")");
  require(fs::is_directory(status), folder.string(), ": must be a model folder, got a file");
  const auto config = file_in(folder, "config.json");
  if (!config) {
    const std::string gguf = some_ending_in(folder, ".gguf");
    require(gguf.empty(), folder.string(), ": a model folder must have config.json; give the GGUF file itself (", gguf,
            ")");
    fail(folder.string(), ": a model folder must have config.json");
  }
  HfFolder found{folder, *config, file_in(folder, "model.safetensors"), file_in(folder, "tokenizer.json")};
  if (!found.weights) found.weights = file_in(folder, "model.safetensors.index.json");
  return found;
}

const std::filesystem::path& HfFolder::require_weights() const {
  if (weights) return *weights;
  const std::string shards = some_ending_in(folder, ".safetensors");
  require(shards.empty(), folder.string(), ": has ", shards,
          ", but neither model.safetensors nor model.safetensors.index.json");
  const std::string pickles = some_ending_in(folder, ".bin");
  require(pickles.empty(), folder.string(), ": has no safetensors; ", pickles,
          " may be a Python pickle, which is not supported; save the model with safe_serialization=True");
  fail(folder.string(), ": has no weights (model.safetensors or model.safetensors.index.json)");
}

const std::filesystem::path& HfFolder::require_tokenizer() const {
  require(tokenizer.has_value(), folder.string(), ": has no tokenizer.json");
  return *tokenizer;
}

SafetensorsModel HfFolder::read_weights() const { return read_safetensors_model(require_weights()); }

}  // namespace locus::io
