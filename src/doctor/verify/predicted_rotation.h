// SPDX-License-Identifier: Apache-2.0
// Predicts rotations in double, without or with one fault.
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

/// Numbers of the encoding that all predictions of one verification share, since most faults do not change them.
struct SharedNumbers {
  std::unordered_map<Position, RotationRow> query_rows, key_rows;  ///< by id, for one axis
  /// Transformer-XL's W_r R(distance), by head and distance.
  std::map<std::pair<std::int64_t, Position>, std::vector<double>> projected;
};

class PredictedRotation {
 public:
  /// The arguments must outlive this object.
  PredictedRotation(const Rotation& rotation, const FaultModel& model, SharedNumbers* shared = nullptr)
      : rotation_(rotation), model_(model), shared_(shared) {}

  /// A head of a token.
  struct Place {
    Role side = Role::query;
    std::int64_t token = 0;
    std::int64_t head = 0;
    std::int64_t heads = 0;
  };
  /// Rotates one head in place.
  void rotate_head(const AskedCall& call, const Place& place, std::span<double> head);

  /// Rotates token `token` of one side: [heads, head_dim].
  void rotate(const AskedCall& call, Role side, std::int64_t token, std::int64_t heads, std::span<const double> vectors,
              std::span<double> result);

 private:
  const RotationRow& row(const AskedCall& call, Role side, std::int64_t token);
  RotationRow made_row(const FaultModel& model, Role role, Role side, std::span<const Position> ids) const;
  const Rotation& rotation_for(const FaultModel& model, Role side) const;

  const Rotation& rotation_;
  const FaultModel& model_;
  SharedNumbers* shared_;
  // By side: rows of this model with its fault, and without it where its condition does not hold.
  std::unordered_map<Position, RotationRow> own_[2], right_[2];
  std::map<std::pair<int, std::vector<Position>>, RotationRow> of_axes_;
};

/// Returns the id that the model uses for one token on one axis.
inline Position id_under(const FaultModel& model, const AskedCall& call, Role side, std::int64_t token, int axis = 0) {
  const Position id = call.ids(side)[static_cast<std::size_t>(axis * call.tokens(side) + token)];
  return model.id ? model.id(call, side, token, axis, id) : id;
}
/// Returns the ids on all axes.
std::vector<Position> ids_under(const FaultModel& model, const AskedCall& call, Role side, std::int64_t token);

}  // namespace locus::doctor
