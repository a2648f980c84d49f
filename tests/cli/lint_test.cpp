// SPDX-License-Identifier: Apache-2.0
// `locus lint`: what is printed, the JSON, and the exit code.
#include "cli/locus_command.h"
#include "support/gguf_model.h"

namespace locus::testing {
namespace {

const std::string small_llama =
    R"({"model_type": "llama", "hidden_size": 16, "num_attention_heads": 2, "rope_theta": 10000,
    "max_position_embeddings": 4096})";

GgufModel gguf_llama() {
  GgufModel model("llama");
  model.integer("embedding_length", 16).integer("attention.head_count", 2).integer("context_length", 4096);
  model.integer("rope.dimension_count", 8).real("rope.freq_base", 10000);
  return model;
}

TEST(LintCommand, DescribesEveryLayerType) {
  const TemporaryFolder folder;
  folder.write("config.json", small_llama);
  const Json json = json_of(folder, "lint config.json");
  EXPECT_EQ(json["format"], "config.json");
  EXPECT_EQ(json["model_type"], "llama");
  EXPECT_EQ(json["served_length"], 4096);
  EXPECT_EQ(json["errors"], 0);
  ASSERT_EQ(json["layers"].size(), 1u);
  const Json& layer = json["layers"][0];
  EXPECT_EQ(layer["scheme"], "rope");
  EXPECT_EQ(layer["rule"], "none");
  EXPECT_EQ(layer["pairing"], "half");
  EXPECT_EQ(layer["rotary_dim"], 8);
  EXPECT_EQ(layer["attention_factor"], 1.0);
  EXPECT_EQ(layer["softmax_scale_factor"], 1.0);
  EXPECT_EQ(layer["trained_length"], 4096);
  EXPECT_EQ(layer["training_length"], 4096);  // its old name stays readable
  ASSERT_EQ(layer["inv_freq"].size(), 4u);
  EXPECT_NEAR(layer["inv_freq"][3].get<double>(), 1e-3, 1e-17);  // 10000^(-6/8)

  const std::string text = output_of(folder, "lint config.json");
  for (const std::string part : {"all layers: rope, rule none", "1 ... 0.001 (4)", "pairing               half",
                                 "width                 8 of 8", "4096 / 4096", "0 errors"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(LintCommand, AnErrorEndsWith1) {
  const TemporaryFolder folder;
  folder.write("config.json", small_llama);
  const CommandResult result = run_locus(folder, "lint config.json --served-length 8192 --json");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "");
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["errors"], 1);
  const Json& finding = json["findings"][0];
  EXPECT_EQ(finding["id"], "served-beyond-trained");
  EXPECT_EQ(finding["severity"], "error");
  EXPECT_EQ(finding["numbers"]["trained_length"], 4096);
  EXPECT_FALSE(finding["keys"].empty());
  const CommandResult text = run_locus(folder, "lint config.json --served-length 8192");
  EXPECT_EQ(text.exit_code, 1);
  EXPECT_NE(text.out.find("error [served-beyond-trained] max_position_embeddings"), std::string::npos) << text.out;
}

TEST(LintCommand, InvalidSettingsAreFindings) {
  const TemporaryFolder folder;
  folder.write("config.json", R"({"model_type": "llama", "head_dim": 8, "rope_scaling": {"rope_type": "spiral"}})");
  const CommandResult result = run_locus(folder, "lint config.json --json");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(Json::parse(result.out)["findings"][0]["id"], "settings-refused");
  EXPECT_EQ(run_locus(folder, "lint config.json").exit_code, 1);
}

TEST(LintCommand, ComparesAFolderWithAGgufFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "model");
  folder.write("model/config.json", small_llama);
  gguf_llama().write(folder / "same.gguf");
  const Json same = json_of(folder, "lint model --against same.gguf");
  ASSERT_EQ(same["differences"].size(), 1u);
  EXPECT_EQ(same["differences"][0]["id"], "against-pairing");
  EXPECT_EQ(same["against"]["format"], "GGUF");

  gguf_llama().real("rope.scaling.factor", 4).write(folder / "other.gguf");
  const CommandResult other = run_locus(folder, "lint model --against other.gguf --json");
  EXPECT_EQ(other.exit_code, 1);
  const Json json = Json::parse(other.out);
  EXPECT_EQ(json["differences"][0]["id"], "against-frequency");
  EXPECT_EQ(json["differences"][0]["numbers"]["first_pair"], 0);
  EXPECT_EQ(json["differences"][0]["numbers"]["length"], 4096);
  const CommandResult text = run_locus(folder, "lint model --against other.gguf");
  EXPECT_NE(text.out.find("against other.gguf (GGUF, llama)"), std::string::npos) << text.out;
}

TEST(LintCommand, EqualFilesHaveNoDifference) {
  const TemporaryFolder folder;
  folder.write("config.json", small_llama);
  EXPECT_NE(output_of(folder, "lint config.json --against config.json").find("no difference"), std::string::npos);
}

// Keys and names come from untrusted files and must not control the terminal.
TEST(LintCommand, PrintsNoControlCharacters) {
  const TemporaryFolder folder;
  folder.write("config.json",
               "{\"model_type\": \"lla\\u001b[2Jma\", \"hidden_size\": 64, \"num_attention_heads\": 2, "
               "\"max_position_embeddings\": 64, \"rope_\\u001b]0;title\\u0007\\u009b31m\": 1, "
               "\"rope_theta\": 5e5, \"rope_theta\": 1e4}");
  for (const std::string command : {"lint config.json", "show --config config.json --pairing half"}) {
    const CommandResult result = run_locus(folder, command);
    EXPECT_NE(result.out.find("rope_?]0;title??31m"), std::string::npos) << result.out << result.err;
    for (const char c : result.out + result.err)
      EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= ' ') << int{c};
    EXPECT_EQ(result.out.find("\xc2\x9b"), std::string::npos);
    // A duplicate key: the last one counts, and a finding reports it.
    EXPECT_NE(result.out.find("rope_theta"), std::string::npos);
    EXPECT_NE(result.out.find("more than once"), std::string::npos) << result.out;
  }
}

}  // namespace
}  // namespace locus::testing
