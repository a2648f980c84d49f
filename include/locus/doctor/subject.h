// SPDX-License-Identifier: Apache-2.0
// The encoding under verification as plain functions, so that user code can replace ours.
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

/// An encoding under verification. Start from subject_of() with the encoding that your code should implement, and
/// replace a function by yours: every check then calls yours. Functions of other sites stay empty.
struct Subject {
  std::string name;  ///< for the checks
  Site site = Site::none;
  Claims claims;
  PositionRange range;
  Position reach = 2 * max_position;  ///< the farthest offset between a query and a key
  int axes = 1;                       ///< ids per token
  std::int64_t heads = 1;
  std::int64_t width = 8;  ///< of vectors: head_dim, or the width of the hidden state
  double scale = 1;        ///< of the softmax

  std::function<bool(Position id)> accepts;
  std::function<std::vector<double>(Position id)> row;  ///< hidden: the row added to the token
  /// hidden, from neighbours, instead of `row`: the tokens' vectors with their rows added.
  std::function<std::vector<std::vector<double>>(const std::vector<std::vector<double>>& states,
                                                 std::span<const Position> ids)>
      add_rows;
  /// query_key: rotates one head to the position `ids`.
  std::function<std::vector<double>(Role role, std::span<const Position> ids, std::span<const double> head)> rotate;
  /// score: the number added to the scaled score.
  std::function<double(std::int64_t head, Position query, Position key)> bias;
  /// relative_key: the whole score before the softmax, and the vector added to the value (empty: none).
  std::function<double(std::int64_t head, std::span<const double> q, std::span<const double> k, Position query,
                       Position key)>
      relative_score;
  std::function<std::vector<double>(Position query, Position key)> relative_value;

  std::vector<Wave> waves;         ///< hidden: the frequencies of the columns, if they are waves
  std::optional<Position> origin;  ///< hidden: the id at which every wave starts

  // Allowed error of cos and sin: a constant, and an amount per position if angles do not wrap exactly.
  double entry_error = 1e-15;
  double angle_error = 0;
  std::vector<Position> distances = {100, 100'000, 1'000'000,
                                     1'000'000'000};  ///< from 0; those out of range are skipped

  std::function<Subject(std::int64_t length)> at_length;  ///< the subject at a sequence length
  std::function<Subject()> with_other_weights;            ///< learned: the subject with other weights
  bool absolute = false;        ///< theory predicts that a shift of all ids changes the result
  bool keys_placed = true;      ///< false if positions act on queries alone
  bool length_matters = false;  ///< theory predicts that the numbers depend on the length
  bool tokens_decide = false;   ///< tokens bring or count the numbers; ids alone add nothing
};

/// Returns the encoding as a subject, through its public functions (rotate() and rows in double).
Subject subject_of(const Encoding& encoding);

}  // namespace locus
