// SPDX-License-Identifier: Apache-2.0
// Results as files: results.json and results.csv.
#pragma once

#include <filesystem>
#include <string>

#include "results/results.h"

namespace locus::results {

/// Returns the results.json of a folder, or the file itself. Error: it does not exist.
std::filesystem::path results_path(const std::filesystem::path& given);

/// Reads a results.json, or the one in a folder. Error: the file is missing, is not JSON or violates the format.
Results read_file(const std::filesystem::path& path);

/// Formats `numbers` as a table: task,line,name,length,place,mean,low,high,seed_1,...; empty without numbers.
std::string to_csv(const Results& results);

/// Writes results.json and results.csv atomically.
void write_files(const std::filesystem::path& folder, const Results& results);

}  // namespace locus::results
