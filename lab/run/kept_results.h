// SPDX-License-Identifier: Apache-2.0
// Keeps results of trials on disk while the store is unreachable. A later worker in the same folder delivers them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "run/store.h"

namespace locus::lab {

struct TrialResult {
  StoredTrial trial;  ///< with its fencing number
  double seconds = 0;
  std::vector<Measurement> measured;
};

class KeptResults {
 public:
  /// Creates the folder with the first result. `store` is the id of the store that results belong to.
  KeptResults(std::filesystem::path folder, std::string store) : folder_(std::move(folder)), store_(std::move(store)) {}

  /// Writes the result atomically and returns the file. Error: it cannot be written.
  std::filesystem::path keep(const TrialResult& result) const;
  void remove(const TrialResult& result) const;
  /// Delivers the results kept for this store. Calls `say` for each, and for each unreadable file, which stays.
  void deliver(Store& store, const std::function<void(const std::string&)>& say) const;

 private:
  std::filesystem::path file_of(const StoredTrial& trial) const;

  std::filesystem::path folder_;
  std::string store_;
};

}  // namespace locus::lab
