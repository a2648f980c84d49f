// SPDX-License-Identifier: Apache-2.0
// Merges checks that are repeated over shapes into one each: the worst.
#pragma once

#include <string>
#include <vector>

#include "locus/doctor/check.h"

namespace locus::doctor {

class WorstChecks {
 public:
  explicit WorstChecks(std::string scheme) : scheme_(std::move(scheme)) {}

  void at_most(const std::string& name, double value, double bound, std::string note = {});
  void at_least(const std::string& name, double value, double bound, std::string note = {});

  const std::vector<Check>& checks() const { return checks_; }

 private:
  void keep(Check check, double share);

  std::string scheme_;
  std::vector<Check> checks_;
  std::vector<double> shares_;  // value over bound of each check; above 1 it failed
};

}  // namespace locus::doctor
