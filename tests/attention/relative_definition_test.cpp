// SPDX-License-Identifier: Apache-2.0
// Attention with relative keys, against the papers' formulas written out here once more: nothing is shared with the
// library or its reference. Ids are negative, repeated, scattered and at the ends of the range.
//
//   Transformer-XL: scale ((q + u) . k + (q + v) . W_r R_n),  R_n = [sin n w_m | cos n w_m],  n = query - key
//   Shaw:           scale (q . k + q . a_n), the row a_n of the clipped offset; values v + b_n
#include <functional>

#include "attention_check.h"

namespace locus::testing::relative_definition {  // its names are those of other tests too
namespace {

using Int = std::int64_t;

constexpr Int heads = 2, dim = 6, queries = 7, keys = 9;
constexpr Int last = (Int{1} << 31) - 1;

struct Ids {
  std::vector<Position> query, key;
};

/// Ids of every kind, some of them twice under other dice.
std::vector<Ids> all_ids() {
  Random dice(5);
  const auto advancing = [](Position first, Int count) { return ids_from(first, count); };
  const auto scattered = [&](Position middle, Int spread, Int count) {
    std::vector<Position> ids;
    for (Int i = 0; i < count; ++i) {
      ids.push_back(std::clamp<Position>(middle + dice.between(0, 2 * spread) - spread, -last, last));
    }
    return ids;
  };
  std::vector<Ids> all = {{advancing(2, queries), advancing(0, keys)},
                          {advancing(-4, queries), advancing(-6, keys)},
                          {advancing(-last, queries), advancing(-last, keys)},
                          {advancing(last - queries + 1, queries), advancing(last - keys + 1, keys)},
                          {advancing(last - queries + 1, queries), advancing(-last, keys)},
                          {advancing(-last, queries), advancing(last - keys + 1, keys)},
                          {std::vector<Position>(queries, 3), std::vector<Position>(keys, 3)}};
  for (const Int spread : {Int{3}, Int{40}, Int{5000}, last}) {
    all.push_back({scattered(0, spread, queries), scattered(0, spread, keys)});
    all.push_back({scattered(-spread, spread, queries), scattered(spread, spread, keys)});
  }
  return all;
}

Tensor random_tensor(std::vector<Int> shape, std::uint64_t seed) {
  std::size_t count = 1;
  for (const Int extent : shape) count *= static_cast<std::size_t>(extent);
  return {std::move(shape), random_elements<float>(count, seed)};
}

double at(const Tensor& tensor, Int row, Int column) {
  return static_cast<double>(tensor.data[static_cast<std::size_t>(row * tensor.shape[1] + column)]);
}

struct Sum {
  double value = 0;
  double size = 0;  ///< the same with the absolute value of every product
};

/// Scores and what is added to the values, by the formula alone.
struct Definition {
  std::function<Sum(Int head, Int query, Int key, Position query_id, Position key_id)> score;
  std::function<double(Position query_id, Position key_id, Int column)> added_to_value;
};

template <class T>
double element_of(const std::vector<T>& data, Int token, Int head, Int column) {
  return value_of(data[static_cast<std::size_t>((token * heads + head) * dim + column)]);
}

/// attend() and the reference over all ids, with and without a causal mask.
template <class T>
void check(const Encoding& encoding, const std::function<Definition(const Tensors<T>&)>& define, double bound) {
  for (const Ids& ids : all_ids()) {
    for (const bool causal : {false, true}) {
      Tensors<T> t({.queries = queries, .keys = keys, .heads = heads, .key_heads = heads, .dim = dim});
      t.call.encoding = &encoding;
      t.call.query_ids = ids.query;
      t.call.key_ids = ids.key;
      t.call.mask.causal = causal;
      attend(t.call);
      const reference::Attention plain = reference::attend(t.call);
      const Definition definition = define(t);
      for (Int h = 0; h < heads; ++h) {
        for (Int i = 0; i < queries; ++i) {
          const Position query_id = ids.query[static_cast<std::size_t>(i)];
          double total = 0, largest = 0;
          std::vector<double> sum(dim, 0.0);
          for (Int j = 0; j < keys; ++j) {
            const Position key_id = ids.key[static_cast<std::size_t>(j)];
            if (causal && key_id > query_id) continue;
            const Sum score = definition.score(h, i, j, query_id, key_id);
            const double weight = std::exp(score.value);
            largest = std::max(largest, score.size);
            total += weight;
            for (Int c = 0; c < dim; ++c) {
              const double value = element_of(t.v, j, h, c) + definition.added_to_value(query_id, key_id, c);
              sum[static_cast<std::size_t>(c)] += weight * value;
            }
          }
          const auto row = static_cast<std::size_t>(h * queries + i);
          const auto described = [&] {
            return "head " + std::to_string(h) + ", query id " + std::to_string(query_id) +
                   (causal ? ", causal" : ", not causal") + ", first key id " + std::to_string(ids.key[0]);
          };
          EXPECT_NEAR(plain.magnitude[row], largest, 1e-6 * largest) << described();
          if (total == 0) {
            EXPECT_EQ(plain.log_sum_exp[row], -HUGE_VAL) << described();
            EXPECT_EQ(t.lse[row], -std::numeric_limits<float>::infinity()) << described();
            continue;
          }
          EXPECT_NEAR(plain.log_sum_exp[row], std::log(total), 1e-7) << described();
          EXPECT_NEAR(t.lse[row], std::log(total), bound + 1e-5) << described();  // handed out as float32
          for (Int c = 0; c < dim; ++c) {
            const double want = sum[static_cast<std::size_t>(c)] / total;
            EXPECT_NEAR(plain.output[row * dim + static_cast<std::size_t>(c)], want, 1e-7) << described();
            EXPECT_NEAR(t.output(0, h, i, c), want, bound) << described();
          }
        }
      }
    }
  }
}

/// Angles as long doubles: at 2^32 positions they are good to 1e-9, and a score sums a hundred of them.
template <class T>
Definition transformer_xl(const Tensors<T>& t, const Tensor& u, const Tensor& v, const Tensor& w_r) {
  return {.score =
              [&, width = w_r.shape[1]](Int head, Int query, Int key, Position query_id, Position key_id) {
                const Int distance = query_id - key_id;
                Sum score;
                for (Int c = 0; c < dim; ++c) {
                  const double q = element_of(t.q, query, head, c), k = element_of(t.k, key, head, c);
                  score.value += (q + at(u, head, c)) * k;
                  score.size += (std::fabs(q) + std::fabs(at(u, head, c))) * std::fabs(k);
                  Sum projected;
                  for (Int m = 0; m < width; ++m) {
                    const Int wave = m % (width / 2);
                    const long double rate =
                        std::pow(10000.0L, -2.0L * static_cast<long double>(wave) / static_cast<long double>(width));
                    const long double angle = static_cast<long double>(distance) * rate;
                    const double product = at(w_r, head * dim + c, m) *
                                           static_cast<double>(m < width / 2 ? std::sin(angle) : std::cos(angle));
                    projected.value += product;
                    projected.size += std::fabs(product);
                  }
                  score.value += (q + at(v, head, c)) * projected.value;
                  score.size += (std::fabs(q) + std::fabs(at(v, head, c))) * projected.size;
                }
                const double scale = 1 / std::sqrt(static_cast<double>(dim));
                return Sum{score.value * scale, score.size * scale};
              },
          .added_to_value = [](Position, Position, Int) { return 0.0; }};
}

TEST(RelativeDefinition, TransformerXl) {
  const Tensor u = random_tensor({heads, dim}, 11), v = random_tensor({heads, dim}, 12);
  const Tensor w_r = random_tensor({heads * dim, 8}, 13);
  const Encoding encoding("transformer_xl",
                          {{"heads", heads}, {"head_dim", dim}, {"model_dim", 8}, {"u", u}, {"v", v}, {"w_r", w_r}});
  check<float>(
      encoding, [&](const auto& t) { return transformer_xl(t, u, v, w_r); }, 2e-4);
  check<double>(
      encoding, [&](const auto& t) { return transformer_xl(t, u, v, w_r); }, 1e-7);
}

struct ShawForm {
  Int left = 0, right = 0;
  bool meets_key = false, scaled = true;
};

/// The offset's row, counted step by step from the middle.
Int shaw_row(const ShawForm& form, Position query_id, Position key_id) {
  Int row = form.left;
  for (Int i = 0; i < std::min<Int>(form.left, query_id - key_id); ++i) --row;
  for (Int i = 0; i < std::min<Int>(form.right, key_id - query_id); ++i) ++row;
  return row;
}

template <class T>
Definition shaw(const Tensors<T>& t, const ShawForm& form, const Tensor& key_table, const Tensor& value_table) {
  return {.score =
              [&](Int head, Int query, Int key, Position query_id, Position key_id) {
                const Int row = shaw_row(form, query_id, key_id);
                const double scale = 1 / std::sqrt(static_cast<double>(dim)), term_scale = form.scaled ? scale : 1;
                Sum score;
                for (Int c = 0; c < dim; ++c) {
                  const double q = element_of(t.q, query, head, c), k = element_of(t.k, key, head, c);
                  const double met = at(key_table, row, c), second = form.meets_key ? k : 0;
                  score.value += q * k * scale + (q + second) * met * term_scale;
                  score.size +=
                      std::fabs(q * k) * scale + (std::fabs(q) + std::fabs(second)) * std::fabs(met) * term_scale;
                }
                return score;
              },
          .added_to_value = [&](Position query_id, Position key_id,
                                Int column) { return at(value_table, shaw_row(form, query_id, key_id), column); }};
}

TEST(RelativeDefinition, Shaw) {
  for (const ShawForm& form : {ShawForm{.left = 4, .right = 2}, ShawForm{.left = 1, .right = 5, .scaled = false},
                               ShawForm{.left = 3, .right = 3, .meets_key = true}}) {
    const Tensor key_table = random_tensor({form.left + form.right + 1, dim}, 21);
    const Tensor value_table = random_tensor({form.left + form.right + 1, dim}, 22);
    const Encoding encoding("shaw", {{"heads", heads},
                                     {"head_dim", dim},
                                     {"clip_left", form.left},
                                     {"clip_right", form.right},
                                     {"meets_key", form.meets_key},
                                     {"scaled", form.scaled},
                                     {"values", true},
                                     {"key_table", key_table},
                                     {"value_table", value_table}});
    check<float>(
        encoding, [&](const auto& t) { return shaw(t, form, key_table, value_table); }, 2e-4);
    check<double>(
        encoding, [&](const auto& t) { return shaw(t, form, key_table, value_table); }, 1e-7);
  }
}

}  // namespace
}  // namespace locus::testing::relative_definition
