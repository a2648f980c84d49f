// SPDX-License-Identifier: Apache-2.0
// Results of trials on disk while the store cannot take them. A later worker of the same folder delivers what its
// predecessor could not.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "run/store.h"

namespace locus::lab {

struct TrialResult {
  StoredTrial trial;  ///< with the number of its lease
  double seconds = 0;
  std::vector<Measurement> measured;
};

class KeptResults {
 public:
  /// The folder is created when something is kept. `store` is the id of the store that results belong to.
  KeptResults(std::filesystem::path folder, std::string store) : folder_(std::move(folder)), store_(std::move(store)) {}

  /// Writes the result, atomically; returns the file. Error if it cannot be written.
  std::filesystem::path keep(const TrialResult& result) const;
  void remove(const TrialResult& result) const;
  /// Hands what is kept for this store over to it. `say` gets a line for each, and for each file that cannot be read,
  /// which stays.
  void deliver(Store& store, const std::function<void(const std::string&)>& say) const;

 private:
  std::filesystem::path file_of(const StoredTrial& trial) const;

  std::filesystem::path folder_;
  std::string store_;
};

}  // namespace locus::lab
