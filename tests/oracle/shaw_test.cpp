// SPDX-License-Identifier: Apache-2.0
// shaw/: scores of BERT in transformers (relative_key, relative_key_query) and of tensor2tensor, before the softmax.
#include <cmath>

#include "locus/reference.h"
#include "oracle_check.h"

namespace locus::testing {
namespace {

class ShawOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"shaw", GetParam()};
  const Json& json_ = peer_.json();
  bool bert_ = json_.contains("hf");
  std::vector<std::int64_t> logits_ = peer_.shape("logits_f64");  // [batch, heads, queries, keys]
  std::int64_t heads_ = logits_[1];
  std::int64_t length_ = logits_[2];
  std::int64_t head_dim_ = bert_ ? json_.at("head_dim").get<std::int64_t>() : peer_.shape("q").at(3);

  Encoding encoding() const {
    Arguments arguments{{"heads", heads_}, {"head_dim", head_dim_}};
    if (bert_) {
      const std::string form = json_.at("hf");
      arguments.set("clip_left", json_.at("max_position_embeddings").get<std::int64_t>() - 1);
      arguments.set("clip", json_.at("clip").get<bool>());
      arguments.set("index", std::string("query_minus_key"));
      arguments.set("meets_key", form.ends_with("relative_key_query"));
      arguments.set("key_table", tensor_of(peer_, "table"));
    } else {
      arguments.set("clip_left", json_.at("max_relative_position").get<std::int64_t>());
      arguments.set("scaled", false);
      arguments.set("key_table", tensor_of(peer_, "key_table"));
      arguments.set("value_table", tensor_of(peer_, "value_table"));
    }
    return Encoding("shaw", arguments);
  }

  /// One head's vector: BERT has [batch, length, heads x dim], tensor2tensor [batch, heads, length, dim].
  std::span<const double> vector(const std::vector<double>& all, std::int64_t b, std::int64_t h, std::int64_t t) const {
    const std::int64_t row = bert_ ? (b * length_ + t) * heads_ + h : (b * heads_ + h) * length_ + t;
    return std::span(all).subspan(static_cast<std::size_t>(row * head_dim_), static_cast<std::size_t>(head_dim_));
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, ShawOracle, ::testing::ValuesIn(oracle_cases("shaw")), case_name);

TEST_P(ShawOracle, Scores) {
  const Encoding shaw = encoding();
  const std::vector<double> q = peer_.doubles("q");
  const std::vector<double> k = peer_.doubles("k");
  const std::vector<double> f64 = peer_.doubles("logits_f64");
  const std::vector<double> f32 = peer_.doubles("logits_f32");
  std::vector<double> mask(static_cast<std::size_t>(length_ * length_), 0.0);
  if (peer_.has("bias")) mask = peer_.doubles("bias");
  const double scale = bert_ ? 1 / std::sqrt(static_cast<double>(head_dim_)) : 1;
  // A float32 score sums 3 products of each coordinate at most, each below the largest |logit| by far: a rounding each.
  double largest = 1;
  for (std::size_t i = 0; i < f64.size(); ++i) {
    if (f64[i] > -1e8) largest = std::max(largest, std::fabs(f64[i]));
  }
  const double f32_bound = 3 * static_cast<double>(head_dim_) * 0x1p-24 * largest;
  Worst worst("logits_f64");
  Worst worst_single("logits_f32");
  std::size_t entry = 0;
  for (std::int64_t b = 0; b < logits_[0]; ++b) {
    for (std::int64_t h = 0; h < heads_; ++h) {
      for (std::int64_t i = 0; i < length_; ++i) {
        for (std::int64_t j = 0; j < length_; ++j, ++entry) {
          const double added = mask[static_cast<std::size_t>(i * length_ + j)];
          if (added < -1e8) continue;  // masked: the position term is lost in it
          const double got = reference::relative_score(shaw.relative_keys(), h,
                                                       {vector(q, b, h, i), vector(k, b, h, j), i, j}, scale) +
                             added;
          worst.see(got, f64[entry], 1e-12 * largest, entry);
          worst_single.see(got, f32[entry], f32_bound, entry);
        }
      }
    }
  }
}

std::vector<std::string> cases_with_an_index() {
  std::vector<std::string> names = oracle_cases("shaw");
  std::erase_if(names, [](const std::string& name) { return !OracleCase("shaw", name).has("relpos_index"); });
  return names;
}

class ShawIndexOracle : public ShawOracle {};
INSTANTIATE_TEST_SUITE_P(Oracle, ShawIndexOracle, ::testing::ValuesIn(cases_with_an_index()), case_name);

TEST_P(ShawIndexOracle, RowOfEveryQueryAndKey) {
  const Encoding shaw = encoding();
  std::vector<std::int64_t> got;
  for (std::int64_t i = 0; i < length_; ++i) {
    for (std::int64_t j = 0; j < length_; ++j) got.push_back(shaw.relative_keys().index(i, j));
  }
  EXPECT_EQ(got, peer_.integers("relpos_index"));
}

}  // namespace
}  // namespace locus::testing
