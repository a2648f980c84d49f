// SPDX-License-Identifier: Apache-2.0
// Position schemes in torch's own operations, from the formulas of their papers. Uses nothing from the library.
#pragma once

#include "model/scheme.h"
#include "model/torch.h"

namespace locus::lab {

/// One scheme at one length. Everything that does not depend on weights is computed once.
class TorchPositions {
 public:
  /// nope, sinusoidal, learned, rope, xpos, alibi, t5, shaw and transformer_xl with their default arguments, and rope's
  /// base. ALiBi for heads that are a power of two.
  static bool knows(const SchemeText& scheme);

  TorchPositions(const SchemeText& scheme, const ModelShape& shape, bool causal, std::int64_t length);

  /// Returns sinusoidal rows [length, width]; undefined for other schemes.
  const at::Tensor& rows() const { return rows_; }
  /// Rotates queries and keys [rows, heads, length, head_dim] if the scheme does.
  void rotate(at::Tensor& q, at::Tensor& k) const;
  /// Returns scaled scores [rows, heads, length, length] with the scheme's term, -infinity where masked.
  /// `learned`: the scheme's weights, concatenated.
  at::Tensor scores(const at::Tensor& q, const at::Tensor& k, const at::Tensor& learned) const;

 private:
  void make_rotation(const SchemeText& scheme, std::int64_t dim);
  at::Tensor transformer_xl(const at::Tensor& q, const at::Tensor& k, const at::Tensor& learned) const;

  std::string name_;
  std::int64_t length_, heads_;
  double scale_;
  at::Tensor rows_;
  at::Tensor query_cos_, query_sin_, key_cos_, key_sin_;  ///< [length, head_dim / 2]
  at::Tensor mask_;                                       ///< ALiBi's bias and the mask [1 or heads, length, length]
  at::Tensor index_;                                      ///< of a table's row or a column, by query and key
  at::Tensor waves_;                                      ///< Transformer-XL's, of distance length - 1 ... 1 - length
};

}  // namespace locus::lab
