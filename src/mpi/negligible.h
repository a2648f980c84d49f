// SPDX-License-Identifier: Apache-2.0
// Blocks whose keys a decaying bias makes negligible, decided before they travel.
//
// For a query q with its own key k: its softmax sum is at least e^S, S = scale q.k + bias(0). Keys at least a distance
// away add at most n e^B, B = |q| max|k| scale + bias(distance). Where B + ln n < S - 26 ln 2, with n all keys of all
// ranks, all blocks left out for a query hold less than 2^-26 of its weight together.
#pragma once

#include <vector>

#include "mpi/block.h"
#include "mpi/schedule.h"

namespace locus::mpi {

/// The largest |key| of each key head, without padding.
std::vector<double> largest_norms(const HeadsView& keys, std::span<const positions::Piece> pieces);

class NegligibleKeys {
 public:
  /// Whether the encoding decays and no mask can hide a query's own key.
  static bool possible(const RingCall& call);
  /// `queries` and `keys` are the call's own, in float32.
  NegligibleKeys(const RingCall& call, const HeadsView& queries, const HeadsView& keys);

  /// Whether the keys of a span, with these norms, are negligible for all queries of own span `span`.
  bool are_negligible(std::size_t span, const PieceSpan& queries, const PieceSpan& keys, std::span<const double> norms,
                      double all_keys) const;

 private:
  /// Of the queries of a span: [heads].
  struct Bounds {
    std::vector<double> largest_query, least_own_score;
  };
  void take_piece(const RingCall& call, const HeadsView& queries, const HeadsView& keys, const positions::Piece& piece);

  const ScoreBias* bias_;
  double scale_ = 1;
  std::int64_t group_ = 1;
  std::vector<Bounds> spans_;
};

}  // namespace locus::mpi
