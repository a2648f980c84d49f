// SPDX-License-Identifier: Apache-2.0
// What a faulty implementation might be doing, said precisely enough to predict its numbers. A fault is named when its
// prediction is what was seen.
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

namespace fault {
inline constexpr std::string_view wrong_pairing = "wrong pairing";
inline constexpr std::string_view inverse_rotation = "inverse rotation";
inline constexpr std::string_view magnitude_missing = "magnitude missing";
inline constexpr std::string_view roles_exchanged = "query and key scales exchanged";
inline constexpr std::string_view no_positions = "positions not applied";
inline constexpr std::string_view ids_ignored = "ids ignored";
inline constexpr std::string_view packed_ids_not_reset = "packed ids not reset";
inline constexpr std::string_view padding_counted = "padding counted as positions";
inline constexpr std::string_view off_by_one_in_decode = "off by one in decode";
inline constexpr std::string_view off_by_one = "off by one";
inline constexpr std::string_view bias_from_the_wrong_end = "bias counted from the wrong end";
inline constexpr std::string_view float32_angles = "angles in float32";
}  // namespace fault

/// The ids of one call; keys only in attention.
struct CallIds {
  std::span<const Position> query;
  std::span<const Position> key;
  bool packed = false;
  bool padded = false;
};

struct Assumption {
  std::string_view cause;
  /// Changes the ids of query `index` and of the keys that it meets.
  std::function<void(const CallIds& call, std::int64_t index, Position& query, std::vector<Position>& keys)> ids = {};
  std::optional<Rotation> rotation = {};  ///< used instead of the encoding's
  Direction direction = Direction::forward;
  bool roles_exchanged = false;
  bool float32_angles = false;  ///< angles may be off by what float32 makes of them
};

/// What may be wrong with an implementation of `encoding`, the likeliest first.
std::vector<Assumption> assumptions_for(const Encoding& encoding);

/// How far an angle may be off at this position, in radians per radian per position: float32 rounds the frequency, by
/// up to two units, and the product.
inline constexpr double float32_angle_error = 4 * 0x1p-24;

/// The cause to name for failed case `failed` of `cases`: the first assumption that matches all that was seen, else the
/// first that matches this case, else that none does.
std::string likely_cause(const std::vector<Assumption>& assumptions, std::size_t cases, std::size_t failed,
                         const std::function<bool(const Assumption&, std::size_t)>& matches);

}  // namespace locus::doctor
