// SPDX-License-Identifier: Apache-2.0
// A small network that turns a few numbers of an offset into one number per head, with the gradients of its weights.
//
//   x -> (linear, [layer norm], activation) repeated -> linear
//
// The heads share all layers but the rows of the last one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "locus/registry.h"
#include "locus/value.h"

namespace locus {

enum class Activation : std::uint8_t { relu, silu };

/// One layer: y = weight x + bias, then gamma (y - mean) / deviation + beta if there is a gamma. Gradients are added from
/// the given places of one array; `weight` [out][in] and so on are contiguous there.
struct NetworkLayer {
  std::int64_t in = 0, out = 0;
  std::vector<double> weight = {}, bias = {}, gamma = {}, beta = {};  ///< all but the first may be empty
  std::int64_t weight_at = 0, bias_at = 0, gamma_at = 0, beta_at = 0;
};

struct SmallNetwork {
  std::vector<NetworkLayer> hidden = {};
  NetworkLayer last = {};  ///< [heads][width]
  Activation activation = Activation::relu;

  /// The output of a head, without an activation.
  double value(std::int64_t head, std::span<const double> input) const;
  /// Adds gradient x d value / d weights to `sums`, and d value / d input to `input_gradient` unless it is empty.
  void add_gradient(std::int64_t head, std::span<const double> input, double gradient, std::span<double> sums,
                    std::span<double> input_gradient = {}) const;
};

/// The layer norm's epsilon, that of torch.
inline constexpr double layer_norm_epsilon = 1e-5;

/// Takes the weights of a network from the arguments, one tensor after another, and declares them as learned.
class NetworkWeights {
 public:
  NetworkWeights(std::string_view owner, const Arguments& arguments) : owner_(owner), arguments_(arguments) {}

  struct Taken {
    std::vector<double> values;
    std::int64_t at;  ///< the place of its gradient
  };
  /// A tensor argument, or seeded weights. Training starts with a deviation of 1 / sqrt(3 fan_in), that of torch.
  Taken tensor(std::string_view name, const std::vector<std::int64_t>& shape, std::int64_t fan_in);
  /// A tensor argument, or ones, with which training starts.
  Taken factors(std::string_view name, const std::vector<std::int64_t>& shape);
  /// A positive number, given as a list of one.
  double positive_number(std::string_view name);

  std::int64_t count() const { return count_; }
  const std::vector<LearnedWeight>& learned() const { return learned_; }

 private:
  void learn(LearnedWeight weight);

  std::string_view owner_;
  const Arguments& arguments_;
  std::int64_t count_ = 0;
  std::vector<LearnedWeight> learned_;
};

/// The parameter of one of its tensors.
Parameter network_tensor(std::string_view name, std::string_view meaning);
/// The standard deviation of seeded weights: larger than that of tables, or a product of two layers would be nothing.
Parameter network_deviation();

}  // namespace locus
