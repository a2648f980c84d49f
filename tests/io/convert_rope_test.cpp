// SPDX-License-Identifier: Apache-2.0
#include "locus/io/convert_rope.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "io/bytes.h"
#include "locus/io/hf_config.h"

namespace locus::io {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A config with the sizes of a small model and these additional keys.
Json config_with(const std::string& model_type, const Json& more) {
  Json config = {{"model_type", model_type},          {"hidden_size", 512},
                 {"num_attention_heads", 8},          {"num_key_value_heads", 2},
                 {"max_position_embeddings", 131072}, {"rope_theta", 500000.0}};
  if (!more.is_null()) config.update(more);
  return config;
}

class ConvertRope : public InTemporaryFolder {
 protected:
  GgufFile to_gguf(const Json& config, const std::string& architecture = "") {
    notes_ = write_gguf_rope(put("config.json", config.dump()), "", folder_ / "a.gguf", architecture);
    return read_gguf(folder_ / "a.gguf");
  }
  Json and_back() {
    notes_ = write_hf_rope(folder_ / "a.gguf", "", folder_ / "back.json");
    return Json::parse(contents(folder_ / "back.json"));
  }
  std::string refusal(const Json& config) {
    return error_of([&] { to_gguf(config); });
  }

  std::vector<std::string> notes_;
};

std::string text_of(const Arguments& arguments) {
  std::string text;
  for (const auto& [name, value] : arguments.all()) text += name + "=" + to_text(value) + " ";
  return text;
}

/// Every key of `wanted`, by the names of llama.cpp's gguf-py.
void expect_keys(const GgufFile& file, const std::map<std::string, double>& wanted) {
  for (const auto& [key, number] : wanted) {
    const GgufValue* const value = file.find(key);
    ASSERT_NE(value, nullptr) << key;
    const bool real = value->type == GgufValueType::float32;
    EXPECT_EQ(real ? value->real(key) : static_cast<double>(value->integer(key)), number) << key;
  }
}

TEST_F(ConvertRope, PlainAndLinear) {
  const GgufFile plain = to_gguf(config_with("llama", {}));
  expect_keys(plain, {{"llama.context_length", 131072},
                      {"llama.embedding_length", 512},
                      {"llama.attention.head_count", 8},
                      {"llama.attention.head_count_kv", 2},
                      {"llama.rope.dimension_count", 64},
                      {"llama.rope.freq_base", 500000}});
  EXPECT_EQ(plain.text("general.architecture"), "llama");
  EXPECT_EQ(plain.find("llama.rope.scaling.type"), nullptr);
  EXPECT_EQ(plain.find("llama.attention.key_length"), nullptr);
  EXPECT_EQ(notes_, std::vector<std::string>{});

  const Json linear = {{"rope_scaling", {{"rope_type", "linear"}, {"factor", 4.0}}}};
  const GgufFile scaled = to_gguf(config_with("llama", linear));
  EXPECT_EQ(scaled.text("llama.rope.scaling.type"), "linear");
  expect_keys(scaled, {{"llama.rope.scaling.factor", 4}});
}

TEST_F(ConvertRope, YarnKeysOfEveryKind) {
  const Json yarn = {
      {"rope_type", "yarn"},      {"factor", 4.0},    {"original_max_position_embeddings", 32768}, {"beta_fast", 24.0},
      {"attention_factor", 1.25}, {"truncate", false}};
  const GgufFile file = to_gguf(config_with("qwen3", {{"head_dim", 128}, {"rope_scaling", yarn}}));
  EXPECT_EQ(file.text("qwen3.rope.scaling.type"), "yarn");
  expect_keys(file, {{"qwen3.rope.scaling.factor", 4},
                     {"qwen3.rope.scaling.original_context_length", 32768},
                     {"qwen3.rope.scaling.yarn_beta_fast", 24},
                     {"qwen3.rope.scaling.yarn_attn_factor", 1.25},
                     {"qwen3.attention.key_length", 128},
                     {"qwen3.rope.dimension_count", 128}});
  EXPECT_EQ(file.find("qwen3.rope.scaling.yarn_beta_slow"), nullptr);  // not in the config: the engine's default
  ASSERT_EQ(notes_.size(), 1u);
  EXPECT_EQ(notes_[0], "not converted: truncate = false; llama.cpp truncates");
}

TEST_F(ConvertRope, DeepseekMultiplierIsATenth) {
  const Json yarn = {{"rope_type", "yarn"},
                     {"factor", 40.0},
                     {"original_max_position_embeddings", 4096},
                     {"mscale", 0.707},
                     {"mscale_all_dim", 0.707}};
  const GgufFile file = to_gguf(config_with("deepseek_v2", {{"qk_rope_head_dim", 64}, {"rope_scaling", yarn}}));
  EXPECT_EQ(file.real("deepseek2.rope.scaling.yarn_log_multiplier"), double{0.0707f});
  EXPECT_EQ(file.integer("deepseek2.rope.dimension_count"), 64);
  const Json back = and_back();
  EXPECT_EQ(back["qk_rope_head_dim"], 64);
  EXPECT_EQ(back["rope_scaling"]["mscale_all_dim"], 0.707);
}

TEST_F(ConvertRope, Llama3BecomesDivisors) {
  const Json llama3 = {{"rope_type", "llama3"},
                       {"factor", 8.0},
                       {"low_freq_factor", 1.0},
                       {"high_freq_factor", 4.0},
                       {"original_max_position_embeddings", 8192}};
  const GgufFile file = to_gguf(config_with("llama", {{"rope_scaling", llama3}}));
  EXPECT_EQ(file.find("llama.rope.scaling.type"), nullptr);
  const std::vector<float> divisors = file.floats(*file.find_tensor("rope_freqs.weight"));
  ASSERT_EQ(divisors.size(), 32u);
  for (std::size_t i = 0; i < 32; ++i) {  // as in llama.cpp's conversion/llama.py
    const double frequency = 1 / std::pow(500000.0, static_cast<double>(2 * i) / 64);
    const double wavelength = 2 * std::numbers::pi / frequency;
    double wanted = 8;
    if (wavelength < 8192.0 / 4) {
      wanted = 1;
    } else if (wavelength <= 8192.0 / 1) {
      const double smooth = (8192 / wavelength - 1) / (4 - 1);
      wanted = 1 / ((1 - smooth) / 8 + smooth);
    }
    EXPECT_NEAR(divisors[i], wanted, 1e-6 * wanted) << i;  // float32 storage: 6e-8, and rounding in double
  }
  // A file of llama.cpp's converter has no original_context_length; the divisors contain only its ratio to
  // low_freq_factor.
  std::vector<GgufEntry> metadata = file.metadata();
  std::erase_if(metadata, [](const GgufEntry& entry) { return entry.key.ends_with("original_context_length"); });
  write_gguf(folder_ / "a.gguf", metadata, file.tensors());
  EXPECT_EQ(and_back()["rope_scaling"], llama3);
  EXPECT_EQ(notes_.size(), 1u);
}

TEST_F(ConvertRope, DivisorsOfAnotherRuleAreRefused) {
  to_gguf(config_with("llama", {}));
  const GgufFile file = read_gguf(folder_ / "a.gguf");
  for (const std::vector<float>& divisors : {std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8},
                                             std::vector<float>{1, 1, 1e30f, 1e30f}, std::vector<float>(8, 1.0f)}) {
    const std::vector<GgufTensor> tensors = {{"rope_freqs.weight",
                                              GgufTensorType::f32,
                                              {static_cast<std::int64_t>(divisors.size())},
                                              std::as_bytes(std::span(divisors))}};
    write_gguf(folder_ / "b.gguf", file.metadata(), tensors);
    const std::string text = error_of([&] { hf_rope_settings(read_gguf(folder_ / "b.gguf")); });
    EXPECT_NE(text.find("not those of the rule llama3"), std::string::npos) << text;
  }
}

