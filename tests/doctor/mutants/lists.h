// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "doctor/mutants/mutants.h"

namespace mutants {

/// Collects planted faults.
struct List {
  std::vector<Subject> all;

  void rotate(const std::string& site, const std::string& name, const Pair& pair, const Rope& rope,
              const std::vector<std::string>& faults) {
    add(site, "rotate: " + name, pair, faults,
        [encoding = pair.encoding, rope] { return locus::verify_rotate(encoding, rope); });
  }
  template <class Function>
  void attend(const std::string& site, const std::string& name, const Pair& pair, const Function& plain,
              const std::vector<std::string>& faults, const locus::VerifyOptions& options = {}) {
    add(site, "attend: " + name, pair, faults,
        [encoding = pair.encoding, plain, options] { return locus::verify_attend(encoding, plain, options); });
  }
  void add(const std::string& site, const std::string& name, const Pair& pair, const std::vector<std::string>& faults,
           std::function<std::vector<locus::Check>()> verify) {
    all.push_back({site, name + " [" + pair.name + "]", pair.encoding, std::move(verify), faults});
  }
};

void plant_in_rotations(List& list);
void plant_in_attention(List& list);
void plant_in_scores(List& list);
void plant_odd_ones(List& list);
void plant_odd_ones_in_scores(List& list);

void odd_right_ones(List& list);

}  // namespace mutants
