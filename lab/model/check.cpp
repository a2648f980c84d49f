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

at::Tensor meet(const at::Tensor& a, const at::Tensor& b) { return at::matmul(a, b.transpose(-2, -1)); }

/// Scores before anything is added to them, and the sums of the absolute values of their products.
struct Scores {
  at::Tensor score, size;
};

/// Rotates the pairs of x [batch, heads, tokens, head_dim] by `change` [tokens] positions.
at::Tensor turned_by(const at::Tensor& x, const Rotation& rotation, const at::Tensor& change) {
  require(rotation.rotary_dim == rotation.head_dim && rotation.pairing == Pairing::half && rotation.axes == 1,
          "the check of remapped offsets takes whole heads with the pairing half");
  const at::Tensor angles = at::outer(change, at::tensor(rotation.inv_freq, at::kDouble));
  const std::int64_t half = rotation.pairs();
  const at::Tensor a = x.narrow(-1, 0, half), b = x.narrow(-1, half, half);
  return at::cat({a * angles.cos() - b * angles.sin(), b * angles.cos() + a * angles.sin()}, -1);
}

/// Products of queries and keys that were rotated at their own positions, where each region of the map has them.
Scores remapped(const at::Tensor& q, const at::Tensor& k, const Rotation& rotation, std::int64_t length) {
  const OffsetMap& map = *rotation.offsets;
  Scores all{at::zeros({q.size(0), q.size(1), length, length}, at::kDouble), {}};
  all.size = at::zeros_like(all.score);
  at::Tensor open = at::ones({length, length}, at::kBool);
  for (const OffsetRegion& region : map.regions) {
    at::Tensor query = at::empty({length}, at::kDouble), key = at::empty({length}, at::kDouble), chosen = open.clone();
    for (std::int64_t i = 0; i < length; ++i) {
      const auto share = [&](Position at) { return static_cast<double>(at) / static_cast<double>(map.denominator); };
      query[i] = share(region.query_at(i)) - static_cast<double>(i);
      key[i] = share(region.key_at(i)) - static_cast<double>(i);
      if (region.first_key) chosen[i] = at::logical_and(open[i], at::arange(length) >= region.first_key(i));
    }
    const at::Tensor there = turned_by(q, rotation, query), here = turned_by(k, rotation, key);
    all.score = at::where(chosen, meet(there, here), all.score);
    all.size = at::where(chosen, meet(there.abs(), here.abs()), all.size);
    open = at::logical_and(open, at::logical_not(chosen));
  }
  return all;
}

/// What tokens bring: number 0 of the query minus that of the key, or of later keys number 1 the other way round.
Scores brought(const AttentionCall& call, std::int64_t numbers) {
  const auto read = [&](const HeadsView& view) {
    return at::from_blob(view.data, {view.batch, view.heads, view.tokens, view.head_dim},
                         {view.batch_stride, view.head_stride, view.token_stride, 1}, at::kDouble);
  };
  const at::Tensor query = read(call.query_numbers), key = read(call.key_numbers);
  const auto each = [](const at::Tensor& of, std::int64_t number, std::int64_t axis) {
    return of.select(-1, number).unsqueeze(axis);
  };
  at::Tensor difference = each(query, 0, -1) - each(key, 0, -2);
  if (numbers > 1) {
    const at::Tensor later = at::ones({call.query.tokens, call.key.tokens}, at::kBool).triu(1);
    difference = at::where(later, each(key, 1, -2) - each(query, 1, -1), difference);
  }
  return {difference, difference.abs()};
}

/// The rows of counted positions: each score's gate is the sigmoid of the products so far, and the gates of the
/// visible keys from a key on are its position.
Scores counted(const RelativeKeys& keys, const at::Tensor& q, const at::Tensor& content, bool causal) {
  at::Tensor gates = at::sigmoid(content);
  if (causal) gates = gates.tril();
  const at::Tensor table = at::tensor(keys.key_table.data, at::kDouble).view({keys.key_table.dim(0), keys.head_dim});
  const at::Tensor places =
      gates.flip(-1).cumsum(-1).flip(-1).clamp_max(static_cast<double>(keys.key_table.dim(0) - 1));
  const at::Tensor below = places.floor(), share = places - below;
  const at::Tensor low = below.to(at::kLong), high = places.ceil().to(at::kLong);
  const auto between = [&](const at::Tensor& products) {
    return products.gather(-1, low) * (1 - share) + products.gather(-1, high) * share;
  };
  return {between(meet(q, table)), between(meet(q.abs(), table.abs()))};
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

  Scores products{meet(q, k), meet(q.abs(), k.abs())};
  if (encoding.site() == Site::query_key && encoding.rotation().offsets) {
    products = remapped(q, k, encoding.rotation(), length);
  }
  at::Tensor score = scale * products.score, size = scale * products.size;
  const auto add = [&](const at::Tensor& term, const at::Tensor& magnitude) {
    score = score + term;
    size = size + magnitude;
  };
  if (bias != nullptr) {
    const at::Tensor values = (bias->before_scale ? scale : 1.0) * bias_of(*bias, length);
    add(values, values.abs());
    if (bias->token_numbers > 0) {
      const Scores numbers = brought(call, bias->token_numbers);
      add(numbers.score, numbers.size);
    }
  }
  at::Tensor value_rows;
  if (keys != nullptr && keys->counted) {
    const Scores rows = counted(*keys, q, score, call.mask.causal);
    add(rows.score, rows.size);
  } else if (keys != nullptr) {
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