TEST_F(ConvertRope, LongropeListsAndFactor) {
  Json short_list = Json::array(), long_list = Json::array();
  for (int i = 0; i < 32; ++i) {
    short_list.push_back(1.0 + 0.01 * i);
    long_list.push_back(1.0 + 1.25 * i);
  }
  const Json scaling = {{"type", "longrope"}, {"short_factor", short_list}, {"long_factor", long_list}};
  const GgufFile file =
      to_gguf(config_with("phi3", {{"original_max_position_embeddings", 4096}, {"rope_scaling", scaling}}));
  EXPECT_EQ(file.text("phi3.rope.scaling.type"), "longrope");
  EXPECT_EQ(file.find("phi3.rope.scaling.factor"), nullptr);  // llama.cpp would divide positions by it
  // 131072 / 4096 = 2^5 and 4096 = 2^12.
  EXPECT_EQ(file.real("phi3.rope.scaling.attn_factor"), double{static_cast<float>(std::sqrt(1 + 5.0 / 12))});
  EXPECT_EQ(file.floats(*file.find_tensor("rope_factors_long.weight"))[3], 4.75f);
  EXPECT_EQ(file.floats(*file.find_tensor("rope_factors_short.weight"))[3], 1.03f);
  const Json back = and_back();
  EXPECT_EQ(back["rope_scaling"]["long_factor"], long_list);
  EXPECT_FALSE(back["rope_scaling"].contains("attention_factor"));
  EXPECT_EQ(back["original_max_position_embeddings"], 4096);
}

