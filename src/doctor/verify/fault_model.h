// SPDX-License-Identifier: Apache-2.0
// A fault made definite: what it changes in a call, precisely enough to predict the numbers that come back. A fault is
// named when its prediction is what was seen.
#pragma once

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

/// What a call asks. A call of rotate has the same ids on both sides.
struct AskedCall {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  int axes = 1;  ///< ids are [axes, queries] and [axes, keys]
  std::span<const Position> query_ids, key_ids;
  std::span<const std::int64_t> query_boundaries, key_boundaries;
  std::span<const std::uint8_t> key_mask;
  std::int64_t cached = 0;  ///< keys that earlier calls brought
  bool forked = false;      ///< some of them through a parent
  std::int64_t shared = 0;  ///< so many
  /// Keys that the other branch of a fork wrote last, 1 each; empty: none.
  std::span<const std::uint8_t> overwritten;
  bool attention = false;  ///< a call of attend, not of rotate
  bool causal = true;
  std::int64_t window = 0;

  std::span<const Position> ids(Role side) const { return side == Role::query ? query_ids : key_ids; }
  std::int64_t tokens(Role side) const { return side == Role::query ? queries : keys; }
  /// How many tokens of the sequence come before the first of this side.
  std::int64_t before(Role side) const { return side == Role::query || !attention ? first : 0; }
  std::int64_t first = 0;
  bool one_token() const { return queries == 1; }
};

/// The number of the packed document that holds `token`.
std::int64_t document_of(std::span<const std::int64_t> boundaries, std::int64_t token);

/// Whether query i sees key j by the contract of AttendRequest.
bool visible(const AskedCall& call, std::int64_t query, std::int64_t key);

/// The calls in which a fault shows: one path of the code is wrong, the others are right.
struct Condition {
  std::string_view text;
  bool (*holds)(const AskedCall& call);
};
/// The first one holds always.
std::span<const Condition> conditions();

/// Every hook is optional: without any of them nothing is wrong.
struct FaultModel {
  std::string_view fault = {};      ///< an id of the catalogue, doctor/faults.h
  std::string detail = {};          ///< appended to its name: "at 32768"
  const Condition* when = nullptr;  ///< absent: in all calls

  // Rotation.
  /// The id that is used for `token` of one side, on one axis.
  std::function<Position(const AskedCall& call, Role side, std::int64_t token, int axis, Position id)> id = {};
  std::shared_ptr<const Rotation> rotation = {}, key_rotation = {};  ///< used instead of the encoding's
  bool query_inverse = false, key_inverse = false;
  bool roles_exchanged = false;
  /// Changes the row of cos and sin of one token.
  std::function<void(const Rotation& rotation, Role role, std::span<const Position> ids, std::span<double> cos,
                     std::span<double> sin)>
      row = {};
  /// How often a head is rotated; 1 where nothing is wrong.
  std::function<int(const AskedCall& call, Role side, std::int64_t token, std::int64_t head, std::int64_t heads)>
      times = {};
  /// How a pair is turned; in the place of x c - y s, x s + y c.
  using PairFunction = std::function<void(double c, double s, double& x, double& y)>;
  PairFunction pair = {};
  bool values_rotated = false;
  bool float32_angles = false;  ///< angles may be off by what float32 makes of them

  // Attention.
  std::function<bool(const AskedCall& call, std::int64_t query, std::int64_t key, bool visible)> sees = {};
  /// Where key or value `key` is read from; -1: zeros.
  std::function<std::int64_t(const AskedCall&call, std::int64_t key)> key_slot = {}, value_slot = {};
  std::int64_t shared_page = 0;  ///< unless 0: branches of a fork write into each other's page of so many tokens
  std::function<std::int64_t(std::int64_t head, std::int64_t heads, std::int64_t key_heads)> key_head = {},
                                                                                             value_head = {};
  /// The number added to the score, in the place of the encoding's.
  std::function<double(std::int64_t head, Position query, Position key)> bias = {};
  std::shared_ptr<const RelativeKeys> relative = {};
  double scale = 1;  ///< times the softmax scale
  /// Changes the score of a key that is seen.
  std::function<double(const AskedCall& call, std::int64_t query, std::int64_t key, double score)> rescore = {};
  std::int64_t lost_coordinates = 0;       ///< so many last ones are not in the score
  std::optional<ElementType> stored = {};  ///< rotated keys are rounded to this
  /// Weights of the visible keys from their scores; `keys` are their indices in the call.
  std::function<std::vector<double>(const AskedCall& call, std::span<const double> scores,
                                    std::span<const std::int64_t> keys)>
      weights = {};
};

/// The model in calls where its condition holds, else one of nothing wrong.
const FaultModel& active(const FaultModel& model, const AskedCall& call);

using Models = std::vector<FaultModel>;

/// What may be wrong with an implementation of `encoding`, the likeliest first.
Models fault_models(const Encoding& encoding, bool attention);

// The parts of that list.
Models id_faults(const Encoding& encoding);
Models rotation_faults(const Encoding& encoding, bool attention);
Models precision_faults();
Models score_faults(const Encoding& encoding);
Models mask_faults(const Encoding& encoding);
Models window_faults();
Models cache_faults();
Models softmax_faults(const Encoding& encoding);
Models head_faults();

// Words that several of them use.
inline constexpr std::int64_t page_sizes[] = {4, 8, 16, 32, 64, 128, 256, 512};
std::string of_tokens(std::int64_t count);  ///< "of 16 tokens"
/// The place of a query among the keys, where the last query is the last key.
inline std::int64_t place_of(const AskedCall& call, std::int64_t query) { return query + call.keys - call.queries; }

/// To nearest, ties to even.
double rounded_to(ElementType type, double value);

}  // namespace locus::doctor
