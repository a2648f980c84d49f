// SPDX-License-Identifier: Apache-2.0
// A model's weights in one contiguous array and their gradients in another, so that an optimiser is one loop.
#pragma once

#include "model/torch.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace locus::lab {

/// A number that depends on the seed and the words only, the same on every machine.
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

  /// Initial values depend on the seed and on a weight's name, not on which others there are.
  Weights(std::vector<Entry> entries, std::int64_t seed);

  /// A leaf of autograd whose gradient is a piece of gradients().
  const at::Tensor& at(const std::string& name) const;
  bool has(const std::string& name) const { return tensors_.count(name) != 0; }
  const std::vector<Entry>& entries() const { return entries_; }  ///< those that decay first

  const at::Tensor& values() const { return values_; }
  const at::Tensor& gradients() const { return gradients_; }
  std::int64_t count() const { return values_.numel(); }
  std::int64_t decaying() const { return decaying_; }  ///< how many of the first decay

  at::Tensor saved() const { return values_.clone(); }
  void restore(const at::Tensor& saved) { values_.copy_(saved); }

 private:
  std::vector<Entry> entries_;
  at::Tensor values_, gradients_;
  std::map<std::string, at::Tensor> tensors_;
  std::int64_t decaying_ = 0;
};

}  // namespace locus::lab
