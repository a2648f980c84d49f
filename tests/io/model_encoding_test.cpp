// SPDX-License-Identifier: Apache-2.0
#include "locus/io/model_encoding.h"

#include <gtest/gtest.h>

#include "locus/error.h"
#include "support/command.h"
#include "support/error_of.h"
#include "support/gguf_model.h"

namespace locus::io {
namespace {

using testing::TemporaryFolder;

constexpr const char* llama =
    R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "torch_dtype": "bfloat16"})";
constexpr const char* two_kinds =
    R"({"model_type": "gemma3_text", "head_dim": 16, "hidden_size": 64, "num_attention_heads": 4,
        "layer_types": ["full_attention", "sliding_attention"], "rope_parameters":
        {"sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
         "full_attention": {"rope_type": "default", "rope_theta": 1e6}}})";

std::string model_refusal(const std::filesystem::path& path, const ModelOptions& options) {
  return testing::error_of([&] { model_encoding(path, options); });
}

TEST(ModelEncoding, AConfigBoundAndWhatWasReadOfIt) {
  const TemporaryFolder folder;
  folder.write("config.json", llama);
  const ModelEncoding model = model_encoding(folder / "config.json");
  EXPECT_EQ(model.encoding.rotation().head_dim, 16);
  EXPECT_EQ(model.encoding.rotation().pairing, Pairing::half);
  EXPECT_EQ(model.encoding.rotation().profile, Profile::exact);
  EXPECT_FALSE(model.read.defaulted.empty());
  EXPECT_EQ(model_encoding(folder / "config.json", {.pairing = "interleaved"}).encoding.rotation().pairing,
            Pairing::interleaved);
}

// transformers computes cos and sin in float32 and casts them to the model's type; ggml keeps float32.
TEST(ModelEncoding, AProfileBringsTheTablesType) {
  const TemporaryFolder folder;
  folder.write("config.json", llama);
  const auto rotation = [&](const char* profile) {
    return model_encoding(folder / "config.json", {.profile = profile}).encoding.rotation();
  };
  EXPECT_EQ(rotation("hf").profile, Profile::hf);
  EXPECT_EQ(rotation("hf").table_type, ElementType::bfloat16);
  EXPECT_EQ(rotation("ggml").table_type, ElementType::float32);
  EXPECT_EQ(rotation("exact").table_type, ElementType::float32);
  EXPECT_THROW(rotation("none such"), Error);
}

TEST(ModelEncoding, SeveralKindsOfLayersMustBeChosenFrom) {
  const TemporaryFolder folder;
  folder.write("config.json", two_kinds);
  EXPECT_EQ(model_encodings(folder / "config.json").size(), 2u);
  const std::string message = model_refusal(folder / "config.json", {});
  EXPECT_NE(message.find("sliding_attention"), std::string::npos) << message;
  const ModelEncoding full = model_encoding(folder / "config.json", {.layer_type = "full_attention"});
  EXPECT_EQ(full.encoding.arguments().real("base"), 1e6);
}

TEST(ModelEncoding, AGgufFileByItsEnding) {
  const TemporaryFolder folder;
  testing::GgufModel("llama")
      .integer("embedding_length", 64)
      .integer("attention.head_count", 4)
      .integer("context_length", 512)
      .real("rope.freq_base", 5e5f)
      .write(folder / "m.gguf");
  const ModelEncoding model = model_encoding(folder / "m.gguf");
  EXPECT_EQ(model.encoding.rotation().head_dim, 16);
  EXPECT_EQ(model.encoding.rotation().pairing, Pairing::interleaved);
  EXPECT_EQ(model.encoding.arguments().real("base"), 5e5);
  EXPECT_NE(model_refusal(folder / "m.gguf", {.pairing = "half"}).find("half"), std::string::npos);
  EXPECT_NE(model_refusal(folder / "m.gguf", {.layer_type = "no such"}).find("no such"), std::string::npos);
}

}  // namespace
}  // namespace locus::io
