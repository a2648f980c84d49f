// SPDX-License-Identifier: Apache-2.0
// A call of attend(), checked and taken apart: stretches of one document each, with places and ids made explicit.
#pragma once

#include <span>
#include <vector>

#include "locus/attention.h"

namespace locus {

/// The queries and keys of one document in one batch row; padding at either end of the keys is left out.
struct Stretch {
  std::int64_t batch = 0;
  std::int64_t first_query = 0, queries = 0;
  std::int64_t first_key = 0, keys = 0;
  std::span<const Position> query_ids = {}, key_ids = {};        ///< [queries], [keys]
  std::span<const Position> query_places = {}, key_places = {};  ///< what masks compare
  bool ids_advance = false;     ///< both run by ones, so that a bias is a window of a vector
  bool places_rise = false;     ///< keys in order of place, a prefix or sinks first: a query sees a range of them
  bool places_advance = false;  ///< and without gaps
  bool patchy = false;          ///< some pairs are masked one by one
};

/// Keys [begin, end) and [0, sinks_end) of a stretch.
struct VisibleRange {
  std::int64_t begin = 0, end = 0, sinks_end = 0;
};

class Problem {
 public:
  /// Throws Error for what attend() refuses.
  explicit Problem(const AttentionCall& call);

  const AttentionCall& call() const { return call_; }
  std::span<const Stretch> stretches() const { return stretches_; }
  double scale() const { return scale_; }
  std::int64_t head_dim() const { return call_.query.head_dim; }
  std::int64_t group() const { return call_.query.heads / call_.key.heads; }

  const ScoreBias* bias() const { return bias_; }
  const RelativeKeys* relative() const { return relative_; }
  /// What multiplies a score bias, and a relative key.
  double bias_scale() const { return bias_ != nullptr && bias_->before_scale ? scale_ : 1.0; }
  double relative_scale() const { return relative_ != nullptr && relative_->scaled ? scale_ : 1.0; }
  /// Where relative keys are projected: the row of key - query, if it lies among those that advancing ids need. They
  /// are the same for every stretch, so they are made once, unless they are many.
  const double* projected_row(std::int64_t head, Position offset) const;
  /// The bias never grows with distance.
  bool decaying() const { return decaying_; }

  /// Whether this query (of the stretch) sees this key: the definition.
  bool sees(const Stretch& stretch, std::int64_t head, std::int64_t query, std::int64_t key) const;
  /// No query sees a key whose id is above its own.
  bool future_unseen() const;
  /// The same for a whole row, where places rise, but for what is masked one by one (patchy).
  VisibleRange visible_range(const Stretch& stretch, std::int64_t query) const;

  /// Row `token` of a head, as it lies in memory.
  static std::byte* row(const HeadsView& view, std::int64_t batch, std::int64_t token, std::int64_t head);
  float* log_sum_exp(std::int64_t batch, std::int64_t head, std::int64_t query) const;

 private:
  void check_views() const;
  void check_masks() const;
  void take_encoding();
  void make_stretches();
  void check_relative_rows() const;
  void project_rows();

  AttentionCall call_;
  double scale_ = 1;
  const ScoreBias* bias_ = nullptr;
  const RelativeKeys* relative_ = nullptr;
  bool decaying_ = false;
  std::vector<Position> default_query_, default_key_;
  std::vector<Stretch> stretches_;
  Position first_projected_ = 0;
  std::vector<double> projected_;  ///< [offsets][heads][head_dim], or empty
};

}  // namespace locus
