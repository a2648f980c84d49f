// SPDX-License-Identifier: Apache-2.0
// Gradients of attend_backward() against central differences of attend() in float64.
#pragma once

#include <functional>

#include "backward_check.h"

namespace locus::testing {

inline constexpr double step = 0x1p-9;

/// Compares a gradient with differences of `loss`, which evaluates at a change of the weight.
///
/// D(h) = (L(h) - L(-h)) / 2h = L' + c h^2 + O(h^4), so (4 D(h) - D(2h)) / 3 leaves O(h^4). It changed D(h) by |D(2h)
/// - D(h)| / 3, and the remaining error is smaller than the removed one: |D(2h) - D(h)| bounds it with a margin.
/// Rounding adds to that: with each loss within `noise`, D(h) is within noise / h, the combination within 2 noise /
/// h.
inline void expect_slope(const std::function<double(double)>& loss, double gradient, double noise,
                         const std::string& what) {
  const double near = (loss(step) - loss(-step)) / (2 * step);
  const double far = (loss(2 * step) - loss(-2 * step)) / (4 * step);
  EXPECT_NEAR((4 * near - far) / 3, gradient, std::fabs(far - near) + 2 * noise / step) << what;
}

inline double loss_of(Backward<double>& b) {
  attend(b.t.call);
  double sum = 0;
  for (std::size_t i = 0; i < b.t.out.size(); ++i) sum += b.t.out[i] * b.g[i];
  return sum;
}

/// Every output is within attention.h's bound, gradients of outputs are below 1, and their sum has a rounding each.
inline double noise_of(const Backward<double>& b) {
  const reference::Attention want = reference::attend(b.t.call);
  const double s = 1.1 * *std::max_element(want.magnitude.begin(), want.magnitude.end());
  const auto count = static_cast<double>(b.t.out.size());
  const double v = largest_value(b.t.call) + 0.1;
  return count * (output_bound<double>(b.t.e, s, v) + count * v * 0x1p-53);
}

using Change = std::function<void(AttentionCall&)>;

inline void check_differences(const Extents& e, const Learned& learned, const Change& setup) {
  Backward<double> b(e, learned);
  setup(b.t.call);
  const double noise = noise_of(b);
  b.run();
  const auto check_tensor = [&](std::vector<double>& values, const std::vector<double>& gradient,
                                const std::string& what) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double kept = values[i];
      const auto loss = [&](double change) {
        values[i] = kept + change;
        return loss_of(b);
      };
      expect_slope(loss, gradient[i], noise, what + " " + std::to_string(i));
      values[i] = kept;
    }
  };
  check_tensor(b.t.q, b.dq, "query");
  check_tensor(b.t.k, b.dk, "key");
  check_tensor(b.t.v, b.dv, "value");
  for (std::size_t w = 0; w < learned.weights.size(); ++w) {
    const std::string& name = learned.weights[w];
    // A large table (Swin's) has zeros for offsets without a pair; a sample of those is enough.
    const std::size_t stride = b.weights[w].size() > 200 ? 7 : 1;
    for (std::size_t i = 0; i < b.weights[w].size(); i += b.weights[w][i] == 0 ? stride : 1) {
      const auto loss = [&](double change) {
        Learned moved = learned;
        if (learned.arguments.all().at(name).index() == Value(std::vector<double>()).index()) {
          std::vector<double> list = learned.arguments.list(name);
          list[i] += change;
          moved.arguments.set(name, list);
        } else {
          Tensor tensor = learned.arguments.tensor(name);
          tensor.data[i] += static_cast<float>(change);
          moved.arguments.set(name, tensor);
        }
        Backward<double> other(e, moved);
        setup(other.t.call);
        return loss_of(other);
      };
      expect_slope(loss, b.weights[w][i], noise, name + " " + std::to_string(i));
    }
  }
  std::vector<float> sinks(b.t.call.sink_logits.begin(), b.t.call.sink_logits.end());
  b.t.call.sink_logits = sinks;
  for (std::size_t h = 0; h < sinks.size(); ++h) {
    const float kept = sinks[h];
    const auto loss = [&](double change) {
      sinks[h] = kept + static_cast<float>(change);
      return loss_of(b);
    };
    expect_slope(loss, b.sinks[h], noise, "sink " + std::to_string(h));
    sinks[h] = kept;
  }
}

}  // namespace locus::testing
