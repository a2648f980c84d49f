// SPDX-License-Identifier: Apache-2.0
// A fault of a model or a call is reported with one line that names it, and nothing is partly done.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "locus/error.h"
#include "probe/memory.h"
#include "probe/model.h"
#include "support/command.h"
#include "support/error_of.h"
#include "support/tiny_model.h"

namespace locus::probe {
namespace {

using locus::testing::make_tiny;
using locus::testing::TemporaryFolder;
using locus::testing::TinyModel;
using testing::error_of;

void expect_message(const std::function<void()>& act, const std::vector<std::string>& parts) {
  const std::string message = error_of(act);
  for (const std::string& part : parts) EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

void expect_refused(TinyModel tiny, const std::vector<std::string>& parts) {
  const TemporaryFolder folder;
  write_hf_folder(tiny, folder / "model");
  expect_message([&] { load(folder / "model"); }, parts);
}

TEST(Errors, NameTheArchitecture) {
  TinyModel tiny = make_tiny("llama");
  tiny.config["model_type"] = "mamba";
  expect_refused(tiny, {"unknown architecture 'mamba'", "gpt_neox"});
}

TEST(Errors, NameTheMissingTensor) {
  TinyModel tiny = make_tiny("llama");
  tiny.tensors.erase("model.layers.1.mlp.up_proj.weight");
  expect_refused(tiny, {"model.layers.1.mlp.up_proj.weight", "missing"});
  TinyModel qwen = make_tiny("qwen2");
  qwen.tensors.erase("model.layers.0.self_attn.k_proj.bias");
  expect_refused(qwen, {"model.layers.0.self_attn.k_proj.bias", "missing"});
}

TEST(Errors, NameTheShapes) {
  TinyModel tiny = make_tiny("gpt_neox");
  tiny.config["vocab_size"] = 51;
  expect_refused(tiny, {"gpt_neox.embed_in.weight", "[51, 32]", "[50, 32]"});
  TinyModel bloom = make_tiny("bloom");
  bloom.config["num_attention_heads"] = 3;
  expect_refused(bloom, {"3 heads of 10", "width (32)"});
}

TEST(Errors, NoteUnreadTensors) {
  for (const char* architecture : {"llama", "qwen2", "qwen3", "gpt2", "gpt_neox", "bloom"}) {
    TinyModel tiny = make_tiny(architecture);
    const TemporaryFolder folder;
    write_hf_folder(tiny, folder / "model");
    const auto unread = [&] {
      const Model model = load(folder / "model");
      std::size_t count = 0;
      for (const std::string& note : model.notes()) {
        count += note.find("were not read") != std::string::npos ? 1 : 0;
      }
      return count;
    };
    EXPECT_EQ(unread(), 0U) << architecture;
    tiny.tensors["adapter.weight"] = {{1, 1}, {0.0f}};
    tiny.tensors["h.0.attn.masked_bias"] = {{1}, {0.0f}};
    write_hf_folder(tiny, folder / "model");
    EXPECT_EQ(unread(), 1U) << architecture;
  }
}

TEST(Errors, NameSettingsOfAnotherForm) {
  TinyModel tiny = make_tiny("gpt2");
  tiny.config["activation_function"] = "relu";
  expect_refused(tiny, {"activation of gpt2 must be gelu_new", "relu"});
  tiny = make_tiny("gpt2");
  tiny.config["scale_attn_by_inverse_layer_idx"] = true;
  expect_refused(tiny, {"scale_attn_by_inverse_layer_idx"});
}

TEST(Errors, ReportTruncatedFiles) {
  TinyModel tiny = make_tiny("llama");
  const TemporaryFolder folder;
  write_gguf_file(tiny, folder / "model.gguf");
  const auto size = std::filesystem::file_size(folder / "model.gguf");
  for (const auto kept : {size - 1, size / 2, std::uintmax_t{100}, std::uintmax_t{4}}) {
    std::filesystem::resize_file(folder / "model.gguf", kept);
    expect_message([&] { load(folder / "model.gguf"); }, {"model.gguf"});
  }
  folder.write("model.bin", "too short");
  expect_message([&] { load(folder / "model.bin"); }, {"model.bin"});
  expect_message([&] { load(folder / "absent.gguf"); }, {"absent.gguf"});
  folder.write("model.txt", "no model");
  expect_message([&] { load(folder / "model.txt"); }, {"model.txt", "GGUF"});
}

TEST(Errors, UnknownWeightTypesAreNamed) {
  TinyModel tiny = make_tiny("llama");
  const TemporaryFolder folder;
  write_gguf_file(tiny, folder / "model.gguf");
  const io::GgufFile file = io::read_gguf(folder / "model.gguf");
  std::vector<io::GgufTensor> tensors = file.tensors();
  const std::vector<std::byte> blocks(50 * 24);
  for (io::GgufTensor& tensor : tensors) {
    if (tensor.name != "token_embd.weight") continue;
    tensor.type = static_cast<io::GgufTensorType>(7);  // Q5_1: 24 bytes for 32 elements
    tensor.bytes = blocks;
  }
  io::write_gguf(folder / "other.gguf", file.metadata(), tensors);
  expect_message([&] { load(folder / "other.gguf"); }, {"token_embd.weight", "Q5_1"});
}

TEST(Errors, CheckMemoryFirst) {
  expect_message([] { require_memory("a cache", 3e9, std::int64_t{1'000'000'000}); },
                 {"a cache needs 3.0 GB", "1.0 GB are available"});
  EXPECT_NO_THROW(require_memory("a cache", 3e9, std::int64_t{3'000'000'000}));
  EXPECT_NO_THROW(require_memory("a cache", 3e9, std::nullopt));
  TinyModel tiny = make_tiny("llama");
  const TemporaryFolder folder;
  write_hf_folder(tiny, folder / "model");
  const Model model = load(folder / "model");
  if (!available_memory()) GTEST_SKIP() << "this system does not tell its memory";
  // 2 x 2 layers x 4 heads x 8 x 4 bytes a token.
  expect_message([&] { Cache(model, std::int64_t{1} << 40); }, {"1099511627776 tokens needs", "GB"});
}

/// Writes the folder of a model whose embedding has `vocab` rows; all weights are zeros that take no space on the disk.
void write_sparse_folder(TinyModel tiny, std::int64_t vocab, const std::filesystem::path& folder) {
  std::filesystem::create_directory(folder);
  tiny.config["vocab_size"] = vocab;
  std::ofstream(folder / "config.json") << tiny.config;
  nlohmann::json header;
  std::uint64_t end = 0;
  for (auto& [name, tensor] : tiny.tensors) {
    if (name == "model.embed_tokens.weight") tensor.shape[0] = vocab;
    std::uint64_t size = sizeof(float);
    for (const std::int64_t length : tensor.shape) size *= static_cast<std::uint64_t>(length);
    header[name] = {{"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {end, end + size}}};
    end += size;
  }
  const std::string text = header.dump();
  const std::uint64_t length = text.size();
  {
    std::ofstream file(folder / "model.safetensors", std::ios::binary);
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file << text;
  }
  std::filesystem::resize_file(folder / "model.safetensors", sizeof length + length + end);
}

TEST(Errors, AModelThatDoesNotFitIsRefusedWithItsSize) {
  if (!available_memory()) GTEST_SKIP() << "this system does not tell its memory";
  const TemporaryFolder folder;
  const TinyModel tiny = make_tiny("llama", {.layers = 1, .dim = 1024}, true);
  write_sparse_folder(tiny, 50, folder / "small");
  EXPECT_NO_THROW(load(folder / "small"));
  write_sparse_folder(tiny, (std::int64_t{1} << 31) - 1, folder / "large");  // x 1024 x 4 bytes: 8.8e12
  expect_message([&] { load(folder / "large"); }, {"large", "the model needs 879", " GB of memory, but only "});
}

TEST(Errors, ABadCallLeavesTheCacheUnchanged) {
  TinyModel tiny = make_tiny("gpt2");
  const TemporaryFolder folder;
  write_hf_folder(tiny, folder / "model");
  const Model model = load(folder / "model");
  Cache cache(model, 100);
  const SequenceId sequence = cache.create();
  const std::vector<Token> three = {1, 2, 3}, outside = {1, 50}, negative = {-1};
  model.forward(three, sequence, cache);
  expect_message([&] { model.forward(outside, sequence, cache); }, {"token 50", "vocabulary of 50"});
  expect_message([&] { model.forward(negative, sequence, cache); }, {"token -1"});
  expect_message([&] { model.forward(std::vector<Token>(62, 1), sequence, cache); }, {"from 0 to 63", "got 64"});
  Cache small(model, 4);
  expect_message([&] { model.forward(std::vector<Token>(17, 1), small.create(), small); }, {"1 free pages", "need 2"});
  const std::vector<Position> backwards = {1, 2, 3};
  const Segment segment{.sequence = sequence, .tokens = three, .positions = backwards};
  expect_message([&] { model.forward({.segments = std::span(&segment, 1)}, cache); }, {"must rise", "got 1 after 2"});
  // If a callback throws in the middle of the layers, everything cached before it is undone.
  const Segment next{.sequence = sequence, .tokens = three};
  const std::vector<std::int64_t> rows = {0};
  ForwardCall call{.segments = std::span(&next, 1), .attention_wanted = rows};
  call.on_attention = [](const AttentionRows& attention) { require(attention.layer == 0, "enough"); };
  expect_message([&] { model.forward(call, cache); }, {"enough"});
  for (const KvCache& layer : cache.layers()) EXPECT_EQ(layer.length(sequence), 3);
}

}  // namespace
}  // namespace locus::probe
