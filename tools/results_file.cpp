// SPDX-License-Identifier: Apache-2.0
#include "results_file.h"

#include <fstream>

#include "locus/error.h"

namespace locus::tools {

namespace fs = std::filesystem;

fs::path results_path(const fs::path& given) {
  require(!given.empty(), "the results must be a results.json or its folder, got an empty path");
  const fs::path file = fs::is_directory(given) ? given / "results.json" : given;
  require(fs::exists(file), file.string(), " does not exist; `locus lab` writes it");
  return file;
}

figures::Json read_json(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  require(stream.good(), path.string(), " cannot be read");
  figures::Json json = figures::Json::parse(stream, nullptr, false);
  require(!json.is_discarded(), path.string(), " is not JSON");
  return json;
}

}  // namespace locus::tools
