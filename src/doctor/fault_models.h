// SPDX-License-Identifier: Apache-2.0
// Faults made definite: how each changes the ids, the rotation or the direction, precisely enough to predict numbers. A
// fault is named when its prediction is what was seen.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "locus/encoding.h"
#include "locus/rotate.h"

namespace locus::doctor {

/// The ids of one call; keys only in attention.
struct CallIds {
  std::span<const Position> query;
  std::span<const Position> key;
  bool packed = false;
  bool padded = false;
};

struct FaultModel {
  std::string_view fault;  ///< an id of the catalogue, doctor/faults.h; empty: nothing is wrong
  /// Changes the ids of query `index` and of the keys that it meets.
  std::function<void(const CallIds& call, std::int64_t index, Position& query, std::vector<Position>& keys)> ids = {};
  std::optional<Rotation> rotation = {};  ///< used instead of the encoding's
  Direction direction = Direction::forward;
  bool roles_exchanged = false;
  bool float32_angles = false;  ///< angles may be off by what float32 makes of them
};

/// What may be wrong with an implementation of `encoding`, the likeliest first.
std::vector<FaultModel> fault_models_for(const Encoding& encoding);

/// How far an angle may be off at this position, in radians per radian per position: float32 rounds the frequency, by
/// up to two units, and the product.
inline constexpr double float32_angle_error = 4 * 0x1p-24;

/// The name of the fault behind failed case `failed` of `cases`: the first model that matches all that was seen, else the
/// first that matches this case, else that none does.
std::string likely_cause(const std::vector<FaultModel>& models, std::size_t cases, std::size_t failed,
                         const std::function<bool(const FaultModel&, std::size_t)>& matches);

}  // namespace locus::doctor
