// SPDX-License-Identifier: Apache-2.0
// A fault model: what a fault changes in a call, precisely enough to predict the result. A fault is named if its
// prediction equals the observed result.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "locus/encoding.h"
#include "locus/rotate.h"

namespace locus::doctor {

/// A call as requested. A rotate call has the same ids on both sides.
struct AskedCall {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  int axes = 1;  ///< ids are [axes, queries] and [axes, keys]
  std::span<const Position> query_ids, key_ids;
  std::span<const std::int64_t> query_boundaries, key_boundaries;
  std::span<const std::uint8_t> key_mask;
  std::int64_t cached = 0;  ///< keys from earlier calls
  bool forked = false;      ///< some of them come from a parent sequence
  std::int64_t shared = 0;  ///< number of keys shared with the parent
  /// Per key: 1 if the other branch of a fork wrote it last. Empty: none.
  std::span<const std::uint8_t> overwritten;
  bool attention = false;  ///< true for attend, false for rotate
  bool causal = true;
  std::int64_t window = 0;

  std::span<const Position> ids(Role side) const { return side == Role::query ? query_ids : key_ids; }
  std::int64_t tokens(Role side) const { return side == Role::query ? queries : keys; }
  /// Returns the number of tokens of the sequence before the first of this side.
  std::int64_t before(Role side) const { return side == Role::query || !attention ? first : 0; }
  std::int64_t first = 0;
  bool one_token() const { return queries == 1; }
};

/// Returns the index of the packed document that contains `token`.
std::int64_t document_of(std::span<const std::int64_t> boundaries, std::int64_t token);

/// True if query i sees key j according to AttendRequest.
bool visible(const AskedCall& call, std::int64_t query, std::int64_t key);

/// Returns the id of the window of `max_id` places that is nearest to `id`: a fault may move ids out of the window, where its
/// table has no value. Without a window, returns `id`.
inline Position inside_window(std::optional<std::int64_t> max_id, Position id) {
  return max_id ? std::clamp<Position>(id, 0, *max_id - 1) : id;
}

/// The calls in which a fault appears: one code path is wrong, the others are right.
struct Condition {
  std::string_view text;
  bool (*holds)(const AskedCall& call);
};
/// The first condition always holds.
std::span<const Condition> conditions();

/// Every function is optional. A model without any has no fault.
struct FaultModel {
  std::string_view fault = {};      ///< an id of the catalogue, doctor/faults.h
  std::string detail = {};          ///< appended to its name: "at 32768"
  const Condition* when = nullptr;  ///< absent: all calls

  // Rotation.
  /// Returns the id used for `token` of one side on one axis.
  std::function<Position(const AskedCall& call, Role side, std::int64_t token, int axis, Position id)> id = {};
  std::shared_ptr<const Rotation> rotation = {}, key_rotation = {};  ///< used instead of the encoding's
  bool query_inverse = false, key_inverse = false;
  bool roles_exchanged = false;
  /// Changes the row of cos and sin of one token.
  std::function<void(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<double> cos,
                     std::span<double> sin)>
      row = {};
  /// Returns how often a head is rotated; 1 without a fault.
  std::function<int(const AskedCall& call, Role side, std::int64_t token, std::int64_t head, std::int64_t heads)>
      times = {};
  /// Rotates a pair; replaces x c - y s, x s + y c.
  using PairFunction = std::function<void(double c, double s, double& x, double& y)>;
  PairFunction pair = {};
  bool values_rotated = false;
  bool float32_angles = false;  ///< allows the error of float32 angles

  // Attention.
  std::function<bool(const AskedCall& call, std::int64_t query, std::int64_t key, bool visible)> sees = {};
  /// Returns the slot from which key or value `key` is read; -1: zeros.
  std::function<std::int64_t(const AskedCall&call, std::int64_t key)> key_slot = {}, value_slot = {};
  std::int64_t shared_page = 0;  ///< not 0: branches of a fork write into each other's pages of this size
  std::function<std::int64_t(std::int64_t head, std::int64_t heads, std::int64_t key_heads)> key_head = {},
                                                                                             value_head = {};
  /// Returns the number added to the score; replaces the encoding's.
  std::function<double(std::int64_t head, Position query, Position key)> bias = {};
  std::shared_ptr<const RelativeKeys> relative = {};
  double scale = 1;  ///< multiplies the softmax scale
  /// Changes the score of a visible key.
  std::function<double(const AskedCall& call, std::int64_t query, std::int64_t key, double score)> rescore = {};
  std::int64_t lost_coordinates = 0;       ///< number of last coordinates missing from the score
  std::optional<ElementType> stored = {};  ///< rotated keys are rounded to this type
  /// Returns the weights of the visible keys from their scores. `keys` are their indices in the call.
  std::function<std::vector<double>(const AskedCall& call, std::span<const double> scores,
                                    std::span<const std::int64_t> keys)>
      weights = {};
};

/// Returns the model if its condition holds for the call, otherwise a model without a fault.
const FaultModel& active(const FaultModel& model, const AskedCall& call);

using Models = std::vector<FaultModel>;

/// Returns the faults that an implementation of `encoding` may have, most likely first.
Models fault_models(const Encoding& encoding, bool attention);

// The parts of that list.
Models id_faults(const Encoding& encoding);
Models rotation_faults(const Encoding& encoding, bool attention);
Models declared_faults(const Encoding& encoding, bool attention);
Models precision_faults();
Models score_faults(const Encoding& encoding);
Models mask_faults(const Encoding& encoding);
Models window_faults();
Models cache_faults();
Models softmax_faults(const Encoding& encoding);
Models head_faults();

// Shared by several of these lists.
inline constexpr std::int64_t page_sizes[] = {4, 8, 16, 32, 64, 128, 256, 512};
std::string of_tokens(std::int64_t count);  ///< "of 16 tokens"
/// Returns the index of a query among the keys, if the last query is the last key.
inline std::int64_t place_of(const AskedCall& call, std::int64_t query) { return query + call.keys - call.queries; }

/// Rounds to nearest, ties to even.
double rounded_to(ElementType type, double value);

}  // namespace locus::doctor
