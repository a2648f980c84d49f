// SPDX-License-Identifier: Apache-2.0
// Calls of attend_backward() with space for every gradient, with encodings whose weights can be changed one by one.
#pragma once

#include <optional>
#include <string>

#include "attention_check.h"
#include "locus/attention_backward.h"
#include "locus/named_gradients.h"

namespace locus::testing {

/// A scheme with explicit weights; `weights` names the tensors (or lists of reals) among the arguments.
struct Learned {
  std::string scheme;
  Arguments arguments;
  std::vector<std::string> weights;
};

/// Multiples of 2^-12 in [-size, size): adding 2^-9 to one is exact in float32.
inline Tensor short_numbers(std::vector<std::int64_t> shape, std::uint64_t seed, double size = 1) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  Tensor tensor{std::move(shape), random_elements<float>(static_cast<std::size_t>(count), seed)};
  for (float& x : tensor.data) x = static_cast<float>(std::round(static_cast<double>(x) * size * 0x1p12) * 0x1p-12);
  return tensor;
}

/// Every kind of term, with heads of width `dim`. Tables are large enough that offsets -3 .. 2 have separate rows.
inline std::vector<Learned> learned_encodings(std::int64_t heads, std::int64_t dim) {
  using Int = std::int64_t;
  const Arguments shaw{{"heads", heads}, {"head_dim", dim}, {"clip_left", Int{3}}, {"clip_right", Int{2}}};
  std::vector<Learned> all{
      {"nope", {}, {}},
      {"alibi", {{"heads", heads}, {"form", "symmetric"}}, {}},
      {"alibi", {{"heads", heads}, {"form", "falcon"}}, {}},
      {"t5", {{"heads", heads}, {"num_buckets", Int{8}}, {"max_distance", Int{12}}}, {"table"}},
      {"relative_bias", {{"heads", heads}, {"clip_left", Int{3}}, {"clip_right", Int{2}}}, {"table"}},
      {"relative_bias",
       {{"heads", heads}, {"index", "swin"}, {"window_height", Int{16}}, {"window_width", Int{16}}},
       {"table"}},
      {"kerple", {{"heads", heads}, {"form", "log"}}, {"r1", "r2"}},
      {"kerple", {{"heads", heads}, {"form", "power"}}, {"r1", "r2"}},
      {"shaw", shaw, {"key_table"}},
      {"shaw", shaw, {"key_table", "value_table"}},
      {"transformer_xl", {{"heads", heads}, {"head_dim", dim}, {"model_dim", Int{6}}}, {"u", "v", "w_r"}},
      {"deberta",
       {{"heads", heads}, {"head_dim", dim}, {"max_relative_positions", Int{3}}},
       {"key_table", "query_table"}},
      {"decomposed_2d",
       {{"heads", heads}, {"head_dim", dim}, {"grid_height", Int{16}}, {"grid_width", Int{16}}},
       {"row_table", "column_table"}},
      {"fire", {{"heads", heads}, {"width", Int{3}}}, {"w1", "b1", "w2", "b2", "c", "threshold"}},
      {"dynamic_bias",
       {{"heads", heads}, {"width", Int{3}}, {"norm", true}, {"log_distance", true}},
       {"w_in", "b_in", "w", "b", "gamma", "beta", "w_out", "b_out"}},
      {"swin_v2",
       {{"heads", heads}, {"width", Int{3}}, {"window_height", Int{16}}, {"window_width", Int{16}}},
       {"w1", "b1", "w2"}}};
  all[9].arguments.set("scaled", false);
  all[9].arguments.set("meets_key", true);
  std::uint64_t seed = 100;
  for (Learned& one : all) {
    for (const std::string& name : one.weights) {
      if (one.scheme == "shaw" && name == "value_table") one.arguments.set("values", true);
      const Encoding encoding(one.scheme, one.arguments);
      for (const LearnedWeight& weight : encoding.learned_weights()) {
        if (weight.name != name) continue;
        if (weight.positive) {
          std::vector<double> list;
          for (std::int64_t h = 0; h < weight.shape[0]; ++h) list.push_back(0.5 + 0.25 * static_cast<double>(h));
          if (name == "threshold") list = {3.5};
          one.arguments.set(name, list);
        } else {
          one.arguments.set(name, short_numbers(weight.shape, ++seed));
        }
      }
    }
  }
  return all;
}

/// One call and its gradients; learned ones under the names of the scheme's weights.
template <class T>
class Backward {
 public:
  Backward(const Extents& e, const Learned& learned, double size = 1)
      : t(e, 5, size), learned_(learned), encoding(learned.scheme, learned.arguments) {
    g = random_elements<T>(t.q.size(), 17);
    t.call.encoding = &encoding;
  }

  AttentionWork run() {
    attend(t.call);
    const auto like = [](const HeadsView& view, std::vector<T>& data, std::size_t count) {
      data.assign(count, element<T>(77.0));
      HeadsView made = view;
      made.data = data.data();
      return made;
    };
    AttentionGradientCall call;
    call.forward = t.call;
    call.output_gradient = t.call.output;
    call.output_gradient.data = g.data();
    call.query_gradient = like(t.call.query, dq, t.q.size());
    call.key_gradient = like(t.call.key, dk, t.k.size());
    call.value_gradient = like(t.call.value, dv, t.v.size());
    NamedGradients named(encoding);
    call.learned = named.spans();
    for (const LearnedWeight& weight : encoding.learned_weights()) {
      const std::span<double> sums = call.learned.*gradient_member(weight.gradient);
      std::fill(sums.begin(), sums.end(), 77.0);
    }
    sinks.assign(t.call.sink_logits.size(), 77.0);
    call.learned.sink_logits = sinks;
    const AttentionWork work = attend_backward(call);
    weights.clear();
    for (const std::string& name : learned_.weights) {
      for (const LearnedWeight& weight : encoding.learned_weights()) {
        if (weight.name == name) weights.push_back(named.of(weight));
      }
    }
    return work;
  }

  Tensors<T> t;
  Learned learned_;
  Encoding encoding;
  std::vector<T> g, dq, dk, dv;
  std::vector<double> sinks;
  std::vector<std::vector<double>> weights;  ///< in the order of learned_.weights
};

struct BackwardMask {
  std::string name;
  Mask mask;
};

inline std::vector<BackwardMask> backward_masks(std::int64_t queries, std::int64_t keys) {
  static std::vector<std::uint8_t> padding, pairs;
  padding.assign(static_cast<std::size_t>(keys), 1);
  padding.front() = padding.back() = padding[static_cast<std::size_t>(keys / 2)] = 0;
  pairs.clear();
  Random dice(5);
  for (std::int64_t i = 0; i < queries * keys; ++i) pairs.push_back(i / keys == 1 ? 0 : dice.between(0, 2) > 0);
  return {{"full", {}},
          {"causal", {.causal = true}},
          {"causal by index", {.causal = true, .by_index = true}},
          {"prefix", {.causal = true, .prefix = 3}},
          {"window", {.window = 2}},
          {"causal window and sinks", {.causal = true, .window = 2, .sinks = 2}},
          {"padding", {.keys = padding}},
          {"pairs", {.pairs = pairs}},
          {"custom", {.causal = true, .custom = [](std::int64_t b, std::int64_t h, std::int64_t q, std::int64_t k) {
                        return (q + k + b + h) % 3 != 0;
                      }}}};
}

}  // namespace locus::testing
