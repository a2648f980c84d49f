// SPDX-License-Identifier: Apache-2.0
// What a verification sees of an encoding: plain functions, so that a user's own code can stand where ours does.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "locus/encoding.h"
#include "locus/rotate.h"

namespace locus {

/// An encoding under verification. Start from subject_of() with the encoding that your code should be, and put your own
/// function in the place of ours: every check then asks yours. Functions of other sites stay empty.
struct Subject {
  std::string name;  ///< stands in the lines of the report
  Site site = Site::none;
  Claims claims;
  PositionRange range;
  Position reach = 2 * max_position;  ///< the farthest offset between a query and a key
  int axes = 1;                       ///< ids per token
  std::int64_t heads = 1;
  std::int64_t width = 8;  ///< of the vectors: head_dim, or the width of the hidden state
  double scale = 1;        ///< of the softmax

  std::function<bool(Position id)> accepts;
  std::function<std::vector<double>(Position id)> row;  ///< hidden: what is added to the token
  /// query_key: one head at one place.
  std::function<std::vector<double>(Role role, std::span<const Position> ids, std::span<const double> head)> rotate;
  /// score: what is added to the scaled score.
  std::function<double(std::int64_t head, Position query, Position key)> bias;
  /// relative_key: the whole score before the softmax, and what joins the value (empty: nothing).
  std::function<double(std::int64_t head, std::span<const double> q, std::span<const double> k, Position query,
                       Position key)>
      relative_score;
  std::function<std::vector<double>(Position query, Position key)> relative_value;

  std::vector<Wave> waves;         ///< hidden: the frequencies of the columns, where they are waves
  std::optional<Position> origin;  ///< hidden: the id at which every wave starts

  // How far cos and sin may be from the truth: always, and more with every position where angles do not wrap exactly.
  double entry_error = 1e-15;
  double angle_error = 0;
  std::vector<Position> distances = {100, 100'000, 1'000'000, 1'000'000'000};  ///< from 0, tried where they are served

  std::function<Subject(std::int64_t length)> at_length;  ///< as it is told the length of the sequence
  std::function<Subject()> with_other_weights;            ///< learned: the same with other weights
  bool absolute = false;                                  ///< theory says that a shift of all ids is seen
  bool length_matters = false;  ///< theory says that the numbers of a position change with the length
};

/// The encoding by its public functions (rotate() and rows in double).
Subject subject_of(const Encoding& encoding);

}  // namespace locus
