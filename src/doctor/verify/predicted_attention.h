// SPDX-License-Identifier: Apache-2.0
// Predicts attention in double, row by row, without or with one fault, and bounds the error of a right implementation.
#pragma once

#include <optional>

#include "doctor/verify/predicted_rotation.h"
#include "doctor/verify/rounding.h"

namespace locus::doctor {

/// A call with its vectors in double.
struct AttendCall {
  AskedCall asked;
  std::int64_t heads = 0;
  std::int64_t key_heads = 0;
  std::int64_t head_dim = 0;
  std::span<const double> query;                   ///< [queries, heads, head_dim]
  std::span<const double> key, value;              ///< [keys, key_heads, head_dim]
  std::span<const double> other_key, other_value;  ///< of the other branch of a fork
};

class PredictedAttention {
 public:
  /// The arguments must outlive this object.
  PredictedAttention(const Encoding& encoding, const FaultModel& model, const AttendCall& call, SharedNumbers& shared);

  struct Row {
    std::vector<double> output;       ///< [heads, head_dim]
    std::vector<double> tolerance;    ///< the same
    std::vector<double> log_sum_exp;  ///< [heads]
    std::vector<double> score_error;  ///< [heads]: the largest weighted error of a visible key's score
    /// [heads]: 1 if no key is visible. Code returns NaN, 0 or the mean of all values there; `output` is the mean.
    std::vector<std::uint8_t> blind;
  };
  /// Predicts all heads, or one; the others then have an infinite tolerance. Absent if the fault needs a number that
  /// the encoding does not have.
  std::optional<Row> row(std::int64_t query, const Rounding& rounding, std::optional<std::int64_t> only = {});

 private:
  struct Scores;
  void append_unasked(Row& row) const;
  void append_blind(std::int64_t head, const Rounding& rounding, Row& row);
  void append_head(std::int64_t query, std::int64_t head, const Scores& seen, const Rounding& rounding, Row& row);
  // Keys and values as attention reads them; computed on first use.
  std::span<const double> key_of(std::int64_t key, std::int64_t head);
  std::span<const double> value_of(std::int64_t key, std::int64_t head);
  Position key_id(std::int64_t key);
  double key_span();  // largest id minus smallest
  std::int64_t value_head_of(std::int64_t head) const;
  const std::vector<double>& projected(std::int64_t head, Position distance);
  bool reads_other_branch(std::int64_t key) const;
  std::vector<double> remapped_query(std::span<const double> q, Position query, Position key) const;
  void score_keys(std::int64_t query, std::int64_t head, std::span<const double> q, const Rounding& rounding,
                  Scores& scores);
  double term(std::int64_t head, std::span<const double> q, std::span<const double> k, Position query, Position key,
              double& size);
  double angle_error(std::span<const double> query_pairs, std::int64_t key, std::int64_t key_head, Position query_id,
                     const Rounding& rounding);

  const FaultModel& model_;
  const AttendCall& call_;
  SharedNumbers& shared_;
  const Rotation* rotation_ = nullptr;
  const ScoreBias* bias_ = nullptr;
  const RelativeKeys* relative_ = nullptr;
  std::optional<PredictedRotation> turned_;
  double scale_ = 1;
  std::optional<double> key_span_;
  std::vector<double> keys_, values_;                // [keys, key_heads, head_dim]
  std::vector<double> key_pairs_;                    // [keys, key_heads, pairs]: lengths
  std::vector<std::uint8_t> key_made_, value_made_;  // [keys, key_heads]
  std::vector<std::optional<Position>> key_ids_;     // empty if the fault does not change ids
  std::map<std::pair<std::int64_t, Position>, std::vector<double>> projected_;  // relative keys of the fault
};

}  // namespace locus::doctor
