// SPDX-License-Identifier: Apache-2.0
// query_temperature/: queries of Llama 4, Ministral 3 and Mistral 4 with their factor by position, and the attention on
// them.
#include <numeric>

#include "locus/attention.h"
#include "rotation_check.h"

namespace locus::testing {
namespace {

class QueryTemperatureOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"query_temperature", GetParam()};
  const Json& settings_ = peer_.json().at("settings");
  std::vector<Position> positions_ = peer_.integers("positions");
  std::int64_t tokens_ = static_cast<std::int64_t>(positions_.size());

  std::string scheme() const { return settings_.at("scheme"); }
  bool latent() const { return settings_.contains("qk_rope_head_dim"); }
  std::int64_t integer(const char* key) const { return settings_.at(key).get<std::int64_t>(); }
  std::int64_t head_dim() const {
    return latent() ? integer("qk_nope_head_dim") + integer("qk_rope_head_dim") : integer("head_dim");
  }

  Encoding encoding() const { return scheme() == "llama4" ? llama4() : from_config(); }

  Encoding llama4() const {
    const bool tuned = settings_.at("attn_temperature_tuning").get<bool>();
    if (!settings_.at("use_rope").get<bool>()) {
      if (!tuned) return Encoding("nope");
      return Encoding("query_temperature", {{"head_dim", head_dim()},
                                            {"temperature_length", integer("floor_scale")},
                                            {"temperature_beta", settings_.at("attn_scale").get<double>()},
                                            {"temperature_shift", integer("position_offset_in_factor")}});
    }
    Json rope = settings_.at("rope_extra").is_null() ? Json::object() : settings_.at("rope_extra");
    rope["rope_theta"] = settings_.at("rope_theta");
    rope["rope_type"] = settings_.at("rope_type");
    return encoding_of({{"model_type", "llama"},
                        {"head_dim", head_dim()},
                        {"max_position_embeddings", 131072},
                        {"rope_parameters", rope}},
                       {.layer_type = {}, .pairing = settings_.at("pairing").get<std::string>(), .length = {}});
  }

  /// By the model type, as the product reads the model's file.
  Encoding from_config() const {
    Json config = {{"model_type", latent() ? "mistral4" : "ministral3"},
                   {"num_attention_heads", integer("heads")},
                   {"hidden_size", integer("heads") * head_dim()},
                   {"max_position_embeddings", 1 << 20},
                   {"rope_parameters", settings_.at("rope_parameters")}};
    if (latent()) {
      for (const char* key :
           {"qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim", "kv_lora_rank", "rope_interleave"}) {
        config[key] = settings_.at(key);
      }
    } else {
      config["head_dim"] = head_dim();
    }
    return encoding_of(config, {.layer_type = {}, .pairing = {}, .length = {}});
  }

  /// [tokens, heads, d]; Mistral 4 makes its keys from a latent vector.
  std::vector<double> inputs(const std::string& array) const {
    if (array == "q" || !latent()) return peer_.doubles(array);
    const std::vector<double> latent_k = peer_.doubles("latent_k"), weights = peer_.doubles("kv_b");
    const std::int64_t rank = integer("kv_lora_rank"), nope = integer("qk_nope_head_dim");
    const std::int64_t rope = integer("qk_rope_head_dim"), value = integer("v_head_dim");
    std::vector<double> keys;
    for (std::int64_t t = 0; t < tokens_; ++t) {
      const auto row = latent_k.begin() + t * (rank + rope);
      for (std::int64_t h = 0; h < integer("heads"); ++h) {
        for (std::int64_t i = 0; i < nope; ++i) {
          keys.push_back(std::inner_product(row, row + rank, weights.begin() + (h * (nope + value) + i) * rank, 0.0));
        }
        keys.insert(keys.end(), row + rank, row + rank + rope);
      }
    }
    return keys;
  }

  /// Rows of this width, each padded with zeros to that of a head.
  std::vector<double> padded(const std::vector<double>& rows, std::int64_t width) const {
    std::vector<double> all;
    for (auto row = rows.begin(); row != rows.end(); row += width) {
      all.insert(all.end(), row, row + width);
      all.insert(all.end(), static_cast<std::size_t>(head_dim() - width), 0.0);
    }
    return all;
  }

  /// [tokens, key heads, d].
  std::vector<double> values() const {
    if (!latent()) return peer_.doubles("v");
    const std::vector<double> latent_k = peer_.doubles("latent_k"), weights = peer_.doubles("kv_b");
    const std::int64_t rank = integer("kv_lora_rank"), nope = integer("qk_nope_head_dim"),
                       value = integer("v_head_dim");
    std::vector<double> all;
    for (std::int64_t t = 0; t < tokens_; ++t) {
      const auto row = latent_k.begin() + t * (rank + integer("qk_rope_head_dim"));
      for (std::int64_t h = 0; h < integer("heads"); ++h) {
        for (std::int64_t i = 0; i < value; ++i) {
          const std::int64_t at = (h * (nope + value) + nope + i) * rank;
          all.push_back(std::inner_product(row, row + rank, weights.begin() + at, 0.0));
        }
      }
    }
    return padded(all, value);
  }

  HeadsView view(std::vector<double>& data) const {
    const std::int64_t d = static_cast<std::int64_t>(data.size()) / tokens_;
    const std::int64_t extents[] = {tokens_, d / head_dim(), head_dim()};
    return heads_view(data.data(), ElementType::float64, "thd", extents);
  }

