// SPDX-License-Identifier: Apache-2.0
// transformer_xl/: sinusoids, relative shift and scores of the attention in transformers, before the softmax.
#include <cmath>

#include "locus/reference.h"
#include "oracle_check.h"

namespace locus::testing {
namespace {

class TransformerXlOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"transformer_xl", GetParam()};
  std::int64_t queries_ = integer("q_len");
  std::int64_t memory_ = integer("mem_len");
  std::int64_t keys_ = queries_ + memory_;
  std::int64_t heads_ = integer("heads");
  std::int64_t head_dim_ = integer("head_dim");
  std::int64_t batch_ = peer_.shape("q").at(1);
  Encoding encoding_{"transformer_xl",
                     {{"heads", heads_},
                      {"head_dim", head_dim_},
                      {"model_dim", integer("d_model")},
                      {"u", tensor_of(peer_, "u")},
                      {"v", tensor_of(peer_, "vbias")},
                      {"w_r", tensor_of(peer_, "Wr")}}};

  std::int64_t integer(const char* key) const { return peer_.json().at(key).get<std::int64_t>(); }

  /// Entry of an array [queries, keys, batch, heads].
  std::size_t at(std::int64_t i, std::int64_t j, std::int64_t b, std::int64_t h) const {
    return static_cast<std::size_t>(((i * keys_ + j) * batch_ + b) * heads_ + h);
  }
  /// One head of an array [tokens, batch, heads x dim].
  std::span<const double> vector(const std::vector<double>& all, std::int64_t t, std::int64_t b, std::int64_t h) const {
    return std::span(all).subspan(static_cast<std::size_t>(((t * batch_ + b) * heads_ + h) * head_dim_),
                                  static_cast<std::size_t>(head_dim_));
  }
  /// Calls visit(query, key, batch, head) for every visible pair of the causal mask.
  template <class Visit>
  void for_each_visible(Visit visit) const {
    for (std::int64_t i = 0; i < queries_; ++i) {
      for (std::int64_t j = 0; j <= memory_ + i; ++j) {
        for (std::int64_t b = 0; b < batch_; ++b) {
          for (std::int64_t h = 0; h < heads_; ++h) visit(i, j, b, h);
        }
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, TransformerXlOracle, ::testing::ValuesIn(oracle_cases("transformer_xl")), case_name);

// Row t is the sinusoid of the distance K - 1 - t. The float32 rates are a power (one last bit) and a reciprocal.
TEST_P(TransformerXlOracle, SinusoidOfTheDistance) {
  const std::vector<double> f64 = peer_.doubles("r_f64");
  const std::vector<double> f32 = peer_.doubles("r_f32");
  Worst worst("r_f64");
  Worst worst_single("r_f32");
  std::size_t entry = 0;
  for (std::int64_t t = 0; t < keys_; ++t) {
    const double distance = static_cast<double>(keys_ - 1 - t);
    for (const double got : reference::hidden_row(encoding_.relative_keys().sinusoid, keys_ - 1 - t)) {
      worst.see(got, f64.at(entry), 1e-12 + distance * 1e-16, entry);
      worst_single.see(got, f32.at(entry), distance * 0x1p-22 + 2e-7, entry);
      ++entry;
    }
  }
  EXPECT_EQ(entry, f64.size());
}

// The shift moves column t of row i to the key whose distance is that of row t of R: K - 1 - t = M + i - j.
TEST_P(TransformerXlOracle, RelativeShiftIsALookupByDistance) {
  const std::vector<double> before = peer_.doubles("rel_shift_in");
  const std::vector<double> after = peer_.doubles("rel_shift_out_f64");
  for_each_visible([&](std::int64_t i, std::int64_t j, std::int64_t b, std::int64_t h) {
    const std::int64_t distance = memory_ + i - j;
    EXPECT_EQ(after[at(i, j, b, h)], before[at(i, keys_ - 1 - distance, b, h)]) << i << ", " << j;
  });
}

TEST_P(TransformerXlOracle, Scores) {
  const std::vector<double> q = peer_.doubles("q");
  const std::vector<double> k = peer_.doubles("k");
  const std::vector<double> f64 = peer_.doubles("logits_masked_f64");
  const std::vector<double> f32 = peer_.doubles("logits_masked_f32");
  const double scale = 1 / std::sqrt(static_cast<double>(head_dim_));
  double largest = 1;
  for_each_visible([&](std::int64_t i, std::int64_t j, std::int64_t b, std::int64_t h) {
    largest = std::max(largest, std::fabs(f64[at(i, j, b, h)]));
  });
  // float32: a rounding per summand of W_r R (model_dim) and of the two products (2 head_dim), sinusoids off by
  // distance x 2^-22 + 2e-7.
  const double single = largest * (static_cast<double>(integer("d_model") + 2 * head_dim_) * 0x1p-24 +
                                   static_cast<double>(keys_) * 0x1p-22 + 2e-7);
  Worst worst("logits_f64");
  Worst worst_single("logits_f32");
  for_each_visible([&](std::int64_t i, std::int64_t j, std::int64_t b, std::int64_t h) {
    const double got = reference::relative_score(encoding_.relative_keys(), h, vector(q, i, b, h), vector(k, j, b, h),
                                                 memory_ + i, j, scale);
    worst.see(got, f64[at(i, j, b, h)], 1e-12 * largest, at(i, j, b, h));
    worst_single.see(got, f32[at(i, j, b, h)], single, at(i, j, b, h));
  });
}

}  // namespace
}  // namespace locus::testing
