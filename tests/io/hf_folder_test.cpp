// SPDX-License-Identifier: Apache-2.0
#include "locus/io/hf_folder.h"

#include <gtest/gtest.h>

#include "io/bytes.h"

namespace locus::io {
namespace {

class HfFolders : public InTemporaryFolder {
 protected:
  std::string fault() const {
    const std::string message = error_of([&] { find_hf_folder(folder_).read_weights(); });
    EXPECT_TRUE(message.starts_with(folder_.string() + ": ")) << message;
    return message.substr(std::min(message.size(), folder_.string().size() + 2));
  }
};

const std::string empty_safetensors = Bytes().number(std::uint64_t{8}).text("{}      ").str();

TEST_F(HfFolders, FindsWhatIsThere) {
  put("config.json", "{}");
  EXPECT_FALSE(find_hf_folder(folder_).weights);
  EXPECT_FALSE(find_hf_folder(folder_).tokenizer);
  put("model.safetensors.index.json", "{}");
  EXPECT_EQ(find_hf_folder(folder_).require_weights(), folder_ / "model.safetensors.index.json");
  put("model.safetensors", empty_safetensors);
  put("tokenizer.json", "{}");
  const HfFolder found = find_hf_folder(folder_);
  EXPECT_EQ(found.config, folder_ / "config.json");
  EXPECT_EQ(found.require_weights(), folder_ / "model.safetensors");  // transformers takes the single file first
  EXPECT_EQ(found.require_tokenizer(), folder_ / "tokenizer.json");
  EXPECT_TRUE(found.read_weights().tensor_names().empty());
}

TEST_F(HfFolders, ReadsShards) {
  put("config.json", "{}");
  put("model-1.safetensors", Bytes()
                                 .number(std::uint64_t{55})
                                 .text(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}} )")
                                 .number(3.0f)
                                 .str());
  put("model.safetensors.index.json", R"({"weight_map":{"w":"model-1.safetensors"}})");
  const SafetensorsModel model = find_hf_folder(folder_).read_weights();
  EXPECT_EQ(model.floats(*model.find_tensor("w")), std::vector<float>{3.0f});
}

TEST_F(HfFolders, SaysWhatIsMissing) {
  EXPECT_EQ(error_of([&] { find_hf_folder(folder_ / "no"); }),
            (folder_ / "no").string() + ": cannot read (No such file or directory)");
  EXPECT_EQ(fault(), "a model folder must have config.json");
  const auto gguf = put("m.gguf", "");
  EXPECT_EQ(fault(), "a model folder must have config.json; give the GGUF file itself (m.gguf)");
  EXPECT_EQ(error_of([&] { find_hf_folder(gguf); }), gguf.string() + ": must be a model folder, got a file");
  put("config.json", "{}");
  EXPECT_EQ(fault(), "has no weights (model.safetensors or model.safetensors.index.json)");
  put("pytorch_model.bin", "");
  EXPECT_EQ(fault(),
            "has no safetensors; pytorch_model.bin may be a Python pickle, which is not supported; save the model with "
            "safe_serialization=True");
  for (const char* shard : {"d.safetensors", "b.safetensors", "a.safetensors", "c.safetensors"}) put(shard, "");
  EXPECT_EQ(fault(),
            "has a.safetensors, b.safetensors, c.safetensors, ..., but neither model.safetensors nor "
            "model.safetensors.index.json");
  EXPECT_EQ(error_of([&] { find_hf_folder(folder_).require_tokenizer(); }),
            folder_.string() + ": has no tokenizer.json");
}

TEST_F(HfFolders, AFolderOfThatNameIsNoFile) {
  std::filesystem::create_directory(folder_ / "config.json");
  EXPECT_EQ(fault(), "a model folder must have config.json");
}

}  // namespace
}  // namespace locus::io
