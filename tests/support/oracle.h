// SPDX-License-Identifier: Apache-2.0
// Reads the reference vectors of other projects.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "locus/io/npy.h"

namespace locus::testing {

using Json = nlohmann::json;

/// The folder of reference vectors: the one next to the checkout, else the copy unpacked from tests/golden/oracle.
std::filesystem::path oracle_folder();
/// Only the copy.
std::filesystem::path unpacked_oracle_folder();

/// One case: its description and its arrays.
class OracleCase {
 public:
  OracleCase(const std::string& folder, const std::string& name);
  const Json& json() const { return json_; }
  const std::string& name() const { return name_; }
  bool has(const std::string& array) const;
  io::NpyArray array(const std::string& array) const;
  std::vector<double> doubles(const std::string& array) const;
  std::vector<float> floats(const std::string& array) const;
  std::vector<std::int64_t> integers(const std::string& array) const;
  std::vector<std::int64_t> shape(const std::string& array) const;

 private:
  std::filesystem::path folder_;
  std::string name_;
  Json json_;
};

/// Case names of a folder's index.json.
std::vector<std::string> oracle_cases(const std::string& folder);
/// A JSON file of the oracle that is not a case.
Json oracle_json(const std::string& path);

}  // namespace locus::testing
