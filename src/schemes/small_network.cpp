// SPDX-License-Identifier: Apache-2.0
#include "schemes/small_network.h"

#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "locus/initial_weights.h"

namespace locus {
namespace {

using Numbers = std::vector<double>;

std::size_t index_of(std::int64_t i) { return static_cast<std::size_t>(i); }

// What a layer computed, for its gradient.
struct Trace {
  Numbers input;
  Numbers linear;      // weight x + bias
  Numbers normalised;  // (linear - mean) / deviation, if there is a norm
  double deviation = 1;
  Numbers before;  // what the activation gets
};

Numbers linear_of(const NetworkLayer& layer, std::span<const double> x) {
  Numbers y(index_of(layer.out));
  for (std::int64_t o = 0; o < layer.out; ++o) {
    double sum = layer.bias.empty() ? 0 : layer.bias[index_of(o)];
    for (std::int64_t i = 0; i < layer.in; ++i) sum += layer.weight[index_of(o * layer.in + i)] * x[index_of(i)];
    y[index_of(o)] = sum;
  }
  return y;
}

Trace traced(const NetworkLayer& layer, std::span<const double> x) {
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

double activated(Activation activation, double x) {
  if (activation == Activation::relu) return x > 0 ? x : 0;
  return x / (1 + std::exp(-x));
}

double slope(Activation activation, double x) {
  if (activation == Activation::relu) return x > 0 ? 1 : 0;
  const double part = 1 / (1 + std::exp(-x));
  return part * (1 + x * (1 - part));
}

// Turns the gradient of what the activation gets into that of the linear part, and adds those of gamma and beta.
Numbers through_norm(const NetworkLayer& layer, const Trace& trace, Numbers gradient, std::span<double> sums) {
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
Numbers through_linear(const NetworkLayer& layer, std::span<const double> x, const Numbers& gradient,
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

Numbers activated(Activation activation, const Numbers& before) {
  Numbers after;
  for (const double x : before) after.push_back(activated(activation, x));
  return after;
}

}  // namespace

double SmallNetwork::value(std::int64_t head, std::span<const double> input) const {
  Numbers x(input.begin(), input.end());
  for (const NetworkLayer& layer : hidden) x = activated(activation, traced(layer, x).before);
  double sum = last.bias.empty() ? 0 : last.bias[index_of(head)];
  for (std::int64_t i = 0; i < last.in; ++i) sum += last.weight[index_of(head * last.in + i)] * x[index_of(i)];
  return sum;
}

void SmallNetwork::add_gradient(std::int64_t head, std::span<const double> input, double gradient,
                                std::span<double> sums, std::span<double> input_gradient) const {
  std::vector<Trace> traces;
  Numbers x(input.begin(), input.end());
  for (const NetworkLayer& layer : hidden) {
    traces.push_back(traced(layer, x));
    x = activated(activation, traces.back().before);
  }
  Numbers of_x(x.size());
  if (!last.bias.empty()) sums[index_of(last.bias_at + head)] += gradient;
  for (std::int64_t i = 0; i < last.in; ++i) {
    sums[index_of(last.weight_at + head * last.in + i)] += gradient * x[index_of(i)];
    of_x[index_of(i)] = gradient * last.weight[index_of(head * last.in + i)];
  }
  for (std::size_t l = hidden.size(); l-- > 0;) {
    for (std::size_t o = 0; o < of_x.size(); ++o) of_x[o] *= slope(activation, traces[l].before[o]);
    of_x = through_norm(hidden[l], traces[l], std::move(of_x), sums);
    of_x = through_linear(hidden[l], traces[l].input, of_x, sums);
  }
  for (std::size_t i = 0; i < input_gradient.size(); ++i) input_gradient[i] += of_x[i];
}

void NetworkWeights::learn(LearnedWeight weight) {
  weight.gradient = LearnedGradient::bias_network;
  weight.column = count_;
  std::int64_t size = 1;
  for (const std::int64_t extent : weight.shape) size *= extent;
  count_ += size;
  learned_.push_back(std::move(weight));
}

NetworkWeights::Taken NetworkWeights::tensor(std::string_view name, const std::vector<std::int64_t>& shape,
                                             std::int64_t fan_in) {
  const Tensor tensor = weights_or_normal(owner_, arguments_, name, shape, static_cast<std::int64_t>(learned_.size()));
  const std::int64_t at = count_;
  learn({.name = name, .shape = shape, .deviation = 1 / std::sqrt(3 * static_cast<double>(fan_in))});
  return {{tensor.data.begin(), tensor.data.end()}, at};
}

NetworkWeights::Taken NetworkWeights::factors(std::string_view name, const std::vector<std::int64_t>& shape) {
  Tensor tensor = weights_or_normal(owner_, arguments_, name, shape);
  if (!arguments_.has(name)) std::fill(tensor.data.begin(), tensor.data.end(), 1.0f);
  const std::int64_t at = count_;
  learn({.name = name, .shape = shape, .deviation = 0, .initial = 1});
  return {{tensor.data.begin(), tensor.data.end()}, at};
}

double NetworkWeights::positive_number(std::string_view name) {
  const std::vector<double>& given = arguments_.list(name);
  require(given.size() == 1, owner_, ".", name, " must be one number, got ", given.size());
  learn({.name = name, .shape = {1}, .deviation = 0, .positive = true, .initial = std::log(given[0])});
  return given[0];
}

Parameter network_tensor(std::string_view name, std::string_view meaning) {
  return {.name = name, .kind = ValueKind::tensor, .meaning = meaning};
}

Parameter network_deviation() {
  Parameter deviation = deviation_parameter();
  deviation.fallback = 0.5;
  return deviation;
}

}  // namespace locus
