// SPDX-License-Identifier: Apache-2.0
// crosspeer/: the rules in the authors' own code, in addition to transformers.
#include <algorithm>
#include <optional>

#include "locus/positions.h"
#include "locus/rows.h"
#include "rotation_check.h"

namespace locus::testing {
namespace {

class CrosspeerOracle : public ::testing::TestWithParam<std::string> {
 protected:
  OracleCase peer_{"crosspeer", GetParam()};
  const Json& json_ = peer_.json();

  double number(const char* key) const { return json_.at(key).get<double>(); }

  /// A rule of jquesnelle/yarn, by the class and its arguments.
  Arguments yarn_repository_arguments() const {
    const Json& args = json_.at("args");
    const auto integer = [&](const char* key) { return Value(args.at(key).get<std::int64_t>()); };
    const auto real = [&](const char* key) { return Value(args.at(key).get<double>()); };
    Arguments result{{"head_dim", integer("dim")}, {"base", real("base")}, {"pairing", std::string("half")}};
    const std::string name = json_.at("cls");
    if (name == "LlamaYaRNScaledRotaryEmbedding") {
      result.set("rule", std::string("yarn"));
      result.set("factor", real("scale"));
      result.set("original_length", integer("original_max_position_embeddings"));
    } else if (name == "LlamaPartNTKScaledRotaryEmbedding") {
      result.set("rule", std::string("ntk_by_parts"));
      result.set("factor", real("scale"));
      result.set("original_length", integer("original_max_position_embeddings"));
    } else if (name == "LlamaNTKScaledRotaryEmbedding") {
      result.set("rule", std::string("ntk"));
      result.set("factor", real("alpha"));
    } else if (name == "LlamaDynamicScaledRotaryEmbedding") {
      result.set("rule", std::string("dynamic_ntk"));
      result.set("factor", real("ntk"));
      result.set("max_length", integer("max_position_embeddings"));
      result.set("length", json_.at("forward_seq_len").get<std::int64_t>());
    } else {
      throw std::runtime_error("unknown class " + name);
    }
    return result;
  }

  Arguments arguments() const {
    if (json_.contains("cls")) return yarn_repository_arguments();
    if (GetParam() == "meta_llama3_1_interleaved") {
      return {{"head_dim", json_.at("head_dim").get<std::int64_t>()},
              {"base", number("theta")},
              {"pairing", std::string("interleaved")},
              {"rule", std::string("llama3")},
              {"factor", 8.0},
              {"original_length", std::int64_t{8192}}};
    }
    if (GetParam() == "deepseek_v3_reference_near") {  // as in its `fn`; the magnitude multiplies the softmax scale
      return {{"head_dim", std::int64_t{64}}, {"base", 10000.0}, {"pairing", std::string("interleaved")},
              {"rule", std::string("yarn")},  {"factor", 40.0},  {"original_length", std::int64_t{4096}},
              {"attention_factor", 1.0}};
    }
    if (GetParam() == "openai_gpt_oss") {
      return {{"head_dim", json_.at("head_dim").get<std::int64_t>()},
              {"base", number("base")},
              {"pairing", std::string("half")},
              {"rule", std::string("yarn")},
              {"factor", number("scaling_factor")},
              {"original_length", json_.at("initial_context_length").get<std::int64_t>()},
              {"beta_fast", number("ntk_beta")},
              {"beta_slow", number("ntk_alpha")},
              {"truncate", false}};
    }
    throw std::runtime_error("unknown case " + GetParam());
  }

  Encoding encoding(const std::string& profile) const {
    Arguments with_profile = arguments();
    with_profile.set("profile", profile);
    return Encoding("rope", with_profile);
  }

  std::optional<std::vector<double>> peer_frequencies(const std::string& suffix) const {
    if (json_.contains("inv_freq" + suffix)) return json_.at("inv_freq" + suffix).get<std::vector<double>>();
    if (peer_.has("inv_freq" + suffix)) return peer_.doubles("inv_freq" + suffix);
    return std::nullopt;
  }

  std::int64_t start() const { return json_.value("start", std::int64_t{0}); }

