// SPDX-License-Identifier: Apache-2.0
#include "doctor/verify/predicted_rotation.h"

#include <algorithm>

#include "doctor/verify/index.h"
#include "locus/reference.h"

namespace locus::doctor {
namespace {

// One head, once. Where the order of the output differs from that of the input, the inverse reads the output's.
void turn(const Rotation& rotation, std::span<const double> cos, std::span<const double> sin, bool inverse,
          std::span<double> head) {
  const std::vector<double> in(head.begin(), head.end());
  const bool interleaved = rotation.pairing == Pairing::interleaved;
  for (std::int64_t i = 0; i < rotation.pairs(); ++i) {
    const std::int64_t start = rotation.rotary_offset;
    const std::int64_t near = start + i, far = start + rotation.pairs() + i, even = start + 2 * i, odd = even + 1;
    std::int64_t from_x = interleaved ? even : near, from_y = interleaved ? odd : far;
    std::int64_t to_x = rotation.deinterleaved_output ? near : from_x;
    std::int64_t to_y = rotation.deinterleaved_output ? far : from_y;
    double s = sin[at(i)];
    if (inverse) {
      std::swap(from_x, to_x);
      std::swap(from_y, to_y);
      s = -s;
    }
    head[at(to_x)] = in[at(from_x)] * cos[at(i)] - in[at(from_y)] * s;
    head[at(to_y)] = in[at(from_x)] * s + in[at(from_y)] * cos[at(i)];
  }
}

}  // namespace

std::vector<Position> ids_under(const FaultModel& model, const AskedCall& call, Role side, std::int64_t token) {
  std::vector<Position> ids;
  for (int axis = 0; axis < call.axes; ++axis) {
    const Position id = call.ids(side)[at(axis * call.tokens(side) + token)];
    ids.push_back(model.id ? model.id(call, side, token, axis, id) : id);
  }
  return ids;
}

const Rotation& PredictedRotation::rotation_for(const FaultModel& model, Role side) const {
  if (side == Role::key && model.key_rotation) return *model.key_rotation;
  return model.rotation ? *model.rotation : rotation_;
}

const PredictedRotation::Row& PredictedRotation::row(const FaultModel& model, const Rotation& rotation, Role role,
                                                     const std::vector<Position>& ids) {
  const auto [found, made] = rows_.try_emplace({(role == Role::key ? 1 : 0) + (&model == &model_ ? 2 : 0), ids});
  if (made) {
    Row& row = found->second;
    row.cos.resize(at(rotation.pairs()));
    row.sin.resize(at(rotation.pairs()));
    reference::rotation_row(rotation, role, ids, row.cos, row.sin);
    if (model.row) model.row(rotation, role, ids, row.cos, row.sin);
  }
  return found->second;
}

void PredictedRotation::rotate(const AskedCall& call, Role side, std::int64_t token, std::int64_t heads,
                               std::span<const double> vectors, std::span<double> result) {
  std::copy(vectors.begin(), vectors.end(), result.begin());
  const FaultModel& model = active(model_, call);
  const Rotation& rotation = rotation_for(model, side);
  const Role role = model.roles_exchanged ? (side == Role::query ? Role::key : Role::query) : side;
  const Row& numbers = row(model, rotation, role, ids_under(model, call, side, token));
  const bool inverse = side == Role::query ? model.query_inverse : model.key_inverse;
  for (std::int64_t head = 0; head < heads; ++head) {
    const int times = model.times ? model.times(call, side, token, head, heads) : 1;
    for (int i = 0; i < times; ++i) {
      turn(rotation, numbers.cos, numbers.sin, inverse,
           result.subspan(at(head * rotation.head_dim), at(rotation.head_dim)));
    }
  }
}

}  // namespace locus::doctor
