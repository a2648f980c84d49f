// SPDX-License-Identifier: Apache-2.0
// Compares attend_backward() with libtorch's autograd in float64: each site in torch operations over queries x keys,
// from the formula in its paper.
#include <torch/torch.h>

#include "attention/backward_check.h"

namespace locus::testing {
namespace {

using torch::Tensor;

constexpr std::int64_t batch = 2, queries = 9, keys = 11, heads = 4, key_heads = 2, dim = 6;

Tensor leaf(const std::vector<double>& values, const std::vector<std::int64_t>& shape) {
  return torch::tensor(values, torch::kFloat64).reshape(shape).set_requires_grad(true);
}

Tensor leaf(const locus::Tensor& tensor) {
  std::vector<double> values(tensor.data.begin(), tensor.data.end());
  return leaf(values, tensor.shape);
}

/// key - query, with the last query at the last key: [queries, keys].
Tensor offsets() { return torch::arange(keys).unsqueeze(0) - torch::arange(keys - queries, keys).unsqueeze(1); }

/// T5, bidirectional, 8 buckets, max_distance 12: 2 exact buckets and 2 logarithmic ones per sign.
Tensor t5_buckets() {
  const Tensor distance = offsets().abs();
  const Tensor steps = torch::log(distance.clamp_min(1).to(torch::kFloat64) / 2) / std::log(12.0 / 2) * 2;
  const Tensor far = (2 + steps.floor().to(torch::kInt64)).clamp_max(3);
  return torch::where(distance < 2, distance, far) + 4 * (offsets() > 0).to(torch::kInt64);
}

/// The case in torch: leaves for everything with a gradient, in the order of Learned::weights.
struct Written {
  Tensor q, k, v, sinks, output;
  std::vector<Tensor> weights;
};

Written write_out(const Backward<double>& b, bool causal, double cap) {
  Written w{leaf(b.t.q, {batch, queries, heads, dim}),
            leaf(b.t.k, {batch, keys, key_heads, dim}),
            leaf(b.t.v, {batch, keys, key_heads, dim}),
            {},
            {},
            {}};
  const std::vector<double> sinks(b.t.call.sink_logits.begin(), b.t.call.sink_logits.end());
  w.sinks = leaf(sinks, {1, heads, 1, 1});
  const Learned& learned = b.learned_;
  for (const std::string& name : learned.weights) {
    w.weights.push_back(learned.scheme == "kerple" ? leaf(learned.arguments.list(name), {heads})
                                                   : leaf(learned.arguments.tensor(name)));
  }
  const Tensor q = w.q.transpose(1, 2);
  const Tensor k = w.k.transpose(1, 2).repeat_interleave(heads / key_heads, 1);
  const Tensor v = w.v.transpose(1, 2).repeat_interleave(heads / key_heads, 1);
  const double scale =
      learned.scheme == "t5" ? 1.0 : 1 / std::sqrt(static_cast<double>(learned.scheme == "deberta" ? 3 * dim : dim));

  Tensor score = scale * torch::matmul(q, k.transpose(-2, -1));
  const Tensor clipped = offsets().clamp(-3, 2) + 3;
  Tensor rows;  // of values, if the encoding has them: [queries, keys, dim]
  if (learned.scheme == "shaw") {
    const bool both = learned.weights.size() > 1;  // that case is unscaled and has meets_key
    const Tensor a = w.weights[0].index({clipped});
    Tensor term = torch::einsum("bhid,ijd->bhij", {q, a});
    if (both) term = term + torch::einsum("bhjd,ijd->bhij", {k, a});
    score = score + (both ? 1.0 : scale) * term;
    if (both) rows = w.weights[1].index({clipped});
  } else if (learned.scheme == "deberta") {  // three rows per sign
    const Tensor chosen = (3 - offsets()).clamp(0, 5);
    const Tensor a = w.weights[0].index({chosen}).reshape({queries, keys, heads, dim});
    const Tensor c = w.weights[1].index({chosen}).reshape({queries, keys, heads, dim});
    score = score + scale * (torch::einsum("bhid,ijhd->bhij", {q, a}) + torch::einsum("bhjd,ijhd->bhij", {k, c}));
  } else if (learned.scheme == "transformer_xl") {
    const std::int64_t width = w.weights[2].size(1);
    const Tensor rates = torch::pow(10000.0, -torch::arange(0, width, 2, torch::kFloat64) / width);
    const Tensor angles = -offsets().to(torch::kFloat64).unsqueeze(-1) * rates;
    const Tensor waves = torch::cat({angles.sin(), angles.cos()}, -1);
    const Tensor r = torch::einsum("hdm,ijm->hijd", {w.weights[2].reshape({heads, dim, width}), waves});
    score = scale * (torch::matmul(q + w.weights[0].unsqueeze(1), k.transpose(-2, -1)) +
                     torch::einsum("bhid,hijd->bhij", {q + w.weights[1].unsqueeze(1), r}));
  }
  if (cap > 0) score = cap * torch::tanh(score / cap);
  if (learned.scheme == "t5") score = score + w.weights[0].index({t5_buckets()}).permute({2, 0, 1});
  if (learned.scheme == "relative_bias") score = score + w.weights[0].index({clipped}).permute({2, 0, 1});
  if (learned.scheme == "kerple") {
    const Tensor n = offsets().abs().to(torch::kFloat64);
    const Tensor r1 = w.weights[0].reshape({heads, 1, 1}), r2 = w.weights[1].reshape({heads, 1, 1});
    const bool power = learned.arguments.text("form") == "power";
    score = score - (power ? r1 * torch::pow(n, r2) : r1 * torch::log1p(r2 * n));
  }
  if (causal) score = score.masked_fill(offsets() > 0, -HUGE_VAL);
  const Tensor all = torch::cat({score, w.sinks.expand({batch, heads, queries, 1})}, -1);
  const Tensor p = torch::softmax(all, -1).narrow(-1, 0, keys);
  w.output = torch::matmul(p, v);
  if (rows.defined()) w.output = w.output + torch::einsum("bhij,ijd->bhid", {p, rows});
  w.output = w.output.transpose(1, 2);
  return w;
}

void expect_same(const std::vector<double>& got, const Tensor& want, double bound, const std::string& what) {
  ASSERT_TRUE(want.defined()) << what;
  const Tensor flat = want.contiguous().reshape({-1});
  ASSERT_EQ(static_cast<std::int64_t>(got.size()), flat.numel()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], flat[static_cast<std::int64_t>(i)].item<double>(), bound) << what << " " << i;
  }
}

