// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the `locus` command: running it, and arrays in and out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "locus/io/npy.h"
#include "support/command.h"

namespace locus::testing {

using Json = nlohmann::json;

/// The words of a command line, separated by single spaces; '' is an empty word.
inline std::vector<std::string> words(const std::string& line) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t end = std::min(line.find(' ', at), line.size());
    const std::string word = line.substr(at, end - at);
    result.push_back(word == "''" ? "" : word);
    at = end + 1;
  }
  return result;
}

inline CommandResult run_locus(const TemporaryFolder& folder, const std::vector<std::string>& arguments) {
  return run_command(LOCUS_COMMAND, arguments, folder.path());
}
inline CommandResult run_locus(const TemporaryFolder& folder, const std::string& line) {
  return run_locus(folder, words(line));
}

/// Standard output of a command that must succeed.
inline std::string output_of(const TemporaryFolder& folder, const std::string& line) {
  const CommandResult result = run_locus(folder, line);
  EXPECT_EQ(result.exit_code, 0) << "locus " << line << "\n" << result.err;
  return result.out;
}

/// The JSON object that a command prints; the command must succeed and print nothing else.
inline Json json_of(const TemporaryFolder& folder, const std::string& line) {
  const CommandResult result = run_locus(folder, line + " --json");
  EXPECT_EQ(result.exit_code, 0) << "locus " << line << "\n" << result.err;
  EXPECT_EQ(result.err, "") << line;
  const Json json = Json::parse(result.out, nullptr, false);
  EXPECT_TRUE(json.is_object()) << line << "\n" << result.out.substr(0, 200);
  return json;
}

template <class T>
void write_array(const TemporaryFolder& folder, const std::string& name, const std::vector<std::int64_t>& shape,
                 const std::vector<T>& values) {
  io::write_npy<T>(folder / name, shape, values);
}

/// An array that must have this type and shape, as doubles.
inline std::vector<double> read_array(const TemporaryFolder& folder, const std::string& name, io::NpyType type,
                                      const std::vector<std::int64_t>& shape) {
  const io::NpyArray array = io::read_npy(folder / name);
  EXPECT_EQ(array.type, type) << name;
  EXPECT_EQ(array.shape, shape) << name;
  return io::to_doubles(array, name);
}

inline void expect_near(const std::vector<double>& got, const std::vector<double>& wanted, double tolerance,
                        const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], wanted[i], tolerance) << what << " at " << i;
}

}  // namespace locus::testing