TEST_F(ConvertRope, SlidingLayersAndSections) {
  const GgufFile gemma =
      to_gguf(config_with("gemma3_text", {{"head_dim", 64},
                                          {"rope_local_base_freq", 10000.0},
                                          {"sliding_window", 512},
                                          {"rope_scaling", {{"rope_type", "linear"}, {"factor", 8.0}}}}));
  expect_keys(
      gemma,
      {{"gemma3.rope.freq_base", 500000}, {"gemma3.rope.freq_base_swa", 10000}, {"gemma3.rope.scaling.factor", 8}});
  EXPECT_EQ(and_back()["rope_local_base_freq"], 10000.0);

  const GgufFile qwen =
      to_gguf(config_with("qwen2_vl", {{"rope_scaling", {{"type", "mrope"}, {"mrope_section", {8, 12, 12}}}}}));
  EXPECT_EQ(qwen.integers("qwen2vl.rope.dimension_sections"), (std::vector<std::int64_t>{8, 12, 12, 0}));
  EXPECT_EQ(and_back()["rope_scaling"]["mrope_section"], (Json{8, 12, 12}));
}

/// The meaning of a config does not change on the way to GGUF and back, and the second GGUF file equals the first.
TEST_F(ConvertRope, RoundTrips) {
  const Json yarn = {{"rope_type", "yarn"}, {"factor", 4.0}, {"original_max_position_embeddings", 32768}};
  Json yarn_more = yarn;
  yarn_more.update({{"beta_fast", 32.0}, {"beta_slow", 1.5}, {"attention_factor", 1.1386}});
  const Json llama3 = {{"rope_type", "llama3"},
                       {"factor", 32.0},
                       {"low_freq_factor", 1.25},
                       {"high_freq_factor", 4.5},
                       {"original_max_position_embeddings", 8192}};
  Json list = Json::array();
  for (int i = 0; i < 24; ++i) list.push_back((100 + 37 * i) / 100.0);
  const Json longrope = {{"rope_type", "longrope"}, {"short_factor", list}, {"long_factor", list}};
  const std::vector<Json> configs = {
      config_with("llama", {}),
      config_with("llama", {{"rope_scaling", {{"rope_type", "linear"}, {"factor", 2.5}}}}),
      config_with("llama", {{"rope_scaling", llama3}}),
      config_with("llama", {{"rope_scaling", llama3}, {"head_dim", 128}}),
      config_with("qwen2", {{"rope_scaling", yarn}}),
      config_with("qwen3", {{"rope_scaling", yarn_more}, {"head_dim", 128}, {"rope_theta", 1000000.0}}),
      config_with("gpt_neox", {{"partial_rotary_factor", 0.25}}),
      config_with("phi", {{"partial_rotary_factor", 0.4}, {"hidden_size", 640}}),
      config_with(
          "phi3",
          {{"partial_rotary_factor", 0.75}, {"rope_scaling", longrope}, {"original_max_position_embeddings", 4096}}),
      config_with("gemma3", {{"head_dim", 256}, {"rope_local_base_freq", 10000.0}}),
      config_with("qwen3_vl",
                  {{"head_dim", 64},
                   {"rope_scaling",
                    {{"rope_type", "default"}, {"mrope_section", {12, 10, 10}}, {"mrope_interleaved", true}}}})};
  for (const Json& config : configs) {
    to_gguf(config);
    EXPECT_EQ(notes_, std::vector<std::string>{}) << config;
    const std::string first = contents(folder_ / "a.gguf");
    const Json back = and_back();
    EXPECT_EQ(notes_, std::vector<std::string>{}) << config;
    EXPECT_EQ(back, config);
    const HfConfig meant = resolve_hf_config(config.dump(), "a"), read = resolve_hf_config(back.dump(), "b");
    ASSERT_EQ(read.layers.size(), meant.layers.size()) << config;
    for (std::size_t i = 0; i < meant.layers.size(); ++i) {
      EXPECT_EQ(text_of(read.layers[i].arguments), text_of(meant.layers[i].arguments)) << config;
    }
    to_gguf(back);
    EXPECT_EQ(contents(folder_ / "a.gguf"), first) << config;
  }
}

