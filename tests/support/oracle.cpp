// SPDX-License-Identifier: Apache-2.0
#include "support/oracle.h"

#include <fstream>

#include "support/paths.h"

namespace locus::testing {
namespace {

Json read_json(const std::filesystem::path& path) {
  std::ifstream stream(path);
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  return Json::parse(stream);
}

}  // namespace

std::filesystem::path unpacked_oracle_folder() { return binary_dir() / "oracle"; }

std::filesystem::path oracle_folder() {
  const std::filesystem::path beside = source_dir() / ".." / "shared" / "oracle";
  return std::filesystem::is_directory(beside) ? beside : unpacked_oracle_folder();
}

OracleCase::OracleCase(const std::string& folder, const std::string& name)
    : folder_(oracle_folder() / folder), name_(name), json_(read_json(folder_ / (name + ".json"))) {}

bool OracleCase::has(const std::string& array) const {
  return json_.contains("files") && json_["files"].contains(array);
}

io::NpyArray OracleCase::array(const std::string& array) const {
  return io::read_npy(folder_ / json_.at("files").at(array).get<std::string>());
}

std::vector<double> OracleCase::doubles(const std::string& name) const { return io::to_doubles(array(name), name); }
std::vector<float> OracleCase::floats(const std::string& name) const { return io::to_floats(array(name), name); }
std::vector<std::int64_t> OracleCase::integers(const std::string& name) const {
  return io::to_integers(array(name), name);
}
std::vector<std::int64_t> OracleCase::shape(const std::string& name) const { return array(name).shape; }

std::vector<std::string> oracle_cases(const std::string& folder) {
  return read_json(oracle_folder() / folder / "index.json").get<std::vector<std::string>>();
}

std::vector<Json> unpacked_models() {
  const std::filesystem::path folder = unpacked_oracle_folder() / "models";
  std::vector<Json> models;
  for (const Json& name : read_json(folder / "index.json")) {
    models.push_back(read_json(folder / (name.get<std::string>() + ".json")));
  }
  return models;
}

Json oracle_json(const std::string& path) { return read_json(oracle_folder() / path); }

}  // namespace locus::testing
