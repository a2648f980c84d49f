// SPDX-License-Identifier: Apache-2.0
#include "locus/io/gguf_rope.h"

#include <gtest/gtest.h>

#include "io/gguf_bytes.h"

namespace locus::io {
namespace {

GgufRope collected(const std::string& bytes) {
  return collect_gguf_rope(parse_gguf(std::as_bytes(std::span(bytes)), "m.gguf"));
}

TEST(GgufRope, CollectsEverySetting) {
  GgufBytes file(3, 26);
  file.text_entry("general.architecture", "phi3");
  file.uint32_entry("phi3.context_length", 131072).uint32_entry("phi3.embedding_length", 3072);
  file.uint32_entry("phi3.block_count", 32);
  file.uint32_entry("phi3.attention.head_count", 32).uint32_entry("phi3.attention.head_count_kv", 8);
  file.uint32_entry("phi3.attention.key_length", 96).uint32_entry("phi3.attention.value_length", 80);
  file.uint32_entry("phi3.attention.sliding_window", 2048).float_entry("phi3.attention.max_alibi_bias", 8.0f);
  file.float_entry("phi3.rope.freq_base", 10000.0f).float_entry("phi3.rope.freq_base_swa", 5000.0f);
  file.uint32_entry("phi3.rope.dimension_count", 64);
  file.key("phi3.rope.dimension_sections", 9).number(5u).number(std::uint64_t{4});
  for (const std::int32_t section : {8, 12, 12, 0}) file.number(section);
  file.text_entry("phi3.rope.scaling.type", "longrope").float_entry("phi3.rope.scaling.factor", 32.0f);
  file.float_entry("phi3.rope.scaling.attn_factor", 1.25f);
  file.uint32_entry("phi3.rope.scaling.original_context_length", 4096);
  file.key("phi3.rope.scaling.finetuned", 7).number(std::uint8_t{1});
  file.float_entry("phi3.rope.scaling.yarn_log_multiplier", 0.125f)
      .float_entry("phi3.rope.scaling.yarn_ext_factor", 1.0f);
  file.float_entry("phi3.rope.scaling.yarn_attn_factor", 0.5f).float_entry("phi3.rope.scaling.yarn_beta_fast", 32.0f);
  file.float_entry("phi3.rope.scaling.yarn_beta_slow", 2.0f).float_entry("phi3.rope.scaling.alpha", 1000.0f);
  file.float_entry("phi3.rope.of_the_future", 1.0f);
  file.tensor("rope_factors_long.weight", {2}, 0, 0).tensor("rope_factors_short.weight", {2}, 0, 32);
  file.tensor("rope_freqs.weight", {1}, 0, 64).pad_to(32);
  file.number(2.0f).number(4.0f).pad_to(32).number(1.0f).number(1.5f).pad_to(32).number(8.0f);

  const GgufRope rope = collected(file.str());
  EXPECT_EQ(rope.architecture, "phi3");
  EXPECT_EQ(rope.rope_type, GgufRopeType::half);
  EXPECT_EQ(rope.context_length, 131072);
  EXPECT_EQ(rope.embedding_length, 3072);
  EXPECT_EQ(rope.block_count, 32);
  EXPECT_EQ(rope.head_count, std::vector<std::int64_t>{32});
  EXPECT_EQ(rope.head_count_kv, std::vector<std::int64_t>{8});
  EXPECT_EQ(rope.key_length, 96);
  EXPECT_EQ(rope.value_length, 80);
  EXPECT_EQ(rope.sliding_window, 2048);
  EXPECT_EQ(rope.max_alibi_bias, 8.0);
  EXPECT_EQ(rope.freq_base, 10000.0);
  EXPECT_EQ(rope.freq_base_swa, 5000.0);
  EXPECT_EQ(rope.dimension_count, 64);
  EXPECT_EQ(rope.dimension_sections, (std::vector<std::int64_t>{8, 12, 12, 0}));
  EXPECT_EQ(rope.scaling_type, "longrope");
  EXPECT_EQ(rope.scaling_factor, 32.0);
  EXPECT_EQ(rope.scaling_attn_factor, 1.25);
  EXPECT_EQ(rope.scaling_alpha, 1000.0);
  EXPECT_EQ(rope.original_context_length, 4096);
  EXPECT_EQ(rope.scaling_finetuned, true);
  EXPECT_EQ(rope.yarn_log_multiplier, 0.125);
  EXPECT_EQ(rope.yarn_ext_factor, 1.0);
  EXPECT_EQ(rope.yarn_attn_factor, 0.5);
  EXPECT_EQ(rope.yarn_beta_fast, 32.0);
  EXPECT_EQ(rope.yarn_beta_slow, 2.0);
  EXPECT_EQ(rope.long_factors, (std::vector<float>{2, 4}));
  EXPECT_EQ(rope.short_factors, (std::vector<float>{1, 1.5f}));
  EXPECT_EQ(rope.freq_factors, std::vector<float>{8});
  EXPECT_EQ(rope.unknown, std::vector<std::string>{"phi3.rope.of_the_future"});
}

TEST(GgufRope, LeavesEmptyWhatIsNotThere) {
  // Keys of another architecture are ignored.
  const GgufRope rope = collected(
      GgufBytes(0, 2).text_entry("general.architecture", "llama").float_entry("qwen2.rope.freq_base", 5.0f).str());
  EXPECT_EQ(rope.rope_type, GgufRopeType::interleaved);
  EXPECT_FALSE(rope.freq_base || rope.dimension_count || rope.dimension_sections || rope.scaling_type ||
               rope.scaling_factor || rope.freq_factors || rope.long_factors || rope.head_count || rope.max_alibi_bias);
  EXPECT_TRUE(rope.unknown.empty());
}

TEST(GgufRope, TakesHeadCountsPerLayerAndTheOlderFactor) {
  GgufBytes file(0, 3);
  file.text_entry("general.architecture", "deci").float_entry("deci.rope.scale_linear", 4.0f);
  file.key("deci.attention.head_count_kv", 9).number(4u).number(std::uint64_t{3}).number(8u).number(0u).number(4u);
  const GgufRope rope = collected(file.str());
  EXPECT_EQ(rope.head_count_kv, (std::vector<std::int64_t>{8, 0, 4}));
  EXPECT_EQ(rope.scaling_factor, 4.0);

  // Both: the newer key counts.
  EXPECT_EQ(collected(GgufBytes(0, 3)
                          .text_entry("general.architecture", "llama")
                          .float_entry("llama.rope.scale_linear", 4.0f)
                          .float_entry("llama.rope.scaling.factor", 2.0f)
                          .str())
                .scaling_factor,
            2.0);
}

TEST(GgufRope, Refuses) {
  const auto message = [](const GgufBytes& file) { return error_of([&] { collected(file.str()); }); };
  EXPECT_EQ(message(GgufBytes(0, 0)), "m.gguf: general.architecture is missing; it determines the names of the keys");
  EXPECT_EQ(message(GgufBytes(0, 1).text_entry("general.architecture", "")),
            "m.gguf: general.architecture must not be empty");
  EXPECT_EQ(message(GgufBytes(0, 1).uint32_entry("general.architecture", 1)),
            "m.gguf: general.architecture must be a string, got uint32");
  EXPECT_EQ(
      message(GgufBytes(0, 2).text_entry("general.architecture", "llama").uint32_entry("llama.rope.freq_base", 10000)),
      "m.gguf: llama.rope.freq_base must be a float32 or float64, got uint32");
  EXPECT_EQ(message(GgufBytes(1, 1)
                        .text_entry("general.architecture", "llama")
                        .tensor("rope_freqs.weight", {1, 1}, 0, 0)
                        .pad_to(32)
                        .zeros(4)),
            "m.gguf: tensor rope_freqs.weight must have one axis, got 2");
}

// From llama.cpp's switch over architectures.
TEST(GgufRope, KnowsTheRotationOfArchitectures) {
  using enum GgufRopeType;
  struct Case {
    const char* architecture;
    GgufRopeType plain, with_axes;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"llama", interleaved, interleaved},
           {"command-r", interleaved, interleaved},
           {"deepseek2", interleaved, interleaved},
           {"xverse", interleaved, interleaved},
           {"arcee", interleaved, interleaved},
           {"falcon", half, half},
           {"qwen2", half, half},
           {"gemma3", half, half},
           {"gpt-oss", half, half},
           {"phi3", half, half},
           {"gptneox", half, half},
           {"afmoe", half, half},
           {"talkie", half, half},
           {"gpt2", none, none},
           {"bloom", none, none},
           {"mpt", none, none},
           {"t5", none, none},
           {"arwkv7", none, none},
           {"wavtokenizer-dec", none, none},
           {"qwen2vl", mrope, mrope},
           {"paddleocr", mrope, mrope},
           {"qwen3vl", imrope, imrope},
           {"qwen35moe", imrope, imrope},
           {"glm4", interleaved, mrope},
           {"glm4moe", half, mrope},
           {"hunyuan_vl", half, mrope},
           {"dflash", half, half},
       }) {
    EXPECT_EQ(gguf_rope_type(c.architecture, false), c.plain) << c.architecture;
    EXPECT_EQ(gguf_rope_type(c.architecture, true), c.with_axes) << c.architecture;
  }
  EXPECT_EQ(gguf_rope_type("of_the_future", false), std::nullopt);
  EXPECT_EQ(gguf_rope_type("", false), std::nullopt);
}

TEST(GgufRope, SectionsAndHyperConnectionsDecide) {
  const auto sections = [](std::int32_t second) {
    GgufBytes file(0, 2);
    file.text_entry("general.architecture", "glm4").key("glm4.rope.dimension_sections", 9).number(5u);
    file.number(std::uint64_t{2}).number(std::int32_t{8}).number(second);
    return file.str();
  };
  EXPECT_EQ(collected(sections(12)).rope_type, GgufRopeType::mrope);
  EXPECT_EQ(collected(sections(0)).rope_type, GgufRopeType::interleaved);
  EXPECT_EQ(collected(GgufBytes(0, 2)
                          .text_entry("general.architecture", "dflash")
                          .uint32_entry("dflash.hyper_connection.count", 4)
                          .str())
                .rope_type,
            GgufRopeType::interleaved);
}

}  // namespace
}  // namespace locus::io