TEST(TorchAutograd, EverySite) {
  const std::vector<float> sinks{0.5f, -1.0f, 0.25f, 2.0f};
  const Extents e{batch, queries, keys, heads, key_heads, dim};
  for (const Learned& learned : learned_encodings(heads, dim)) {
    if (learned.scheme == "alibi" || learned.arguments.has("window_height")) continue;  // nothing new to differentiate
    if (learned.scheme == "fire" || learned.scheme == "dynamic_bias" || learned.scheme == "decomposed_2d") continue;
    for (const bool causal : {false, true}) {
      for (const double cap : {0.0, 0.75}) {
        SCOPED_TRACE(learned.scheme + (causal ? " causal" : "") + (cap > 0 ? " capped" : ""));
        Backward<double> b(e, learned, 2);
        b.t.call.mask.causal = causal;
        b.t.call.soft_cap = cap;
        b.t.call.sink_logits = sinks;
        b.run();
        const reference::Attention size = reference::attend(b.t.call);
        ASSERT_LT(*std::max_element(size.magnitude.begin(), size.magnitude.end()), 64);
        const Written w = write_out(b, causal, cap);
        w.output.backward(leaf(b.g, {batch, queries, heads, dim}).detach());
        // The bound of attention_backward.h in float64 for both sides: s is below 64 and |lse| too, values and what
        // meets a score below 8, and no weight sums over more than all rows.
        const double u = 0x1p-53, rows = static_cast<double>(batch * heads * queries);
        const double E = 6 * (dim + 16) * 64 * (cap > 0 ? 1 + 1 / cap : 1) + 6 * keys + 2 * dim + 4 * 64 + 96;
        const double bound = 2 * (E + 2 * (rows + 4)) * u * dim * 8 * 8 * rows;
        expect_same(b.t.out, w.output, bound, "output");
        expect_same(b.dq, w.q.grad(), bound, "query");
        expect_same(b.dk, w.k.grad(), bound, "key");
        expect_same(b.dv, w.v.grad(), bound, "value");
        expect_same(b.sinks, w.sinks.grad(), bound, "sinks");
        for (std::size_t i = 0; i < w.weights.size(); ++i) {
          expect_same(b.weights[i], w.weights[i].grad(), bound, learned.weights[i]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace locus::testing
