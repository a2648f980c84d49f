// SPDX-License-Identifier: Apache-2.0
// The results of a run as one object (docs/results-format.md), made of the store and of nothing else.
#pragma once

#include <cstdint>
#include <filesystem>

#include "run/json.h"
#include "run/store.h"

namespace locus::lab {

Json make_results(Store& store, std::int64_t run);

/// `numbers` as a table: task,line,name,length,place,mean,low,high,seed_1,...; empty where there is no number.
std::string results_csv(const Json& results);

/// results.json and results.csv, each written aside and renamed.
void write_results(const std::filesystem::path& folder, const Json& results);

}  // namespace locus::lab
