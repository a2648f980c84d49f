// SPDX-License-Identifier: Apache-2.0
#include "probe/model.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>

#include "locus/error.h"
#include "probe/network.h"

namespace locus::probe {
namespace {

struct Family {
  std::string_view architecture;  ///< in config.json or GGUF
  std::shared_ptr<Network> (*make)(const Source& source);
};

constexpr std::array families = {
    Family{"llama", make_llama},      Family{"mistral", make_llama}, Family{"qwen2", make_llama},
    Family{"qwen3", make_llama},      Family{"gpt2", make_gpt2},     Family{"gpt_neox", make_gpt_neox},
    Family{"gptneox", make_gpt_neox}, Family{"bloom", make_bloom},   Family{"locus_lab", make_locus_lab},
};

const Family* find_family(std::string_view architecture) {
  const auto found = std::find_if(families.begin(), families.end(),
                                  [&](const Family& family) { return family.architecture == architecture; });
  return found == families.end() ? nullptr : &*found;
}

/// The one model file of a folder that is no Hugging Face model; the folder itself otherwise.
std::filesystem::path only_file_of(const std::filesystem::path& folder) {
  if (std::filesystem::exists(folder / "config.json")) return folder;
  std::vector<std::filesystem::path> models;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::filesystem::path& path = entry.path();
    const bool tokenizer = path.filename().string().starts_with("tok");
    if (path.extension() == ".gguf" || (path.extension() == ".bin" && !tokenizer)) models.push_back(path);
  }
  return models.size() == 1 ? models.front() : folder;
}

/// By what the file is, not by what it is called; llama2.c has no mark of its own.
Source open(const std::filesystem::path& given) {
  const std::filesystem::path path = std::filesystem::is_directory(given) ? only_file_of(given) : given;
  if (std::filesystem::is_directory(path)) return open_hf_folder(path);
  if (path.filename() == "config.json") return open_hf_folder(path.parent_path());
  std::ifstream file(path, std::ios::binary);
  require(file.good(), path.string(), ": cannot be opened");
  std::array<char, 4> mark{};
  file.read(mark.data(), mark.size());
  if (std::string_view(mark.data(), mark.size()) == "GGUF") return open_gguf(path);
  require(path.extension() == ".bin", path.string(),
          ": a model is a llama2.c .bin, a GGUF file or the folder of a Hugging Face model");
  return open_llama2c(path);
}

/// Masks and frequencies that transformers once saved with its models, and what the encoding's reader has read.
bool is_harmless(std::string_view name, const ModelConfig& config) {
  for (const char* end : {".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias",
                          "rotary_emb.inv_freq", "rope_freqs.weight", "rope_factors_long.weight",
                          "rope_factors_short.weight", "position_embd.weight", "wpe.weight"}) {
    if (name.ends_with(end)) return true;
  }
  return config.tied_head && (name == "lm_head.weight" || name == "embed_out.weight");
}

/// Tensors that nobody asked for may mean that the model is not what it says it is.
void note_unread(const Source& source, const std::set<std::string>& read, std::vector<std::string>& notes) {
  std::vector<std::string> unread;
  for (const std::string& name : source.names) {
    if (!read.contains(name) && !is_harmless(name, source.config)) unread.push_back(name);
  }
  if (unread.empty()) return;
  notes.push_back(std::to_string(unread.size()) + " tensors are not part of a " + source.config.architecture +
                  " and were not read: " + unread.front() + (unread.size() > 1 ? ", ..." : ""));
}

}  // namespace

void require_served(const Source& source) {
  if (find_family(source.config.architecture) != nullptr) return;
  std::string served;
  for (const Family& family : families) served += (served.empty() ? "" : ", ") + std::string(family.architecture);
  fail(source.file, ": architecture ",
       source.config.architecture.empty() ? std::string("(not given)") : source.config.architecture,
       " is not served by the probe; these are: ", served);
}

void note_reading(Source& source) {
  for (const std::string& text : source.encoding.defaulted) source.notes.push_back("not in the file: " + text);
  for (const std::string& text : source.encoding.unknown) source.notes.push_back("not understood: " + text);
}

Model::Model(std::shared_ptr<const Network> network) : network_(std::move(network)) {}
const ModelConfig& Model::config() const { return network_->config; }
const Encoding& Model::encoding() const { return network_->encoding; }
const std::vector<std::string>& Model::notes() const { return network_->notes; }

Model load(const std::filesystem::path& path) {
  Source source = open(path);
  const auto read = std::make_shared<std::set<std::string>>();
  source.find = [find = std::move(source.find), read](const std::string& name) {
    read->insert(name);
    return find(name);
  };
  const std::shared_ptr<Network> network = find_family(source.config.architecture)->make(source);
  note_unread(source, *read, network->notes);
  return Model(network);
}

}  // namespace locus::probe
