// SPDX-License-Identifier: Apache-2.0
// Compares attend() with torch's matmul and softmax over queries x keys, in double, with the position term evaluated
// pair by pair.
#include <algorithm>
#include <cmath>

#include "locus/error.h"
#include "locus/rows.h"
#include "model/testing.h"

namespace locus::lab {
namespace {

/// Returns [batch, heads, tokens, head_dim] in double.
at::Tensor in_double(const HeadsView& view) {
  return at::from_blob(view.data, {view.batch, view.heads, view.tokens, view.head_dim},
                       {view.batch_stride, view.head_stride, view.token_stride, 1}, at::kFloat)
      .to(at::kDouble);
}

/// Returns the vector of a query and a key in one head: Shaw's row or W_r R(distance).
at::Tensor relative_row(const RelativeKeys& keys, const Tensor& table, std::int64_t head, Position query,
                        Position key) {
  if (keys.index) {
    const std::span<const float> row = keys.row(table, keys.index(query, key), head);
    const at::Tensor first = at::tensor(std::vector<double>(row.begin(), row.end()), at::kDouble);
    if (&table != &keys.key_table || !keys.column_index) return first;
    const std::span<const float> second = keys.row(keys.column_table, keys.column_index(query, key), head);
    return first + at::tensor(std::vector<double>(second.begin(), second.end()), at::kDouble);
  }
  std::vector<double> wave(static_cast<std::size_t>(keys.sinusoid.dim));
  hidden_row(keys.sinusoid, query - key, wave);
  const at::Tensor w = at::tensor(keys.w_r.data, at::kDouble).reshape({keys.heads, keys.head_dim, -1})[head];
  return at::mv(w, at::tensor(wave, at::kDouble));
}

/// Returns [heads, queries, keys, head_dim]; zeros for masked keys.
at::Tensor relative_rows(const RelativeKeys& keys, const Tensor& table, std::int64_t length, bool causal) {
  at::Tensor rows = at::zeros({keys.heads, length, length, keys.head_dim}, at::kDouble);
  for (std::int64_t h = 0; h < keys.heads; ++h) {
    for (std::int64_t i = 0; i < length; ++i) {
      for (std::int64_t j = 0; j < (causal ? i + 1 : length); ++j) rows[h][i][j] = relative_row(keys, table, h, i, j);
    }
  }
  return rows;
}

at::Tensor bias_of(const ScoreBias& bias, std::int64_t length) {
  at::Tensor values = at::empty({bias.heads, length, length}, at::kDouble);
  auto access = values.accessor<double, 3>();
  for (std::int64_t h = 0; h < bias.heads; ++h) {
    for (std::int64_t i = 0; i < length; ++i) {
      for (std::int64_t j = 0; j < length; ++j) access[h][i][j] = bias.value(h, i, j);
    }
  }
  return values;
}

at::Tensor per_head(const Tensor& tensor) {
  return at::tensor(tensor.data, at::kDouble).reshape({-1, 1, tensor.dim(1)});
}

/// The output, the largest sum of absolute terms of a visible score, and the largest value including what the encoding
/// may add to it.
struct Expected {
  at::Tensor output;
  double magnitude = 0;
  double largest_value = 0;
};

Expected expected(const AttentionCall& call) {
  const at::Tensor q = in_double(call.query), k = in_double(call.key), v = in_double(call.value);
  const std::int64_t length = call.query.tokens;
  const Encoding& encoding = *call.encoding;
  double scale = 1 / std::sqrt(static_cast<double>(call.query.head_dim));
  if (encoding.site() == Site::query_key) scale *= encoding.rotation().softmax_scale_factor;
  const ScoreBias* bias = encoding.site() == Site::score ? &encoding.score() : nullptr;
  const RelativeKeys* keys = encoding.site() == Site::relative_key ? &encoding.relative_keys() : nullptr;
  if (bias != nullptr) scale = bias->softmax_scale.value_or(scale);
  if (keys != nullptr) scale = keys->softmax_scale.value_or(scale);

  const auto meet = [](const at::Tensor& a, const at::Tensor& b) { return at::matmul(a, b.transpose(-2, -1)); };
  at::Tensor score = scale * meet(q, k), size = scale * meet(q.abs(), k.abs());
  const auto add = [&](const at::Tensor& term, const at::Tensor& magnitude) {
    score = score + term;
    size = size + magnitude;
  };
  if (bias != nullptr) {
    const at::Tensor values = (bias->before_scale ? scale : 1.0) * bias_of(*bias, length);
    add(values, values.abs());
  }
  at::Tensor value_rows;
  if (keys != nullptr) {
    const double own = keys->scaled ? scale : 1.0;
    const at::Tensor rows = relative_rows(*keys, keys->key_table, length, call.mask.causal);
    const auto along = [&](const at::Tensor& heads, const at::Tensor& met, const char* form) {
      add(own * at::einsum(form, {heads, met}), own * at::einsum(form, {heads.abs(), met.abs()}));
    };
    along(q, rows, "bhid,hijd->bhij");
    if (keys->meets_keys()) {
      along(k, relative_rows(*keys, keys->meeting_table(), length, call.mask.causal), "bhjd,hijd->bhij");
    }
    if (!keys->u.data.empty()) {
      add(own * meet(per_head(keys->u), k), own * meet(per_head(keys->u).abs(), k.abs()));
      along(per_head(keys->v).expand({-1, length, -1}).unsqueeze(0), rows, "bhid,hijd->bhij");
    }
    if (!keys->value_table.data.empty()) value_rows = relative_rows(*keys, keys->value_table, length, call.mask.causal);
  }
  if (call.mask.causal) {
    const at::Tensor later = at::ones({length, length}, at::kBool).triu(1);
    score = score.masked_fill(later, -HUGE_VAL);
    size = size.masked_fill(later, 0);
  }
  const at::Tensor p = at::softmax(score, -1);
  at::Tensor output = at::matmul(p, v);
  double largest = v.abs().max().item<double>();
  if (value_rows.defined()) {
    output = output + at::einsum("bhij,hijd->bhid", {p, value_rows});
    largest += value_rows.abs().max().item<double>();
  }
  return {output, size.max().item<double>(), largest};
}

}  // namespace

void check_attention(const AttentionCall& call) {
  const Expected want = expected(call);
  // From attention.h, u = 2^-24: the error of the output, the omitted far keys, and one rounding of the output.
  const double u = 0x1p-24;
  const auto dim = static_cast<double>(call.query.head_dim), keys = static_cast<double>(call.key.tokens);
  const double bound = (2 * (dim + 16) * want.magnitude + 4 * keys + 16 + 2) * u * want.largest_value;
  const double error = (in_double(call.output) - want.output).abs().max().item<double>();
  require(error <= bound, "the fused attention of ", call.encoding->scheme().name, " differs by ", error,
          " from torch's, more than the bound (", bound, ")");
}

void check_against_torch(Transformer& model, const Encoding& encoding, std::int64_t length, std::int64_t seed) {
  const NoGradGuard no_gradients;
  const std::int64_t tokens = std::min<std::int64_t>(length, 24);
  Random random(mix_seed(seed, "check"));
  std::vector<std::int64_t> row;
  for (std::int64_t i = 0; i < tokens; ++i) {
    row.push_back(random.below(model.spec().vocabulary));
  }
  const Questions questions{1, tokens, at::tensor(row, at::kLong), at::tensor({std::int64_t{0}}, at::kLong), {}};
  model.observe(check_attention);
  model.logits(questions, encoding);
  model.observe({});
}

}  // namespace locus::lab
