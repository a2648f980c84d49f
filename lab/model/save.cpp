// SPDX-License-Identifier: Apache-2.0
#include "model/save.h"

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "locus/error.h"
#include "locus/io/atomic_file.h"
#include "locus/io/encoding_json.h"
#include "locus/io/gguf.h"
#include "locus/io/safetensors.h"
#include "model/norm.h"

namespace locus::lab {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// A weight's name in the lab (and, with a prefix and ".weight", in safetensors), and in GGUF.
struct Name {
  const char* own;
  const char* gguf;
};
constexpr std::array whole_model = {Name{"embedding", "token_embd"}, Name{"head", "output"},
                                    Name{"norm", "output_norm"}};
constexpr std::array each_layer = {Name{"attention.norm", "attn_norm"},  Name{"attention.qkv", "attn_qkv"},
                                   Name{"attention.out", "attn_output"}, Name{"feed_forward.norm", "ffn_norm"},
                                   Name{"feed_forward.in", "ffn_up"},    Name{"feed_forward.out", "ffn_down"}};

struct NamedTensor {
  std::string safetensors, gguf;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

std::vector<NamedTensor> tensors_of(const Transformer& model, const Encoding& encoding) {
  std::vector<NamedTensor> tensors;
  const auto add = [&](const std::string& own, const std::string& safetensors, const std::string& gguf,
                       const char* ending = ".weight") {
    const at::Tensor& weight = model.weights().at(own);
    const auto bytes = std::as_bytes(std::span(weight.data_ptr<float>(), static_cast<std::size_t>(weight.numel())));
    tensors.push_back({safetensors + ending, gguf + ending, weight.sizes().vec(), bytes});
  };
  for (const Name& name : whole_model) add(name.own, name.own, name.gguf);
  for (std::int64_t layer = 0; layer < model.spec().shape.layers; ++layer) {
    const std::string index = std::to_string(layer) + ".";
    for (const Name& name : each_layer) add(index + name.own, "layers." + index + name.own, "blk." + index + name.gguf);
  }
  for (std::int64_t layer = 0; layer < model.spec().shape.layers; ++layer) {
    const std::string index = std::to_string(layer) + ".";
    if (!model.weights().has(index + "attention.gate")) continue;
    add(index + "attention.gate", "layers." + index + "attention.gate", "blk." + index + "attn_gate");
    add(index + "attention.gate_bias", "layers." + index + "attention.gate", "blk." + index + "attn_gate", ".bias");
  }
  for (const auto& [argument, value] : encoding.arguments().all()) {
    const auto* const tensor = std::get_if<Tensor>(&value);
    if (tensor == nullptr) continue;
    const std::string name = io::encoding_tensor_name(argument);
    tensors.push_back({name, name, tensor->shape, std::as_bytes(std::span(tensor->data))});
  }
  return tensors;
}

std::string tokenizer_of(const TaskDescription& task) { return task.bytes ? "bytes" : "none"; }

Json frame_of(const KeyFrame& keys) {
  return {{"key_mark", keys.key_mark}, {"question", keys.question}, {"noise", keys.noise}, {"keys", keys.keys}};
}

Json origin_of(const TrialSpec& spec, const ModelFiles& files) {
  return {{"trial", files.trial}, {"task", spec.task},   {"scheme", spec.scheme},
          {"seed", spec.seed},    {"steps", spec.steps}, {"version", LOCUS_VERSION}};
}

Json config_of(const Transformer& model, const Encoding& encoding, const TaskDescription& task, const TrialSpec& spec,
               const ModelFiles& files) {
  const ModelShape& shape = model.spec().shape;
  Json config = {{"model_type", "locus_lab"},
                 {"num_hidden_layers", shape.layers},
                 {"num_attention_heads", shape.heads},
                 {"hidden_size", shape.width},
                 {"intermediate_size", model.weights().at("0.feed_forward.in").size(0)},
                 {"vocab_size", task.vocabulary},
                 {"max_position_embeddings", spec.trained_length},
                 {"rms_norm_eps", static_cast<double>(norm_epsilon)},
                 {"tie_word_embeddings", false},
                 {"torch_dtype", "float32"},
                 {"locus_encoding", Json::parse(io::encoding_json(encoding))},
                 {"tokenizer", tokenizer_of(task)},
                 {"lab", origin_of(spec, files)}};
  if (task.keys) config["passkey"] = frame_of(*task.keys);
  return config;
}

/// Writes one line per key: the lists are long.
std::string lines_of(const Json& config) {
  std::string text;
  for (const auto& [key, value] : config.items()) {
    text += (text.empty() ? "{\n  " : ",\n  ") + Json(key).dump() + ": " + value.dump();
  }
  return text + "\n}\n";
}

void write_folder(const fs::path& folder, std::span<const NamedTensor> tensors, const Json& config) {
  fs::create_directories(folder);
  fs::remove(folder / "config.json");  // an old file would describe other weights
  std::vector<io::SafetensorsTensor> all;
  for (const NamedTensor& one : tensors) {
    all.push_back({one.safetensors, io::SafetensorsType::f32, one.shape, one.bytes});
  }
  io::write_safetensors(folder / "model.safetensors", all, {{"format", "pt"}});
  const std::string text = lines_of(config);
  const io::ByteChunk chunk = std::as_bytes(std::span(text));
  io::write_atomically(folder / "config.json", std::span(&chunk, 1));
}

void write_gguf_file(const fs::path& path, std::span<const NamedTensor> tensors, const Json& config) {
  fs::create_directories(fs::absolute(path).parent_path());
  using io::GgufValue;
  std::vector<io::GgufEntry> entries = {{"general.architecture", GgufValue::of(std::string_view("locus_lab"))},
                                        {"general.name", GgufValue::of(path.stem().string())}};
  const auto text = [&](const char* key, const std::string& value) { entries.push_back({key, GgufValue::of(value)}); };
  const auto size = [&](const char* key, const char* from) {
    entries.push_back({key, GgufValue::of(config.at(from).get<std::uint32_t>())});
  };
  size("locus_lab.block_count", "num_hidden_layers");
  size("locus_lab.attention.head_count", "num_attention_heads");
  size("locus_lab.embedding_length", "hidden_size");
  size("locus_lab.feed_forward_length", "intermediate_size");
  size("locus_lab.vocab_size", "vocab_size");
  size("locus_lab.context_length", "max_position_embeddings");
  entries.push_back({"locus_lab.attention.layer_norm_rms_epsilon", GgufValue::of(norm_epsilon)});
  text("locus_lab.encoding", config.at("locus_encoding").dump());
  text("tokenizer.ggml.model", config.at("tokenizer").get<std::string>());
  if (config.contains("passkey")) text("locus_lab.passkey", config.at("passkey").dump());
  text("locus_lab.lab", config.at("lab").dump());
  std::vector<io::GgufTensor> all;
  for (const NamedTensor& one : tensors) all.push_back({one.gguf, io::GgufTensorType::f32, one.shape, one.bytes});
  io::write_gguf(path, entries, all);
}

}  // namespace

void save_model(const Transformer& model, const TaskDescription& task, const TrialSpec& spec, const ModelFiles& files) {
  require(can_be_probed(task), "the task ", task.name, " trains an encoder with pooling, which cannot be saved");
  const Encoding encoding = model.encoding();
  const std::vector<NamedTensor> tensors = tensors_of(model, encoding);
  const Json config = config_of(model, encoding, task, spec, files);
  if (files.safetensors) write_folder(files.path, tensors, config);
  if (files.gguf) write_gguf_file(files.path + ".gguf", tensors, config);
}

}  // namespace locus::lab
