// SPDX-License-Identifier: Apache-2.0
// GGUF settings as llama.cpp reads them: arguments by hand, frequencies against other projects' numbers.
#include "locus/io/gguf_encoding.h"

#include <gtest/gtest.h>

#include <cmath>

#include "io/bytes.h"
#include "locus/encoding.h"
#include "support/command.h"
#include "support/gguf_model.h"
#include "support/oracle.h"

namespace locus::io {
namespace {

using testing::GgufModel;

GgufEncoding resolve(const GgufModel& model, std::optional<std::int64_t> length = {}) {
  const testing::TemporaryFolder folder;
  model.write(folder / "m.gguf");
  return resolve_gguf_encoding(read_gguf(folder / "m.gguf"), length);
}

LayerEncoding only_layer(const GgufModel& model, std::optional<std::int64_t> length = {}) {
  const GgufEncoding found = resolve(model, length);
  EXPECT_EQ(found.layers.size(), 1u);
  return found.layers.at(0);
}

Encoding encoding_of(const LayerEncoding& layer) { return Encoding(layer.scheme, layer.arguments); }

/// Heads of 128.
GgufModel heads_of_128(const std::string& architecture) {
  GgufModel model(architecture);
  model.integer("embedding_length", 4096).integer("attention.head_count", 32).integer("context_length", 8192);
  return model;
}

TEST(GgufEncoding, AbsentKeysHaveLlamaCppsDefaults) {
  const LayerEncoding layer = only_layer(heads_of_128("llama"));
  EXPECT_EQ(layer.scheme, "rope");
  EXPECT_EQ(layer.arguments.integer("head_dim"), 128);
  EXPECT_EQ(layer.arguments.integer("rotary_dim"), 128);
  EXPECT_EQ(layer.arguments.text("pairing"), "interleaved");
  EXPECT_EQ(layer.arguments.real("base"), 10000);
  EXPECT_EQ(layer.arguments.text("rule"), "none");
  EXPECT_EQ(layer.trained_length, 8192);
  EXPECT_EQ(layer.defaulted, (std::vector<std::string>{"attention.key_length = 128 (llama.cpp's default)",
                                                       "rope.dimension_count = 128 (llama.cpp's default)",
                                                       "rope.freq_base = 10000 (llama.cpp's default)"}));
}

TEST(GgufEncoding, AFactorWithoutATypeIsLinear) {
  const LayerEncoding linear = only_layer(heads_of_128("qwen2").real("rope.scaling.factor", 4));
  EXPECT_EQ(linear.arguments.text("pairing"), "half");
  EXPECT_EQ(linear.arguments.text("rule"), "linear");
  EXPECT_EQ(linear.arguments.real("factor"), 4);
  EXPECT_EQ(linear.defaulted.back(), "rope.scaling.type = linear (llama.cpp's default)");
  // The type none disables the factor; a factor of 0 means no factor.
  const auto none = heads_of_128("qwen2").text("rope.scaling.type", "none").real("rope.scaling.factor", 4);
  EXPECT_EQ(only_layer(none).arguments.text("rule"), "none");
  EXPECT_EQ(only_layer(heads_of_128("qwen2").real("rope.scaling.factor", 0)).arguments.text("rule"), "none");
}

TEST(GgufEncoding, PartialWidthAndAlpha) {
  const LayerEncoding neox = only_layer(heads_of_128("gptneox").integer("rope.dimension_count", 32));
  EXPECT_EQ(neox.arguments.integer("head_dim"), 128);
  EXPECT_EQ(neox.arguments.integer("rotary_dim"), 32);
  const LayerEncoding alpha = only_layer(heads_of_128("hunyuan-dense").real("rope.scaling.alpha", 1000));
  EXPECT_EQ(alpha.arguments.text("rule"), "ntk");
  EXPECT_EQ(alpha.arguments.real("factor"), 1000);
}

// The peers' frequencies in double, against divisors and bases that the file holds in float32 (2^-24 of themselves
// each; a divisor is applied once, so two roundings).
void expect_frequencies(const Encoding& encoding, const testing::Json& wanted) {
  const auto inv_freq = wanted["inv_freq_f64"].get<std::vector<double>>();
  const std::vector<double>& got = encoding.rotation().inv_freq;
  ASSERT_EQ(got.size(), inv_freq.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], inv_freq[i], 2 * 0x1p-24 * inv_freq[i]) << i;
}

TEST(GgufEncoding, Llama31AsRopeFreqs) {
  const testing::OracleCase peer("rope", "llama3_1_8b");
  std::vector<float> divisors;
  const auto inv_freq = peer.json()["inv_freq_f64"].get<std::vector<double>>();
  for (std::size_t i = 0; i < inv_freq.size(); ++i) {
    const double plain = std::pow(500000.0, -2.0 * static_cast<double>(i) / 128);
    divisors.push_back(static_cast<float>(plain / inv_freq[i]));
  }
  const LayerEncoding layer =
      only_layer(heads_of_128("llama").real("rope.freq_base", 500000).tensor("rope_freqs.weight", {64}, divisors));
  EXPECT_EQ(layer.arguments.list("short_factor"), layer.arguments.list("long_factor"));
  expect_frequencies(encoding_of(layer), peer.json());
  EXPECT_EQ(encoding_of(layer).rotation().magnitude, 1);
}

TEST(GgufEncoding, QwenYarn) {
  const testing::OracleCase peer("rope", "qwen2_5_7b_yarn4");
  GgufModel model = heads_of_128("qwen2");
  model.real("rope.freq_base", 1e6f).text("rope.scaling.type", "yarn").real("rope.scaling.factor", 4);
  model.integer("rope.scaling.original_context_length", 32768);
  const LayerEncoding layer = only_layer(model);
  expect_frequencies(encoding_of(layer), peer.json());
  const double wanted = peer.json()["attention_factor"].get<double>();  // 0.1 ln 4 + 1
  EXPECT_NEAR(encoding_of(layer).rotation().magnitude, wanted, 1e-12);
  EXPECT_EQ(layer.trained_length, 32768);
  // attn_factor multiplies it; an ext_factor of 0 leaves plain division without a magnitude.
  EXPECT_NEAR(encoding_of(only_layer(GgufModel(model).real("rope.scaling.attn_factor", 0.5f))).rotation().magnitude,
              wanted / 2, 1e-12);
  const LayerEncoding off = only_layer(GgufModel(model).real("rope.scaling.yarn_ext_factor", 0));
  EXPECT_EQ(off.arguments.text("rule"), "linear");
}

// Grok keeps only half of what YaRN keeps. In ggml the angle of pair i is then w_i (k_i + (1 - k_i) / f) times the
// position, k_i = ext_factor (1 - ramp_i), and the magnitude is the same as with ext_factor 1.
TEST(GgufEncoding, YarnWithPartOfItsExtrapolation) {
  GgufModel model = heads_of_128("grok");
  model.text("rope.scaling.type", "yarn").real("rope.scaling.factor", 16);
  model.integer("rope.scaling.original_context_length", 8192);
  model.real("rope.scaling.yarn_beta_fast", 8).real("rope.scaling.yarn_beta_slow", 1);
  const auto frequencies = [&](float ext_factor) {
    return encoding_of(only_layer(GgufModel(model).real("rope.scaling.yarn_ext_factor", ext_factor))).rotation();
  };
  const auto bound = [](double turns) { return 64 * std::log(8192 / (2 * M_PI * turns)) / std::log(10000.0); };
  const double low = std::floor(bound(8)), high = std::ceil(bound(1));
  for (const double ext_factor : {0.5, 0.25, 1.0}) {
    const Rotation got = frequencies(static_cast<float>(ext_factor));
    ASSERT_EQ(got.inv_freq.size(), 64u);
    for (int i = 0; i < 64; ++i) {
      const double keep = ext_factor * (1 - std::min(1.0, std::max(0.0, (i - low) / (high - low))));
      const double w = std::pow(10000.0, -i / 64.0) * (keep + (1 - keep) / 16);
      EXPECT_NEAR(got.inv_freq[static_cast<std::size_t>(i)], w, 1e-12 * w) << ext_factor << " pair " << i;
    }
    EXPECT_NEAR(got.magnitude, 0.1 * std::log(16.0) + 1, 1e-12);
  }
  // A negative number means none in llama.cpp.
  EXPECT_EQ(frequencies(-1).inv_freq, frequencies(1).inv_freq);
  EXPECT_THROW(frequencies(1.5), Error);
}

// DeepSeek's converter writes 0.1 mscale_all_dim.
TEST(GgufEncoding, DeepSeekPutsItsMagnitudeOnTheSoftmax) {
  GgufModel model("deepseek2");
  model.integer("embedding_length", 2048).integer("attention.head_count", 16).integer("attention.key_length", 192);
  model.integer("rope.dimension_count", 64).integer("context_length", 163840);
  model.text("rope.scaling.type", "yarn").real("rope.scaling.factor", 40);
  model.integer("rope.scaling.original_context_length", 4096);
  const auto check = [&](float multiplier, double all) {
    const LayerEncoding layer = only_layer(GgufModel(model).real("rope.scaling.yarn_log_multiplier", multiplier));
    EXPECT_EQ(layer.arguments.integer("head_dim"), 64);  // the rotary part of the head
    const Encoding encoding = encoding_of(layer);
    const double m = 0.1 * all * std::log(40.0) + 1;
    EXPECT_NEAR(encoding.rotation().magnitude, 1, 1e-6);  // the file's float32
    EXPECT_NEAR(encoding.rotation().softmax_scale_factor, m * m, 1e-6);
  };
  check(0.0707f, 0.707);
  check(0.1f, 1);
  // Elsewhere the multiplier is the number itself and only cos and sin see it: m(f, 1) / m(f, a).
  GgufModel other = heads_of_128("mistral3");
  other.text("rope.scaling.type", "yarn")
      .real("rope.scaling.factor", 16)
      .real("rope.scaling.yarn_log_multiplier", 0.5f);
  const Encoding encoding = encoding_of(only_layer(other));
  EXPECT_NEAR(encoding.rotation().magnitude, (0.1 * std::log(16.0) + 1) / (0.05 * std::log(16.0) + 1), 1e-12);
  EXPECT_EQ(encoding.rotation().softmax_scale_factor, 1);
}

TEST(GgufEncoding, LongRopeListByContextSize) {
  GgufModel model("phi3");
  model.integer("attention.key_length", 4).integer("context_length", 1024);
  model.integer("rope.scaling.original_context_length", 256).real("rope.scaling.attn_factor", 1.25f);
  model.tensor("rope_factors_long.weight", {2}, {2, 4}).tensor("rope_factors_short.weight", {2}, {1, 1});
  const auto slow_pair = [&](std::optional<std::int64_t> length) {
    return encoding_of(only_layer(model, length)).rotation().inv_freq.at(1);
  };
  EXPECT_NEAR(slow_pair({}), 0.01 / 4, 1e-16);  // the file's context is long
  EXPECT_NEAR(slow_pair(257), 0.01 / 4, 1e-16);
  EXPECT_NEAR(slow_pair(256), 0.01, 1e-16);
  EXPECT_EQ(encoding_of(only_layer(model)).rotation().magnitude, 1.25);
}

TEST(GgufEncoding, AxesOfPictures) {
  const LayerEncoding qwen2 = only_layer(heads_of_128("qwen2vl").integers("rope.dimension_sections", {16, 24, 24, 0}));
  EXPECT_EQ(qwen2.arguments.text("axes"), "mrope");
  EXPECT_EQ(qwen2.arguments.list("sections"), (std::vector<double>{16, 24, 24}));
  EXPECT_EQ(encoding_of(qwen2).rotation().axes, 3);
  const LayerEncoding qwen3 = only_layer(heads_of_128("qwen3vl").integers("rope.dimension_sections", {24, 20, 20, 0}));
  EXPECT_EQ(qwen3.arguments.text("axes"), "mrope_interleaved");
}

TEST(GgufEncoding, KindsOfLayers) {
  GgufModel model = heads_of_128("gemma3");
  model.real("rope.freq_base", 1e6f).real("rope.scaling.factor", 8);
  EXPECT_EQ(resolve(model).layers.size(), 1u);  // no window, no layers of that kind
  const GgufEncoding gemma = resolve(model.integer("attention.sliding_window", 1024));
  ASSERT_EQ(gemma.layers.size(), 2u);
  EXPECT_EQ(gemma.layers[0].layer_type, "sliding_attention");
  EXPECT_EQ(gemma.layers[0].arguments.real("base"), 10000);
  EXPECT_EQ(gemma.layers[0].arguments.text("rule"), "none");
  EXPECT_EQ(gemma.layers[1].arguments.real("base"), 1e6);
  EXPECT_EQ(gemma.layers[1].arguments.text("rule"), "linear");
  const GgufEncoding cohere = resolve(heads_of_128("cohere2"));
  ASSERT_EQ(cohere.layers.size(), 2u);
  EXPECT_EQ(cohere.layers[0].scheme, "rope");
  EXPECT_EQ(cohere.layers[1].scheme, "nope");
}

TEST(GgufEncoding, OtherSchemes) {
  const auto heads = [](const std::string& architecture, std::uint32_t count) {
    GgufModel model(architecture);
    model.integer("attention.head_count", count).integer("context_length", 2048);
    return model;
  };
  const LayerEncoding bloom = only_layer(heads("bloom", 8));
  EXPECT_EQ(bloom.scheme, "alibi");
  EXPECT_EQ(encoding_of(bloom).score().slopes,
            (std::vector<double>{0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625}));
  EXPECT_EQ(bloom.defaulted, std::vector<std::string>{"attention.max_alibi_bias = 8 (llama.cpp's default)"});
  const LayerEncoding mpt = only_layer(heads("mpt", 2).real("attention.max_alibi_bias", 16));
  EXPECT_EQ(encoding_of(mpt).score().slopes, (std::vector<double>{1.0 / 256, 1.0 / 65536}));
  EXPECT_EQ(only_layer(heads("baichuan", 40).integer("block_count", 40)).scheme, "alibi");
  EXPECT_EQ(only_layer(heads("mamba", 1)).scheme, "nope");

  const GgufEncoding t5 = resolve(heads("t5", 8).integer("attention.relative_buckets_count", 64));
  ASSERT_EQ(t5.layers.size(), 2u);
  EXPECT_EQ(t5.layers[0].arguments.integer("num_buckets"), 64);
  EXPECT_TRUE(t5.layers[0].arguments.boolean("bidirectional"));
  EXPECT_FALSE(t5.layers[1].arguments.boolean("bidirectional"));
  EXPECT_EQ(resolve(heads("t5encoder", 8)).layers.size(), 1u);

  const LayerEncoding gpt2 =
      only_layer(heads("gpt2", 2).tensor("position_embd.weight", {3, 4}, std::vector<float>(12)));
  EXPECT_EQ(gpt2.scheme, "learned");
  EXPECT_EQ(gpt2.arguments.integer("max_positions"), 3);
  EXPECT_EQ(gpt2.arguments.integer("dim"), 4);
}

TEST(GgufEncoding, Refusals) {
  const auto message = [](const GgufModel& model) { return error_of([&] { resolve(model); }); };
  EXPECT_EQ(message(heads_of_128("of_the_future")),
            "general.architecture of_the_future is not in llama.cpp's table, so its pairing is unknown");
  EXPECT_EQ(message(GgufModel("llama")),
            "llama: attention.key_length, or embedding_length and attention.head_count, must be given for head_dim");
  EXPECT_EQ(message(heads_of_128("llama").text("rope.scaling.type", "spiral")),
            "llama: unknown rope.scaling.type 'spiral'; known: none, linear, yarn, longrope");
  EXPECT_EQ(message(heads_of_128("qwen2").integer("rope.dimension_count", 4000000000u)),
            "qwen2: the rotary width must be from 2 to 65536, got 4000000000");
  EXPECT_EQ(message(heads_of_128("qwen2vl")), "qwen2vl: rope.dimension_sections is missing, but several axes need it");
  EXPECT_EQ(message(heads_of_128("llama")
                        .text("rope.scaling.type", "yarn")
                        .real("rope.scaling.factor", 2)
                        .tensor("rope_freqs.weight", {1}, {1})),
            "llama: Locus has no rule for rope.scaling.type yarn together with a tensor of factors");
}

}  // namespace
}  // namespace locus::io