TEST_F(ConvertRope, AnExistingFileKeepsAllElse) {
  const std::vector<float> weights = {1, 2, 3, 4}, divisors(32, 1.0f);
  const std::vector<GgufEntry> metadata = {{"general.architecture", GgufValue::of("llama")},
                                           {"llama.context_length", GgufValue::of(std::uint32_t{4096})},
                                           {"llama.attention.head_count", GgufValue::of(std::uint32_t{8})},
                                           {"llama.rope.freq_base", GgufValue::of(10000.0f)},
                                           {"llama.rope.scaling.type", GgufValue::of("linear")},
                                           {"llama.rope.scaling.factor", GgufValue::of(2.0f)},
                                           {"tokenizer.ggml.model", GgufValue::of("gpt2")}};
  const std::vector<GgufTensor> tensors = {
      {"rope_freqs.weight", GgufTensorType::f32, {32}, std::as_bytes(std::span(divisors))},
      {"output.weight", GgufTensorType::f32, {2, 2}, std::as_bytes(std::span(weights))}};
  write_gguf(folder_ / "old.gguf", metadata, tensors);
  const fs::path config = put("config.json", config_with("mistral", {}).dump());
  EXPECT_EQ(write_gguf_rope(config, folder_ / "old.gguf", folder_ / "new.gguf"),
            (std::vector<std::string>{"removed: llama.rope.scaling.type, the config has no such setting",
                                      "removed: llama.rope.scaling.factor, the config has no such setting",
                                      "removed: rope_freqs.weight, the config has no such setting"}));
  const GgufFile file = read_gguf(folder_ / "new.gguf");
  expect_keys(file, {{"llama.context_length", 131072}, {"llama.rope.freq_base", 500000}});
  EXPECT_EQ(file.find("llama.rope.scaling.type"), nullptr);
  EXPECT_EQ(file.find("llama.rope.scaling.factor"), nullptr);
  EXPECT_EQ(file.text("tokenizer.ggml.model"), "gpt2");
  EXPECT_EQ(file.find_tensor("rope_freqs.weight"), nullptr);
  EXPECT_EQ(file.floats(*file.find_tensor("output.weight")), weights);

  const fs::path other = put("other.json", config_with("llama", {{"num_attention_heads", 16}}).dump());
  const std::string text = error_of([&] { write_gguf_rope(other, folder_ / "old.gguf", folder_ / "x.gguf"); });
  EXPECT_NE(text.find("llama.attention.head_count must be that of"), std::string::npos) << text;
  EXPECT_FALSE(fs::exists(folder_ / "x.gguf"));
}

TEST_F(ConvertRope, ABaseConfigKeepsItsOtherKeys) {
  to_gguf(config_with("mistral", {}));
  const fs::path base = put("base.json", R"({"model_type": "mistral", "vocab_size": 32000, "rope_theta": 1.0,
                                             "rope_scaling": {"type": "linear", "factor": 2.0}})");
  write_hf_rope(folder_ / "a.gguf", base, folder_ / "back.json");
  const Json back = Json::parse(contents(folder_ / "back.json"));
  EXPECT_EQ(back["model_type"], "mistral");  // GGUF calls it llama
  EXPECT_EQ(back["vocab_size"], 32000);
  EXPECT_EQ(back["rope_theta"], 500000.0);
  EXPECT_FALSE(back.contains("rope_scaling"));

  // A multimodal model has them in the block of its language model.
  const fs::path nested = put("base.json", R"({"model_type": "llava", "rope_theta": 1.0, "text_config":
                                               {"model_type": "mistral", "rotary_emb_base": 2.0}})");
  write_hf_rope(folder_ / "a.gguf", nested, folder_ / "back.json");
  const HfConfig read = read_hf_config(folder_ / "back.json");
  EXPECT_EQ(read.model_type, "mistral");
  EXPECT_EQ(read.layers.at(0).arguments.real("base"), 500000.0);
  EXPECT_EQ(read.layers.at(0).arguments.integer("head_dim"), 64);
}

