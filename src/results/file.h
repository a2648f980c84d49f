// SPDX-License-Identifier: Apache-2.0
// Results as files: results.json and results.csv.
#pragma once

#include <filesystem>
#include <string>

#include "results/results.h"

namespace locus::results {

/// A results.json, or the folder it is in. Error naming the file where it is missing, is not JSON or breaks the format.
Results read_file(const std::filesystem::path& path);

/// `numbers` as a table: task,line,name,length,place,mean,low,high,seed_1,...; empty where there is no number.
std::string to_csv(const Results& results);

/// Writes results.json and results.csv, each aside and then renamed.
void write_files(const std::filesystem::path& folder, const Results& results);

}  // namespace locus::results
