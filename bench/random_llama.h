// SPDX-License-Identifier: Apache-2.0
// A Llama of any size and weight type with arbitrary weights, in one block of memory, for timing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "buffer.h"
#include "probe/model.h"
#include "probe/weights/weights.h"

namespace locus::bench {

struct MatrixShape {
  std::int64_t rows = 0, columns = 0;
};

class RandomLlama {
 public:
  /// Heads of 64, four query heads per key head, width 1,024, a vocabulary of 32,000. The output head is the
  /// embedding, so each token reads every weight once.
  RandomLlama(probe::WeightType type, std::int64_t layers);
  /// Returns the number of layers with this many bytes of weights.
  static std::int64_t layers_for(probe::WeightType type, std::int64_t bytes);

  const probe::Model& model() const { return model_; }
  /// All matrices, one after another.
  Buffer& weights() const { return *weights_; }
  /// The matrices of a layer, in the order of a forward pass.
  static std::vector<MatrixShape> matrices_of_layer();

 private:
  std::shared_ptr<Buffer> weights_;
  probe::Model model_;
};

}  // namespace locus::bench
