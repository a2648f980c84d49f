// SPDX-License-Identifier: Apache-2.0
// The spelling of an encoding is the same for every command, and --config takes files and folders.
#include <filesystem>
#include <set>

#include "cli/locus_command.h"

namespace locus::testing {
namespace {

const std::string config = R"({"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "head_dim": 16,
                               "max_position_embeddings": 2048, "rope_theta": 10000.0, "num_hidden_layers": 1,
                               "num_key_value_heads": 4, "intermediate_size": 64, "vocab_size": 32})";

TEST(Spelling, ShortAndLongFormsAreTheSameEncoding) {
  const TemporaryFolder folder;
  const Json short_form = json_of(
      folder, "show --scheme rope:head_dim=16,pairing=half,rule=yarn,factor=2,original_length=64 --positions 0,5");
  const Json long_form =
      json_of(folder,
              "show --scheme rope --set head_dim=16 --set pairing=half --set rule=yarn --set factor=2 "
              "--set original_length=64 --positions 0,5");
  EXPECT_EQ(short_form, long_form);
  EXPECT_EQ(json_of(folder, "show --scheme yarn:2,head_dim=16,pairing=half,original_length=64 --positions 0,5"),
            long_form);
  EXPECT_EQ(json_of(folder,
                    "show --scheme rope:head_dim=16,pairing=half --set rule=yarn --set factor=2 "
                    "--set original_length=64 --positions 0,5"),
            long_form);
}

TEST(Spelling, AtIsConfig) {
  const TemporaryFolder folder;
  folder.write("config.json", config);
  EXPECT_EQ(json_of(folder, "show --scheme @config.json"), json_of(folder, "show --config config.json"));
}

TEST(Spelling, ConfigTakesFilesAndFolders) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "model");
  folder.write("model/config.json", config);
  const Json by_file = json_of(folder, "show --config model/config.json");
  EXPECT_EQ(by_file["head_dim"], 16);
  EXPECT_EQ(json_of(folder, "show --config model"), by_file);
  output_of(folder, "convert to-gguf model/config.json --architecture llama --output rope.data");
  const Json by_gguf = json_of(folder, "show --config rope.data");  // with any file name
  EXPECT_EQ(by_gguf["inv_freq"], by_file["inv_freq"]);
  std::filesystem::create_directory(folder / "alone");
  std::filesystem::copy(folder / "rope.data", folder / "alone/rope.data");
  EXPECT_EQ(json_of(folder, "show --config alone"), by_gguf);
  const CommandResult lint = run_locus(folder, "lint alone");
  EXPECT_NE(lint.exit_code, 2) << lint.err;
  EXPECT_EQ(lint.exit_code, run_locus(folder, "lint rope.data").exit_code);
}

TEST(Spelling, VerifyTakesSeveral) {
  const TemporaryFolder folder;
  const auto schemes_in = [&](const std::string& options) {
    std::set<std::string> names;
    const Json report = json_of(folder, "verify --shapes 1 " + options);
    for (const Json& check : report["checks"]) names.insert(check["scheme"].get<std::string>());
    return names;
  };
  const std::string spelled = "rope:rule=yarn,factor=2,truncate=false";
  const std::set<std::string> expected = {"alibi:heads=4", spelled};
  EXPECT_EQ(schemes_in("--scheme alibi:heads=4 --scheme " + spelled), expected);
  EXPECT_EQ(schemes_in("--scheme alibi:heads=4;" + spelled), expected);
}

TEST(Spelling, PlotDrawsSeveralIfTheFigureCan) {
  const TemporaryFolder folder;
  const std::string text =
      output_of(folder,
                "plot wavelengths --scheme rope:head_dim=16,pairing=half;rope:head_dim=16,pairing=half,base=500 "
                "-o -");
  EXPECT_NE(text.find("base=500"), std::string::npos);
  const CommandResult one = run_locus(folder, "plot bias --scheme alibi:heads=4;alibi:heads=8 -o -");
  EXPECT_EQ(one.exit_code, 2);
  EXPECT_NE(one.err.find("draws one encoding, got 2"), std::string::npos) << one.err;
}

}  // namespace
}  // namespace locus::testing
