// SPDX-License-Identifier: Apache-2.0
// Rotations in double, right or with one fault.
#pragma once

#include <map>

#include "doctor/verify/fault_model.h"

namespace locus::doctor {

class PredictedRotation {
 public:
  /// Both must outlive it.
  PredictedRotation(const Rotation& rotation, const FaultModel& model) : rotation_(rotation), model_(model) {}

  /// Token `token` of one side: [heads, head_dim] as they come out.
  void rotate(const AskedCall& call, Role side, std::int64_t token, std::int64_t heads, std::span<const double> vectors,
              std::span<double> result);

 private:
  struct Row {
    std::vector<double> cos, sin;
  };
  const Row& row(const FaultModel& model, const Rotation& rotation, Role role, const std::vector<Position>& ids);
  const Rotation& rotation_for(const FaultModel& model, Role side) const;

  const Rotation& rotation_;
  const FaultModel& model_;
  // By side and by whether the fault is in it.
  std::map<std::pair<int, std::vector<Position>>, Row> rows_;
};

/// The ids that the model uses for one token.
std::vector<Position> ids_under(const FaultModel& model, const AskedCall& call, Role side, std::int64_t token);

}  // namespace locus::doctor