// JSON has no NaN: nlohmann would write null, and a reader would use its default.
TEST_F(ConvertRope, RefusesNumbersThatAreNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  for (const float bad : {nan, infinity, -infinity}) {
    for (const char* key : {"rope.freq_base", "rope.scaling.factor", "rope.scaling.yarn_beta_fast"}) {
      write_gguf(folder_ / "a.gguf",
                 std::vector<GgufEntry>{{"general.architecture", GgufValue::of("llama")},
                                        {std::string("llama.") + key, GgufValue::of(bad)}},
                 {});
      const std::string text = error_of([&] { write_hf_rope(folder_ / "a.gguf", {}, folder_ / "back.json"); });
      EXPECT_NE(text.find(std::string("llama.") + key + " must be finite"), std::string::npos) << text;
      EXPECT_FALSE(fs::exists(folder_ / "back.json"));
    }
    const std::vector<float> divisors{1, bad};
    write_gguf(
        folder_ / "a.gguf", std::vector<GgufEntry>{{"general.architecture", GgufValue::of("llama")}},
        std::vector<GgufTensor>{{"rope_freqs.weight", GgufTensorType::f32, {2}, std::as_bytes(std::span(divisors))}});
    EXPECT_NE(error_of([&] { write_hf_rope(folder_ / "a.gguf", {}, folder_ / "back.json"); }).find("must be finite"),
              std::string::npos);
  }
}

// A file of the lab states its encoding, and so does the config.json converted from it.
TEST_F(ConvertRope, TheLabsOwnModel) {
  const std::string encoding = R"({"arguments":{"heads":2},"scheme":"alibi"})";
  write_gguf(folder_ / "a.gguf",
             std::vector<GgufEntry>{{"general.architecture", GgufValue::of("locus_lab")},
                                    {"locus_lab.attention.head_count", GgufValue::of(std::uint32_t{2})},
                                    {"locus_lab.context_length", GgufValue::of(std::uint32_t{64})},
                                    {"locus_lab.encoding", GgufValue::of(encoding)}},
             {});
  EXPECT_TRUE(write_hf_rope(folder_ / "a.gguf", {}, folder_ / "back.json").empty());
  const HfConfig read = read_hf_config(folder_ / "back.json");
  EXPECT_EQ(read.model_type, "locus_lab");
  EXPECT_EQ(read.layers.at(0).scheme, "alibi");
  EXPECT_EQ(read.layers.at(0).arguments.integer("heads"), 2);
  EXPECT_EQ(read.layers.at(0).trained_length, 64);
}

TEST_F(ConvertRope, SaysWhatGgufCannotHold) {
  const auto has = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  has(refusal(config_with("llama", {{"rope_scaling", {{"rope_type", "dynamic"}, {"factor", 2.0}}}})),
      "the rule dynamic_ntk has no keys in GGUF");
  has(refusal(config_with("llama", {{"head_dim", 7}})), "the rotary width must be even and at most 65536, got 7");
  has(refusal(config_with("llama", {{"head_dim", 2147483646}})), "at most 65536, got 2147483646");
  has(refusal(config_with("martian", {})), "model_type 'martian' has no known architecture in GGUF");
  has(refusal(config_with("gpt2", {{"n_positions", 8}})),
      "there is no RoPE in this model to convert; model_type 'gpt2' has learned");
  has(error_of([&] { to_gguf(config_with("gpt2", {}), "gpt2"); }), "there is no RoPE in this model to convert");
  has(refusal(config_with("bert", {})), "there is no RoPE in this model to convert; model_type 'bert' has learned");
  has(refusal(config_with("t5", {{"num_heads", 8}})),
      "there is no RoPE in this model to convert; model_type 't5' has t5");
  write_gguf(folder_ / "a.gguf", std::vector<GgufEntry>{{"general.architecture", GgufValue::of("bloom")}}, {});
  has(error_of([&] { and_back(); }), "architecture 'bloom' does not rotate");
}

}  // namespace
}  // namespace locus::io