  /// [B, S, H, D]; gpt-oss stores [S, H * D].
  Heads heads(const std::string& array) const {
    Heads result = heads_of(peer_, array, "bthd");
    if (result.shape.size() == 2) {
      const auto head_dim = json_.at("head_dim").get<std::int64_t>();
      result.axes = "thd";
      result.shape = {result.shape[0], result.shape[1] / head_dim, head_dim};
    }
    return result;
  }
};

INSTANTIATE_TEST_SUITE_P(Oracle, CrosspeerOracle, ::testing::ValuesIn(oracle_cases("crosspeer")), case_name);

TEST_P(CrosspeerOracle, FrequenciesAndFactor) {
  const Encoding exact = encoding("exact");
  const Rotation& rotation = exact.rotation();
  double factor = json_.value("mscale", 1.0);
  if (peer_.has("concentration_f64")) factor = peer_.doubles("concentration_f64").at(0);
  EXPECT_NEAR(rotation.magnitude, factor, 1e-12 * factor);

  const auto want = peer_frequencies("_f64");
  if (!want) return;  // the rotation cases have cos and sin instead
  ASSERT_EQ(rotation.inv_freq.size(), want->size());
  {
    Worst worst("inv_freq_f64");
    for (std::size_t i = 0; i < want->size(); ++i) worst.see(rotation.inv_freq[i], (*want)[i], 1e-12 * (*want)[i], i);
  }
  const Encoding hf = encoding("hf");
  const auto single = peer_frequencies("_f32");
  ASSERT_TRUE(single.has_value());
  for (std::size_t i = 0; i < single->size(); ++i) {
    EXPECT_LE(ulps_between(hf.rotation().single_freq[i], static_cast<float>((*single)[i])), 5) << "pair " << i;
  }
}

class CrosspeerTableOracle : public CrosspeerOracle {};
INSTANTIATE_TEST_SUITE_P(Oracle, CrosspeerTableOracle, ::testing::ValuesIn(cases_with("crosspeer", "cos_f64")),
                         case_name);

class CrosspeerRotationOracle : public CrosspeerOracle {};
INSTANTIATE_TEST_SUITE_P(Oracle, CrosspeerRotationOracle, ::testing::ValuesIn(cases_with("crosspeer", "q")), case_name);

TEST_P(CrosspeerTableOracle, Tables) {
  for (const char* profile : {"exact", "hf"}) {
    const Encoding made = encoding(profile);
    const Rotation& rotation = made.rotation();
    const bool exact = rotation.profile == Profile::exact;
    const std::vector<double> want_cos = peer_.doubles(exact ? "cos_f64" : "cos_f32");
    const std::vector<double> want_sin = peer_.doubles(exact ? "sin_f64" : "sin_f32");
    const auto pairs = static_cast<std::size_t>(rotation.pairs());
    ASSERT_EQ(want_cos.size() % pairs, 0U);
    Worst worst(profile);
    for (std::size_t row = 0; row < want_cos.size() / pairs; ++row) {
      const Position position = start() + static_cast<Position>(row);
      std::vector<double> cos(pairs);
      std::vector<double> sin(pairs);
      rotation_row(rotation, Role::query, std::span(&position, 1), cos, sin);
      for (std::size_t i = 0; i < pairs; ++i) {
        const double far = static_cast<double>(position);
        const double bound = rotation.magnitude * (exact ? double_bound(far) : single_bound(far, rotation.inv_freq[i]));
        worst.see(cos[i], want_cos[row * pairs + i], bound, row * pairs + i);
        worst.see(sin[i], want_sin[row * pairs + i], bound, row * pairs + i);
      }
    }
  }
}

TEST_P(CrosspeerRotationOracle, QueriesAndKeys) {
  for (const auto& [array, role] : {std::pair{"q", Role::query}, std::pair{"k", Role::key}}) {
    if (!peer_.has(array)) continue;  // DeepSeek has queries only
    const Heads input = heads(array);
    const std::int64_t tokens = heads_view(nullptr, ElementType::float32, input.axes, input.shape).tokens;
    const PositionIds ids = positions::prefill(tokens, start());
    const auto far = [&](std::int64_t token) { return static_cast<double>(start() + token); };

    const Encoding exact = encoding("exact");
    const double magnitude = exact.rotation().magnitude;
    const PairBound twice = [&](std::int64_t, std::int64_t t, std::size_t) { return magnitude * double_bound(far(t)); };
    const std::vector<double> want = peer_.doubles(std::string(array) + "_out_f64");
    expect_rotated(std::string(array) + ".kernel", exact.rotation(), input,
                   rotated(exact, input, widened(input.data), ids, role), want, twice);
    expect_rotated(std::string(array) + ".reference", exact.rotation(), input,
                   rotated_by_reference(exact, input, ids, role), want, twice);

    const Encoding hf = encoding("hf");
    const Rotation& rotation = hf.rotation();
    const PairBound single = [&](std::int64_t, std::int64_t t, std::size_t pair) {
      return magnitude * (single_bound(far(t), rotation.inv_freq[pair]) + 6 * 0x1p-24);
    };
    expect_rotated(std::string(array) + ".float32", rotation, input, widened(rotated(hf, input, input.data, ids, role)),
                   peer_.doubles(std::string(array) + "_out_f32"), single);
  }
}

}  // namespace
}  // namespace locus::testing
