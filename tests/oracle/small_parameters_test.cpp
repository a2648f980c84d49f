// SPDX-License-Identifier: Apache-2.0
// small_parameters/: TeleChat 3's magnitude, NTK fixed and mixed, HunYuan's alpha, and forms of ALiBi.
#include "locus/bias.h"
#include "locus/positions.h"
#include "locus/rows.h"
#include "rotation_check.h"

namespace locus::testing {
namespace {

class SmallParametersOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"small_parameters", GetParam()};
  const Json& settings_ = peer_.json().at("settings");

  void expect_alibi() const;
  void expect_rope() const;
  std::string scheme() const { return settings_.at("scheme"); }
  std::int64_t integer(const char* key) const { return settings_.at(key).get<std::int64_t>(); }
  double real(const char* key) const { return settings_.at(key).get<double>(); }

  /// By rope_type, as the product reads a config.
  Encoding rope() const {
    Json block{{"rope_theta", settings_.at("rope_theta")}};
    Json config{{"model_type", "llama"}, {"head_dim", settings_.at("head_dim")}, {"max_position_embeddings", 4096}};
    if (scheme() == "telechat3-yarn") {
      config["max_position_embeddings"] = settings_.at("max_position_embeddings");
      block["rope_type"] = "telechat3-yarn";
      for (const char* key :
           {"original_max_position_embeddings", "beta_fast", "beta_slow", "attn_factor", "truncate"}) {
        block[key] = settings_.at(key);
      }
      block["factor"] = 77;  // vLLM does not look at it
    } else if (scheme() == "ntk") {
      block["rope_type"] = "ntk";
      block["factor"] = settings_.at("factor");
      block["mixed_b"] = settings_.at("mixed_b");  // null: fixed
    } else {
      config["model_type"] = "hunyuan_v1_dense";
      block["rope_type"] = "dynamic";
      block["factor"] = 1;
      block["alpha"] = settings_.at("alpha");
    }
    config["rope_parameters"] = block;
    return encoding_of(config, {.layer_type = {}, .pairing = "half", .length = {}});
  }

  /// The heads of each rank after the other.
  void expect_slopes_by_rank(std::int64_t heads, std::int64_t ranks, const Arguments& more) const {
    const std::vector<double> want = peer_.doubles("slopes_by_rank_f64");
    ASSERT_EQ(want.size(), static_cast<std::size_t>(heads));
    Worst worst("slopes");
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      Arguments arguments = more;
      arguments.set("heads", heads / ranks);
      arguments.set("first_head", rank * (heads / ranks));
      arguments.set("total_heads", heads);
      const Encoding alibi("alibi", arguments);
      for (std::int64_t h = 0; h < heads / ranks; ++h) {
        const auto at = static_cast<std::size_t>(rank * (heads / ranks) + h);
        worst.see(-alibi.score().value(h, 8, 7), want[at], 1e-12 * want[at], at);  // distance 1
      }
    }
  }

  /// Queries are the last of the keys.
  void expect_bias(const Encoding& alibi, std::int64_t queries, std::int64_t keys) const {
    const std::vector<Position> ids = positions::prefill(keys).ids;
    const std::vector<double> want = peer_.doubles("bias_f64");
    const std::vector<double> got = bias_matrix(alibi, std::span(ids).last(static_cast<std::size_t>(queries)), ids);
    ASSERT_EQ(got.size(), want.size());
    Worst worst("bias");
    for (std::size_t i = 0; i < got.size(); ++i) worst.see(got[i], want[i], 1e-12, i);
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, SmallParametersOracle, ::testing::ValuesIn(oracle_cases("small_parameters")),
                         case_name);

// A case is a form of ALiBi or a rule of RoPE.
TEST_P(SmallParametersOracle, InDouble) { peer_.has("inv_freq_f64") ? expect_rope() : expect_alibi(); }

void SmallParametersOracle::expect_alibi() const {
  ASSERT_TRUE(settings_.contains("bias") || settings_.contains("head_offset"));
  if (settings_.contains("alibi_heads")) {
    const Encoding alibi("alibi", {{"heads", integer("total_heads")},
                                   {"biased_heads", integer("alibi_heads")},
                                   {"form", std::string("symmetric")}});
    const std::vector<double> slopes = peer_.doubles("slopes_f64");
    for (std::size_t h = 0; h < slopes.size(); ++h) EXPECT_NEAR(alibi.score().slopes[h], slopes[h], 1e-12);
    expect_bias(alibi, integer("queries"), integer("keys"));
  } else if (scheme().starts_with("Step-1")) {
    const Arguments step{{"form", std::string("sqrt")}};
    expect_slopes_by_rank(integer("heads"), integer("tensor_parallel"), step);
    const Encoding whole("alibi", {{"heads", integer("heads")}, {"form", std::string("sqrt")}});
    expect_bias(whole, integer("queries"), integer("context") + integer("queries"));
  } else {
    Arguments more;
    if (!settings_.at("alibi_bias_max").is_null()) more.set("bias_max", real("alibi_bias_max"));
    expect_slopes_by_rank(integer("total_heads"), integer("tensor_parallel"), more);
  }
}

void SmallParametersOracle::expect_rope() const {
  const Encoding encoding = rope();
  const Rotation& rotation = encoding.rotation();
  const std::vector<double> want = peer_.doubles("inv_freq_f64");
  ASSERT_EQ(rotation.inv_freq.size(), want.size());
  {
    Worst worst("inv_freq");
    for (std::size_t i = 0; i < want.size(); ++i) worst.see(rotation.inv_freq[i], want[i], 1e-12 * want[i], i);
  }
  if (peer_.has("attention_factor_f64")) {
    EXPECT_NEAR(rotation.magnitude, peer_.doubles("attention_factor_f64").at(0), 1e-12);
  }
  const PositionIds ids{.tokens = peer_.shape("positions").at(0), .ids = peer_.integers("positions")};
  const PairBound bound = [&](std::int64_t, std::int64_t t, std::size_t) {
    return rotation.magnitude * double_bound(2 * static_cast<double>(ids.ids[static_cast<std::size_t>(t)]));
  };
  for (const auto& [array, role] : {std::pair{"q", Role::query}, std::pair{"k", Role::key}}) {
    const Heads input = heads_of(peer_, array, "thd");
    const std::vector<double> out = peer_.doubles(std::string(array) + "_out_f64");
    expect_rotated(std::string(array) + ".kernel", rotation, input,
                   rotated(encoding, input, widened(input.data), ids, role), out, bound);
    expect_rotated(std::string(array) + ".reference", rotation, input, rotated_by_reference(encoding, input, ids, role),
                   out, bound);
  }
  const std::vector<double> cos = peer_.doubles("cos_f64"), sin = peer_.doubles("sin_f64");
  const auto pairs = static_cast<std::size_t>(rotation.pairs());
  std::vector<float> rows(2 * pairs);
  Worst table("float32 table");
  for (std::size_t t = 0; t < ids.ids.size(); ++t) {
    rotation_rows(rotation, ids.ids[t], 1, rows.data());
    for (std::size_t i = 0; i < pairs; ++i) {
      const double most = rotation.magnitude * ((rotation.magnitude > 1 ? 2 : 1) * 3.1e-8 +
                                                double_bound(2 * static_cast<double>(ids.ids[t])));
      table.see(static_cast<double>(rows[i]), cos[t * pairs + i], most, i);
      table.see(static_cast<double>(rows[pairs + i]), sin[t * pairs + i], most, i);
    }
  }
}

}  // namespace
}  // namespace locus::testing
