// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/predicted_rotation.h"

#include <algorithm>

#include "doctor/verify/index.h"
#include "locus/reference.h"

namespace locus::doctor {
namespace {

// Rotates one head once. If output and input are in different order, the inverse reads the output order.
void turn(const Rotation& rotation, const RotationRow& row, bool inverse, const FaultModel::PairFunction& pair,
          std::span<double> head) {
  const std::vector<double> in(head.begin(), head.end());
  for (double& value : head) value *= row.rest;
  const bool interleaved = rotation.pairing == Pairing::interleaved;
  for (std::int64_t i = 0; i < rotation.pairs(); ++i) {
    const std::int64_t start = rotation.rotary_offset;
    const std::int64_t near = start + i, far = start + rotation.pairs() + i, even = start + 2 * i, odd = even + 1;
    std::int64_t from_x = interleaved ? even : near, from_y = interleaved ? odd : far;
    std::int64_t to_x = rotation.deinterleaved_output ? near : from_x;
    std::int64_t to_y = rotation.deinterleaved_output ? far : from_y;
    const double c = row.cos[at(i)];
    double s = row.sin[at(i)];
    if (inverse) {
      std::swap(from_x, to_x);
      std::swap(from_y, to_y);
      s = -s;
    }
    double x = in[at(from_x)], y = in[at(from_y)];
    if (pair) {
      pair(c, s, x, y);
      head[at(to_x)] = x;
      head[at(to_y)] = y;
      continue;
    }
    head[at(to_x)] = x * c - y * s;
    head[at(to_y)] = x * s + y * c;
  }
}

}  // namespace

std::vector<Position> ids_under(const FaultModel& model, const AskedCall& call, Role side, std::int64_t token) {
  std::vector<Position> ids;
  for (int axis = 0; axis < call.axes; ++axis) ids.push_back(id_under(model, call, side, token, axis));
  return ids;
}

const Rotation& PredictedRotation::rotation_for(const FaultModel& model, Role side) const {
  if (side == Role::key && model.key_rotation) return *model.key_rotation;
  return model.rotation ? *model.rotation : rotation_;
}

RotationRow PredictedRotation::made_row(const FaultModel& model, Role role, Role side,
                                        std::span<const Position> ids) const {
  const Rotation& rotation = rotation_for(model, side);
  RotationRow row;
  row.cos.resize(at(rotation.pairs()));
  row.sin.resize(at(rotation.pairs()));
  reference::rotation_row(rotation, role, ids, row.cos, row.sin);
  row.rest = reference::query_factor(rotation, role, ids[0]);
  if (model.row) model.row(rotation, role, ids, row.cos, row.sin);
  return row;
}

const RotationRow& PredictedRotation::row(const AskedCall& call, Role side, std::int64_t token) {
  const FaultModel& model = active(model_, call);
  const Role role = model.roles_exchanged ? (side == Role::query ? Role::key : Role::query) : side;
  const int faulty = &model == &model_ ? 1 : 0;
  if (call.axes > 1) {
    const std::vector<Position> ids = ids_under(model, call, side, token);
    const std::pair key{(side == Role::key ? 1 : 0) + 2 * faulty, ids};
    const auto found = of_axes_.find(key);
    return found != of_axes_.end() ? found->second
                                   : of_axes_.emplace(key, made_row(model, role, side, ids)).first->second;
  }
  const Position id = id_under(model, call, side, token);
  const bool unchanged = shared_ != nullptr && !model.row && &rotation_for(model, side) == &rotation_;
  auto& rows = unchanged ? (role == Role::query ? shared_->query_rows : shared_->key_rows)
                         : (faulty != 0 ? own_ : right_)[side == Role::key ? 1 : 0];
  const auto found = rows.find(id);
  if (found != rows.end()) return found->second;
  const Position ids[] = {id};
  return rows.emplace(id, made_row(model, role, side, ids)).first->second;
}

void PredictedRotation::rotate_head(const AskedCall& call, const Place& place, std::span<double> head) {
  const FaultModel& model = active(model_, call);
  const Rotation& rotation = rotation_for(model, place.side);
  RotationRow by_head;
  const RotationRow& of_token = row(call, place.side, place.token);
  if (rotation.mix) {
    by_head = of_token;
    const std::int64_t group = std::max<std::int64_t>(place.heads / rotation.mix->heads, 1);
    const std::int64_t key_head = std::min(place.head / group, rotation.mix->heads - 1);
    reference::mix_row(rotation, key_head, by_head.cos, by_head.sin);
  }
  const RotationRow& numbers = rotation.mix ? by_head : of_token;
  const bool inverse = place.side == Role::query ? model.query_inverse : model.key_inverse;
  const int times = model.times ? model.times(call, place.side, place.token, place.head, place.heads) : 1;
  for (int i = 0; i < times; ++i) turn(rotation, numbers, inverse, model.pair, head);
}

void PredictedRotation::rotate(const AskedCall& call, Role side, std::int64_t token, std::int64_t heads,
                               std::span<const double> vectors, std::span<double> result) {
  std::copy(vectors.begin(), vectors.end(), result.begin());
  for (std::int64_t head = 0; head < heads; ++head) {
    rotate_head(call, {side, token, head, heads},
                result.subspan(at(head * rotation_.head_dim), at(rotation_.head_dim)));
  }
}

}  // namespace locus::doctor
