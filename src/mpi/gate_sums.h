// SPDX-License-Identifier: Apache-2.0
// A number per own query and head that pieces of keys hand on, where gates are counted.
#pragma once

#include <algorithm>
#include <vector>

#include "locus/mpi/ring_attention.h"

namespace locus::mpi {

class GateSums {  // [batch, heads, own tokens]
 public:
  explicit GateSums(const HeadsView& query)
      : tokens_(query.tokens), sums_(static_cast<std::size_t>(query.batch * query.heads * query.tokens), 0.0) {}

  /// Calls `use` with the sums of a piece of queries, [batch, heads, its tokens], and keeps what it left there.
  template <class Use>
  void lend(const positions::Piece& queries, const Use& use) {
    const auto rows = tokens_ == 0 ? 0 : std::ssize(sums_) / tokens_;
    piece_.resize(static_cast<std::size_t>(rows * queries.tokens));
    for (std::int64_t row = 0; row < rows; ++row) {
      std::copy_n(sums_.begin() + row * tokens_ + queries.first, queries.tokens, piece_.begin() + row * queries.tokens);
    }
    use(piece_.data());
    for (std::int64_t row = 0; row < rows; ++row) {
      std::copy_n(piece_.begin() + row * queries.tokens, queries.tokens, sums_.begin() + row * tokens_ + queries.first);
    }
  }

 private:
  std::int64_t tokens_;
  std::vector<double> sums_, piece_;
};

}  // namespace locus::mpi
