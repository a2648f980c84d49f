// SPDX-License-Identifier: Apache-2.0
// deberta_attention/: content to position and position to content, of DeBERTa v1, v2 and v3.
#include "attend_check.h"

namespace locus::testing {
namespace {

using Numbers = std::vector<double>;

/// x W^T + b, for rows of x.
Numbers projected(const Numbers& x, const Numbers& w, const Numbers& b, std::size_t width) {
  Numbers result;
  const std::size_t outputs = w.size() / width;
  for (std::size_t row = 0; row < x.size() / width; ++row) {
    for (std::size_t o = 0; o < outputs; ++o) {
      double sum = b.empty() ? 0 : b[o];
      for (std::size_t i = 0; i < width; ++i) sum += x[row * width + i] * w[o * width + i];
      result.push_back(sum);
    }
  }
  return result;
}

Tensor rounded(const Numbers& values, std::int64_t width) {
  return {.shape = {static_cast<std::int64_t>(values.size()) / width, width},
          .data = std::vector<float>(values.begin(), values.end())};
}

class DebertaAttentionOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"deberta_attention", GetParam()};
  const Json settings_ = peer_.json().at("settings");
  std::int64_t heads_ = integer("heads"), head_dim_ = integer("head_dim"), width_ = heads_ * head_dim_;

  std::int64_t integer(const char* key) const { return settings_.at(key).get<std::int64_t>(); }
  bool has_term(const std::string& name) const {
    const Json& terms = settings_.at("pos_att_type");
    return std::find(terms.begin(), terms.end(), name) != terms.end();
  }
  bool first_version() const { return settings_.at("scheme") == "DeBERTa v1"; }

  Arguments arguments() const {
    Arguments all{{"heads", heads_},
                  {"head_dim", head_dim_},
                  {"max_relative_positions", integer("max_relative_positions")},
                  {"c2p", has_term("c2p")},
                  {"p2c", has_term("p2c")}};
    if (!first_version()) {
      all.set("position_buckets", std::max<std::int64_t>(integer("position_buckets"), 0));
      if (has_term("c2p")) all.set("key_table", rounded(peer_.doubles("pos_key_f64"), width_));
      if (has_term("p2c")) all.set("query_table", rounded(peer_.doubles("pos_query_f64"), width_));
      return all;
    }
    const Numbers embeddings = peer_.doubles("rel_embeddings");
    const auto width = static_cast<std::size_t>(width_);
    if (has_term("c2p")) all.set("key_table", rounded(projected(embeddings, peer_.doubles("Wpk"), {}, width), width_));
    if (has_term("p2c")) {
      all.set("query_table", rounded(projected(embeddings, peer_.doubles("Wpq"), peer_.doubles("bpq"), width), width_));
    }
    return all;
  }

  // v1 projects the hidden state by one matrix, [heads][query, key, value][head_dim], with biases for q and v only.
  PeerTensors tensors() const {
    if (!first_version()) return PeerTensors::of(peer_, "bthd", "_f64");
    const std::vector<std::int64_t> hidden = peer_.shape("hidden");
    const Numbers all =
        projected(peer_.doubles("hidden"), peer_.doubles("W_in"), {}, static_cast<std::size_t>(hidden.at(2)));
    const Numbers of_query = peer_.doubles("q_bias"), of_value = peer_.doubles("v_bias");
    PeerTensors result{.axes = "bthd",
                       .q = {},
                       .k = {},
                       .v = {},
                       .query_shape = {hidden[0], hidden[1], heads_, head_dim_},
                       .key_shape = {hidden[0], hidden[1], heads_, head_dim_}};
    for (std::int64_t token = 0; token < hidden[0] * hidden[1]; ++token) {
      for (std::int64_t i = 0; i < width_; ++i) {
        const std::int64_t head = i / head_dim_, j = i % head_dim_;
        const auto part = [&](std::int64_t which) {
          return all[static_cast<std::size_t>((token * heads_ + head) * 3 * head_dim_ + which * head_dim_ + j)];
        };
        result.q.push_back(part(0) + of_query[static_cast<std::size_t>(i)]);
        result.k.push_back(part(1));
        result.v.push_back(part(2) + of_value[static_cast<std::size_t>(i)]);
      }
    }
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, DebertaAttentionOracle, ::testing::ValuesIn(oracle_cases("deberta_attention")),
                         case_name);

// relative_pos is what the peer made of the offset, before the span is added.
TEST_P(DebertaAttentionOracle, Buckets) {
  const Encoding encoding("deberta", arguments());
  const std::int64_t tokens = peer_.shape("relative_pos").at(0);
  const std::int64_t span = encoding.relative_keys().key_table.dim(0) / 2;
  const std::vector<std::int64_t> want = peer_.integers("relative_pos");
  for (std::int64_t i = 0; i < tokens; ++i) {
    for (std::int64_t j = 0; j < tokens; ++j) {
      const std::int64_t row =
          std::clamp<std::int64_t>(want[static_cast<std::size_t>(i * tokens + j)] + span, 0, 2 * span - 1);
      EXPECT_EQ(encoding.relative_keys().index(i, j), row) << i << ", " << j;
    }
  }
}

// The tables are rounded to float32: 2^-24 of each product.
TEST_P(DebertaAttentionOracle, ScoresAndOutputs) {
  const Encoding encoding("deberta", arguments());
  const PeerTensors given = tensors();
  AttentionCall call;
  call.encoding = &encoding;
  std::vector<std::uint8_t> pairs;
  PeerResults want{peer_.doubles("out_f64"), peer_.doubles("scores_f64"), 0x1p-23};
  if (peer_.has("mask")) {
    for (const std::int64_t seen : peer_.integers("mask")) pairs.push_back(seen != 0 ? 1 : 0);
    call.mask.pairs = pairs;
    if (!settings_.at("lengths").is_null()) want.out.clear();  // rows of padding: uniform there, zero here
  }
  expect_attention(given, call, want);
}

}  // namespace
}  // namespace locus::testing
