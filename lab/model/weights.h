// SPDX-License-Identifier: Apache-2.0
// A model's weights in one contiguous array and their gradients in another: an optimiser is one loop.
#pragma once

#include "model/torch.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace locus::lab {

/// Returns a number that depends only on the seed and the words, the same on every machine.
std::uint64_t mix_seed(std::int64_t seed, const std::string& words);

class Weights {
 public:
  struct Entry {
    std::string name;
    std::vector<std::int64_t> shape;
    double deviation = 0;  ///< initial values are mean + deviation x normal
    double mean = 0;
    bool decays = true;
  };

  /// Initial values depend on the seed and the weight's name only, not on other weights.
  Weights(std::vector<Entry> entries, std::int64_t seed);

  /// Returns a leaf of autograd whose gradient is a view of gradients().
  const at::Tensor& at(const std::string& name) const;
  bool has(const std::string& name) const { return tensors_.count(name) != 0; }
  const std::vector<Entry>& entries() const { return entries_; }  ///< those with weight decay first

  const at::Tensor& values() const { return values_; }
  const at::Tensor& gradients() const { return gradients_; }
  std::int64_t count() const { return values_.numel(); }
  std::int64_t decaying() const { return decaying_; }  ///< the number of weights with weight decay, which are the first

  at::Tensor saved() const { return values_.clone(); }
  void restore(const at::Tensor& saved) { values_.copy_(saved); }

 private:
  std::vector<Entry> entries_;
  at::Tensor values_, gradients_;
  std::map<std::string, at::Tensor> tensors_;
  std::int64_t decaying_ = 0;
};

}  // namespace locus::lab
