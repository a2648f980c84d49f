// SPDX-License-Identifier: Apache-2.0
// Rotations in double, right or with one fault.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>

#include "doctor/verify/fault_model.h"

namespace locus::doctor {

/// cos and sin of one token, and the factor of what is not rotated.
struct RotationRow {
  std::vector<double> cos, sin;
  double rest = 1;
};

/// What the encoding itself gives, kept for all predictions of one verification: most faults leave it as it is.
struct SharedNumbers {
  std::unordered_map<Position, RotationRow> query_rows, key_rows;  ///< by id; one axis
  /// Transformer-XL, by head and distance: W_r R(distance).
  std::map<std::pair<std::int64_t, Position>, std::vector<double>> projected;
};

class PredictedRotation {
 public:
  /// All must outlive it.
  PredictedRotation(const Rotation& rotation, const FaultModel& model, SharedNumbers* shared = nullptr)
      : rotation_(rotation), model_(model), shared_(shared) {}

  /// Which head of which token is meant.
  struct Place {
    Role side = Role::query;
    std::int64_t token = 0;
    std::int64_t head = 0;
    std::int64_t heads = 0;
  };
  /// One head, in place.
  void rotate_head(const AskedCall& call, const Place& place, std::span<double> head);

  /// Token `token` of one side: [heads, head_dim] as they come out.
  void rotate(const AskedCall& call, Role side, std::int64_t token, std::int64_t heads, std::span<const double> vectors,
              std::span<double> result);

 private:
  const RotationRow& row(const AskedCall& call, Role side, std::int64_t token);
  RotationRow made_row(const FaultModel& model, Role role, Role side, std::span<const Position> ids) const;
  const Rotation& rotation_for(const FaultModel& model, Role side) const;

  const Rotation& rotation_;
  const FaultModel& model_;
  SharedNumbers* shared_;
  // Of this model alone, by side: where the fault is in it, and where a condition keeps it out.
  std::unordered_map<Position, RotationRow> own_[2], right_[2];
  std::map<std::pair<int, std::vector<Position>>, RotationRow> of_axes_;
};

/// The id that the model uses for one token on one axis.
inline Position id_under(const FaultModel& model, const AskedCall& call, Role side, std::int64_t token, int axis = 0) {
  const Position id = call.ids(side)[static_cast<std::size_t>(axis * call.tokens(side) + token)];
  return model.id ? model.id(call, side, token, axis, id) : id;
}
/// On all axes.
std::vector<Position> ids_under(const FaultModel& model, const AskedCall& call, Role side, std::int64_t token);

}  // namespace locus::doctor
