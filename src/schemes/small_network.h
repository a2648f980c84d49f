// SPDX-License-Identifier: Apache-2.0
// A small network that turns a few numbers of an offset into one number per head, with the gradients of its weights.
//
//   x -> (linear, [layer norm], activation) repeated -> linear
//
// The heads share all layers but the rows of the last one.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "locus/error.h"
#include "locus/initial_weights.h"
#include "locus/registry.h"
#include "locus/site.h"
#include "locus/value.h"

namespace locus {

enum class Activation : std::uint8_t { relu, silu };

/// One layer: y = weight x + bias, then gamma (y - mean) / deviation + beta if there is a gamma. Gradients are added
/// from the given places of one array; `weight` [out][in] and so on are contiguous there.
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

/// A network of one hidden layer with biases and ReLU over one number x >= 0, as the linear functions that it consists
/// of: breaks, slopes, starts and add_gradient. None if a weight is not finite.
inline std::optional<BiasPieces> linear_pieces(const SmallNetwork& network);

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
inline Parameter network_tensor(std::string_view name, std::string_view meaning);
/// The standard deviation of seeded weights: larger than that of tables, or a product of two layers would be nothing.
inline Parameter network_deviation();

// ---- the definitions

namespace network {

using Numbers = std::vector<double>;

inline std::size_t index_of(std::int64_t i) { return static_cast<std::size_t>(i); }

// What a layer computed, for its gradient.
struct Trace {
  Numbers input;
  Numbers linear;      // weight x + bias
  Numbers normalised;  // (linear - mean) / deviation, if there is a norm
  double deviation = 1;
  Numbers before;  // what the activation gets
};

inline Numbers linear_of(const NetworkLayer& layer, std::span<const double> x) {
  Numbers y(index_of(layer.out));
  for (std::int64_t o = 0; o < layer.out; ++o) {
    double sum = layer.bias.empty() ? 0 : layer.bias[index_of(o)];
    for (std::int64_t i = 0; i < layer.in; ++i) sum += layer.weight[index_of(o * layer.in + i)] * x[index_of(i)];
    y[index_of(o)] = sum;
  }
  return y;
}

inline Trace traced(const NetworkLayer& layer, std::span<const double> x) {
  Trace trace{.input = {x.begin(), x.end()}, .linear = linear_of(layer, x), .normalised = {}, .before = {}};
  trace.before = trace.linear;
  if (layer.gamma.empty()) return trace;
  double mean = 0, square = 0;
  for (const double y : trace.linear) mean += y / static_cast<double>(layer.out);
  for (const double y : trace.linear) square += (y - mean) * (y - mean) / static_cast<double>(layer.out);
  trace.deviation = std::sqrt(square + layer_norm_epsilon);
  for (std::size_t o = 0; o < trace.linear.size(); ++o) {
    trace.normalised.push_back((trace.linear[o] - mean) / trace.deviation);
    trace.before[o] = trace.normalised[o] * layer.gamma[o] + (layer.beta.empty() ? 0 : layer.beta[o]);
  }
  return trace;
}

inline double activated(Activation activation, double x) {
  if (activation == Activation::relu) return x > 0 ? x : 0;
  return x / (1 + std::exp(-x));
}

inline double slope(Activation activation, double x) {
  if (activation == Activation::relu) return x > 0 ? 1 : 0;
  const double part = 1 / (1 + std::exp(-x));
  return part * (1 + x * (1 - part));
}

// Turns the gradient of what the activation gets into that of the linear part, and adds those of gamma and beta.
inline Numbers through_norm(const NetworkLayer& layer, const Trace& trace, Numbers gradient, std::span<double> sums) {
  if (layer.gamma.empty()) return gradient;
  const auto width = static_cast<double>(layer.out);
  double mean = 0, along = 0;
  for (std::size_t o = 0; o < gradient.size(); ++o) {
    sums[index_of(layer.gamma_at) + o] += gradient[o] * trace.normalised[o];
    if (!layer.beta.empty()) sums[index_of(layer.beta_at) + o] += gradient[o];
    gradient[o] *= layer.gamma[o];
    mean += gradient[o] / width;
    along += gradient[o] * trace.normalised[o] / width;
  }
  for (std::size_t o = 0; o < gradient.size(); ++o) {
    gradient[o] = (gradient[o] - mean - trace.normalised[o] * along) / trace.deviation;
  }
  return gradient;
}

// Adds the gradients of weight and bias, and returns that of the input.
inline Numbers through_linear(const NetworkLayer& layer, std::span<const double> x, const Numbers& gradient,
                              std::span<double> sums) {
  Numbers of_input(index_of(layer.in), 0.0);
  for (std::int64_t o = 0; o < layer.out; ++o) {
    const double g = gradient[index_of(o)];
    if (!layer.bias.empty()) sums[index_of(layer.bias_at + o)] += g;
    for (std::int64_t i = 0; i < layer.in; ++i) {
      const std::int64_t at = o * layer.in + i;
      sums[index_of(layer.weight_at + at)] += g * x[index_of(i)];
      of_input[index_of(i)] += g * layer.weight[index_of(at)];
    }
  }
  return of_input;
}

inline Numbers activated(Activation activation, const Numbers& before) {
  Numbers after;
  for (const double x : before) after.push_back(activated(activation, x));
  return after;
}

// A network of one hidden layer over one number, such as FIRE's, is asked for every query and key: nothing is allocated.
inline bool is_plain(const SmallNetwork& network) {
  return network.hidden.size() == 1 && network.hidden[0].in == 1 && network.hidden[0].gamma.empty();
}

inline double plain_before(const NetworkLayer& layer, std::size_t o, double x) {
  return layer.weight[o] * x + (layer.bias.empty() ? 0 : layer.bias[o]);
}

inline double plain_value(const SmallNetwork& network, std::int64_t head, double x) {
  const NetworkLayer& hidden = network.hidden[0];
  const double* weight = network.last.weight.data() + head * network.last.in;
  double sum = network.last.bias.empty() ? 0 : network.last.bias[index_of(head)];
  for (std::size_t o = 0; o < index_of(hidden.out); ++o) {
    sum += weight[o] * activated(network.activation, plain_before(hidden, o, x));
  }
  return sum;
}

// Returns the gradient of the input.
inline double add_plain_gradient(const SmallNetwork& network, std::int64_t head, double x, double gradient,
                                 std::span<double> sums) {
  const NetworkLayer &hidden = network.hidden[0], &last = network.last;
  const std::int64_t row = head * last.in;
  if (!last.bias.empty()) sums[index_of(last.bias_at + head)] += gradient;
  double of_x = 0;
  for (std::size_t o = 0; o < index_of(hidden.out); ++o) {
    const double before = plain_before(hidden, o, x);
    sums[index_of(last.weight_at + row) + o] += gradient * activated(network.activation, before);
    const double g = gradient * last.weight[index_of(row) + o] * slope(network.activation, before);
    if (!hidden.bias.empty()) sums[index_of(hidden.bias_at) + o] += g;
    sums[index_of(hidden.weight_at) + o] += g * x;
    of_x += g * hidden.weight[o];
  }
  return of_x;
}

}  // namespace network

inline double SmallNetwork::value(std::int64_t head, std::span<const double> input) const {
  if (network::is_plain(*this)) return network::plain_value(*this, head, input[0]);
  network::Numbers x(input.begin(), input.end());
  for (const NetworkLayer& layer : hidden) x = network::activated(activation, network::traced(layer, x).before);
  double sum = last.bias.empty() ? 0 : last.bias[network::index_of(head)];
  for (std::int64_t i = 0; i < last.in; ++i)
    sum += last.weight[network::index_of(head * last.in + i)] * x[network::index_of(i)];
  return sum;
}

inline void SmallNetwork::add_gradient(std::int64_t head, std::span<const double> input, double gradient,
                                       std::span<double> sums, std::span<double> input_gradient) const {
  if (network::is_plain(*this)) {
    const double of_input = network::add_plain_gradient(*this, head, input[0], gradient, sums);
    if (!input_gradient.empty()) input_gradient[0] += of_input;
    return;
  }
  std::vector<network::Trace> traces;
  network::Numbers x(input.begin(), input.end());
  for (const NetworkLayer& layer : hidden) {
    traces.push_back(network::traced(layer, x));
    x = network::activated(activation, traces.back().before);
  }
  network::Numbers of_x(x.size());
  if (!last.bias.empty()) sums[network::index_of(last.bias_at + head)] += gradient;
  for (std::int64_t i = 0; i < last.in; ++i) {
    sums[network::index_of(last.weight_at + head * last.in + i)] += gradient * x[network::index_of(i)];
    of_x[network::index_of(i)] = gradient * last.weight[network::index_of(head * last.in + i)];
  }
  for (std::size_t l = hidden.size(); l-- > 0;) {
    for (std::size_t o = 0; o < of_x.size(); ++o) of_x[o] *= network::slope(activation, traces[l].before[o]);
    of_x = network::through_norm(hidden[l], traces[l], std::move(of_x), sums);
    of_x = network::through_linear(hidden[l], traces[l].input, of_x, sums);
  }
  for (std::size_t i = 0; i < input_gradient.size(); ++i) input_gradient[i] += of_x[i];
}

namespace network {

// The pieces [begin, end) in which a unit of the hidden layer is not 0. One that rises with x has the last pieces, one
// that falls the first ones, so sums over units (or over pieces) run from one end, and nothing is subtracted.
struct UnitPieces {
  std::size_t begin, end;
  bool rises;
};

inline bool all_finite(const SmallNetwork& network) {
  const auto finite = [](const Numbers& all) {
    return std::all_of(all.begin(), all.end(), [](double w) { return std::isfinite(w); });
  };
  return finite(network.hidden[0].weight) && finite(network.hidden[0].bias) && finite(network.last.weight) &&
         finite(network.last.bias);
}

// Sets breaks, and returns the pieces of every unit.
inline std::vector<UnitPieces> break_into_pieces(const NetworkLayer& hidden, Numbers& breaks) {
  const auto break_of = [&](std::size_t u) { return -hidden.bias[u] / hidden.weight[u]; };
  const auto is_break = [&](std::size_t u) {
    const double w = hidden.weight[u];
    return w != 0 && std::isfinite(break_of(u)) && (w > 0 ? break_of(u) >= 0 : break_of(u) > 0);
  };
  const auto units = index_of(hidden.out);
  for (std::size_t u = 0; u < units; ++u) {
    if (is_break(u)) breaks.push_back(break_of(u));
  }
  std::sort(breaks.begin(), breaks.end());
  breaks.erase(std::unique(breaks.begin(), breaks.end()), breaks.end());
  const std::size_t count = breaks.size() + 1;
  std::vector<UnitPieces> pieces;
  for (std::size_t u = 0; u < units; ++u) {
    const double w = hidden.weight[u];
    if (is_break(u)) {
      const auto after = index_of(std::lower_bound(breaks.begin(), breaks.end(), break_of(u)) - breaks.begin()) + 1;
      pieces.push_back(w > 0 ? UnitPieces{after, count, true} : UnitPieces{0, after, false});
    } else {  // the same for all x
      const bool on = w == 0 || !std::isfinite(break_of(u)) ? hidden.bias[u] > 0 : w > 0;
      pieces.push_back({0, on ? count : 0, true});
    }
  }
  return pieces;
}

// The sums over the pieces up to each one, or from each one on.
inline Numbers sums_up_to(std::span<const double> of_pieces) {
  Numbers sums(of_pieces.size());
  std::partial_sum(of_pieces.begin(), of_pieces.end(), sums.begin());
  return sums;
}
inline Numbers sums_from(std::span<const double> of_pieces) {
  Numbers sums(of_pieces.size());
  std::partial_sum(of_pieces.rbegin(), of_pieces.rend(), sums.rbegin());
  return sums;
}

// One number per piece: the sum over units of `of_unit` where the unit is not 0.
template <class OfUnit>
Numbers sum_of_units(std::span<const UnitPieces> units, std::size_t count, const OfUnit& of_unit) {
  Numbers rising(count), falling(count);
  for (std::size_t u = 0; u < units.size(); ++u) {
    if (units[u].begin == units[u].end) continue;
    (units[u].rises ? rising[units[u].begin] : falling[units[u].end - 1]) += of_unit(u);
  }
  rising = sums_up_to(rising);
  falling = sums_from(falling);
  for (std::size_t k = 0; k < count; ++k) rising[k] += falling[k];
  return rising;
}

}  // namespace network

inline std::optional<BiasPieces> linear_pieces(const SmallNetwork& network) {
  if (!network::all_finite(network)) return {};
  const NetworkLayer &hidden = network.hidden[0], &last = network.last;
  BiasPieces pieces;
  const std::vector<network::UnitPieces> units = network::break_into_pieces(hidden, pieces.breaks);
  const std::size_t count = pieces.breaks.size() + 1;
  for (std::int64_t head = 0; head < last.out; ++head) {
    const double* weight = last.weight.data() + head * last.in;
    const auto slopes =
        network::sum_of_units(units, count, [&](std::size_t u) { return weight[u] * hidden.weight[u]; });
    const auto starts = network::sum_of_units(units, count, [&](std::size_t u) { return weight[u] * hidden.bias[u]; });
    pieces.slopes.insert(pieces.slopes.end(), slopes.begin(), slopes.end());
    for (const double start : starts) pieces.starts.push_back(start + last.bias[network::index_of(head)]);
  }
  pieces.add_gradient = [hidden, last, units](std::int64_t head, std::span<const double> plain,
                                              std::span<const double> with_x, std::span<double> sums) {
    const network::Numbers up_to = network::sums_up_to(plain), up_to_x = network::sums_up_to(with_x);
    const network::Numbers from = network::sums_from(plain), from_x = network::sums_from(with_x);
    sums[network::index_of(last.bias_at + head)] += up_to.back();
    for (std::size_t u = 0; u < units.size(); ++u) {
      const auto [begin, end, rises] = units[u];
      if (begin == end) continue;
      const double g = rises ? from[begin] : up_to[end - 1], gx = rises ? from_x[begin] : up_to_x[end - 1];
      const std::size_t at = network::index_of(head * last.in) + u;
      sums[network::index_of(last.weight_at) + at] += hidden.weight[u] * gx + hidden.bias[u] * g;
      sums[network::index_of(hidden.weight_at) + u] += last.weight[at] * gx;
      sums[network::index_of(hidden.bias_at) + u] += last.weight[at] * g;
    }
  };
  return pieces;
}

inline void NetworkWeights::learn(LearnedWeight weight) {
  weight.gradient = LearnedGradient::bias_network;
  weight.column = count_;
  std::int64_t size = 1;
  for (const std::int64_t extent : weight.shape) size *= extent;
  count_ += size;
  learned_.push_back(std::move(weight));
}

inline NetworkWeights::Taken NetworkWeights::tensor(std::string_view name, const std::vector<std::int64_t>& shape,
                                                    std::int64_t fan_in) {
  const Tensor tensor = weights_or_normal(owner_, arguments_, name, shape, static_cast<std::int64_t>(learned_.size()));
  const std::int64_t at = count_;
  learn({.name = name, .shape = shape, .deviation = 1 / std::sqrt(3 * static_cast<double>(fan_in))});
  return {{tensor.data.begin(), tensor.data.end()}, at};
}

inline NetworkWeights::Taken NetworkWeights::factors(std::string_view name, const std::vector<std::int64_t>& shape) {
  Tensor tensor = weights_or_normal(owner_, arguments_, name, shape);
  if (!arguments_.has(name)) std::fill(tensor.data.begin(), tensor.data.end(), 1.0f);
  const std::int64_t at = count_;
  learn({.name = name, .shape = shape, .deviation = 0, .initial = 1});
  return {{tensor.data.begin(), tensor.data.end()}, at};
}

inline double NetworkWeights::positive_number(std::string_view name) {
  const std::vector<double>& given = arguments_.list(name);
  require(given.size() == 1, owner_, ".", name, " must be one number, got ", given.size());
  learn({.name = name, .shape = {1}, .deviation = 0, .positive = true, .initial = std::log(given[0])});
  return given[0];
}

inline Parameter network_tensor(std::string_view name, std::string_view meaning) {
  return {.name = name, .kind = ValueKind::tensor, .meaning = meaning};
}

inline Parameter network_deviation() {
  Parameter deviation = deviation_parameter();
  deviation.fallback = 0.5;
  return deviation;
}

}  // namespace locus