  /// Llama 4 norms queries and keys of its rotated layers.
  void norm(std::vector<double>& data) const {
    if (!settings_.value("use_qk_norm", false) || !settings_.at("use_rope").get<bool>()) return;
    const auto d = static_cast<std::ptrdiff_t>(head_dim());
    for (auto head = data.begin(); head != data.end(); head += d) {
      const double square = std::inner_product(head, head + d, head, 0.0) / static_cast<double>(d);
      const double size = std::sqrt(square + settings_.at("rms_norm_eps").get<double>());
      std::for_each(head, head + d, [&](double& x) { x /= size; });
    }
  }

  std::vector<double> rotated_by(const std::string& array, bool by_reference) const {
    std::vector<double> data = inputs(array);
    const Encoding e = encoding();
    const PositionIds ids{.tokens = tokens_, .ids = positions_};
    const Role role = array == "q" ? Role::query : Role::key;
    if (e.site() == Site::none) return data;
    if (!by_reference) {
      rotate(e, view(data), ids, role);
    } else {
      const auto d = static_cast<std::size_t>(head_dim());
      for (std::size_t at = 0; at < data.size(); at += d) {
        const Position id[] = {positions_[at * positions_.size() / data.size()]};
        const std::vector<double> out =
            reference::rotate(e.rotation(), role, Direction::forward, id, std::span(data).subspan(at, d));
        std::copy(out.begin(), out.end(), data.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
    norm(data);
    return data;
  }

  /// The peer's [batch, heads, tokens, d] in our order.
  std::vector<double> by_token(const std::string& array) const {
    const std::vector<double> values = peer_.doubles(array);
    const std::int64_t heads = peer_.shape(array).at(1), d = head_dim();
    std::vector<double> result(values.size());
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t t = 0; t < tokens_; ++t) {
        std::copy_n(values.begin() + (h * tokens_ + t) * d, d, result.begin() + (t * heads + h) * d);
      }
    }
    return result;
  }

  double largest_position() const {
    return static_cast<double>(*std::max_element(positions_.begin(), positions_.end()));
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, QueryTemperatureOracle, ::testing::ValuesIn(oracle_cases("query_temperature")),
                         case_name);

class QueryTemperatureOracleFactor : public QueryTemperatureOracle {};
INSTANTIATE_TEST_SUITE_P(Oracle, QueryTemperatureOracleFactor,
                         ::testing::ValuesIn(cases_with("query_temperature", "factor_f64")), case_name);
class QueryTemperatureOracleRotated : public QueryTemperatureOracle {};
INSTANTIATE_TEST_SUITE_P(Oracle, QueryTemperatureOracleRotated,
                         ::testing::ValuesIn(cases_with("query_temperature", "inv_freq_f64")), case_name);

TEST_P(QueryTemperatureOracleFactor, ByPosition) {
  const Rotation rotation = encoding().rotation();
  const std::vector<double> want = peer_.doubles("factor_f64");
  Worst kernel("kernel"), exact("reference");
  for (std::size_t t = 0; t < want.size(); ++t) {
    kernel.see(rotation.query_scale->at(positions_[t]), want[t], 1e-12, t);
    exact.see(reference::query_factor(rotation, Role::query, positions_[t]), want[t], 1e-12, t);
    EXPECT_EQ(reference::query_factor(rotation, Role::key, positions_[t]), 1);
  }
}

TEST_P(QueryTemperatureOracleRotated, Frequencies) {
  const Rotation rotation = encoding().rotation();
  const std::vector<double> want = peer_.doubles("inv_freq_f64");
  ASSERT_EQ(rotation.inv_freq.size(), want.size());
  Worst worst("inv_freq");
  for (std::size_t i = 0; i < want.size(); ++i) worst.see(rotation.inv_freq[i], want[i], 1e-12 * want[i], i);
  EXPECT_NEAR(rotation.magnitude, peer_.doubles("attention_factor_f64").at(0), 1e-12);
  if (!peer_.has("softmax_scale_f64")) return;
  EXPECT_NEAR(rotation.softmax_scale_factor / std::sqrt(static_cast<double>(head_dim())),
              peer_.doubles("softmax_scale_f64").at(0), 1e-12);
}

// Two products and a sum of cos, sin and the factor; 1e-16 per position for the peer's angles.
TEST_P(QueryTemperatureOracle, InDouble) {
  for (const std::string array : {"q", "k"}) {
    const std::vector<double> want = by_token(array + "_out_f64");
    for (const bool by_reference : {false, true}) {
      const std::vector<double> got = rotated_by(array, by_reference);
      ASSERT_EQ(got.size(), want.size());
      double size = 0;
      for (const double x : want) size = std::max(size, std::fabs(x));
      Worst worst(array + (by_reference ? ".reference" : ".kernel"));
      for (std::size_t i = 0; i < got.size(); ++i)
        worst.see(got[i], want[i], 4 * size * double_bound(largest_position()), i);
    }
  }
}

// Mistral 4's values are narrower than its keys; attention gets them padded with zeros.
TEST_P(QueryTemperatureOracle, Attention) {
  std::vector<double> q = rotated_by("q", false), k = rotated_by("k", false), v = values();
  std::vector<double> out(q.size());
  const AttentionCall call{
      .query = view(q),
      .key = view(k),
      .value = view(v),
      .output = view(out),
      .mask = {.causal = true, .by_index = true},
      .scale = latent() ? peer_.doubles("softmax_scale_f64").at(0) : settings_.at("softmax_scale").get<double>()};
  attend(call);
  const std::vector<double> want = padded(peer_.doubles("attn_f64"), peer_.shape("attn_f64").back());
  ASSERT_EQ(out.size(), want.size());
  Worst worst("attn");
  for (std::size_t i = 0; i < out.size(); ++i) worst.see(out[i], want[i], 64 * double_bound(largest_position()), i);
}

}  // namespace
}  // namespace locus::testing
