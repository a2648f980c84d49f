// SPDX-License-Identifier: Apache-2.0
#include "probe/model.h"

#include <algorithm>
#include <array>
#include <set>

#include "locus/error.h"
#include "locus/io/sniff.h"
#include "locus/names.h"
#include "probe/memory.h"
#include "probe/network.h"

namespace locus::probe {
namespace {

struct Family {
  std::vector<std::string_view> architectures;  ///< in config.json or GGUF
  std::shared_ptr<Network> (*make)(const Source& source);
};

const std::array<Family, 2>& families() {
  static const std::array<Family, 2> all = {Family{llama_architectures(), make_llama},
                                            Family{fused_architectures(), make_fused}};
  return all;
}

const Family* find_family(std::string_view architecture) {
  for (const Family& family : families()) {
    const auto& names = family.architectures;
    if (std::find(names.begin(), names.end(), architecture) != names.end()) return &family;
  }
  return nullptr;
}

Source open(const std::filesystem::path& given) {
  const std::filesystem::path path = io::find_model_file(given);
  switch (const io::FileKind kind = io::sniff(path)) {
    case io::FileKind::gguf:
      return open_gguf(path);
    case io::FileKind::llama2c:
      return open_llama2c(path);
    case io::FileKind::json:
      return open_hf_folder(path.has_parent_path() ? path.parent_path() : ".");
    default:
      fail(given.string(), ": a model must be a GGUF file, a llama2.c checkpoint or a Hugging Face folder; this is ",
           name_of(kind));
  }
}

/// Masks and frequencies that older versions of transformers saved, and tensors that the encoding's reader uses.
bool is_harmless(std::string_view name, const ModelConfig& config) {
  for (const char* end : {".attn.bias", ".attn.masked_bias", ".attention.bias", ".attention.masked_bias",
                          "rotary_emb.inv_freq", "rope_freqs.weight", "rope_factors_long.weight",
                          "rope_factors_short.weight", "position_embd.weight", "wpe.weight"}) {
    if (name.ends_with(end)) return true;
  }
  return config.tied_head && (name == "lm_head.weight" || name == "embed_out.weight");
}

/// Unread tensors may mean that the model is not what its config states.
void note_unread(const Source& source, const std::set<std::string>& read, std::vector<std::string>& notes) {
  std::vector<std::string> unread;
  for (const std::string& name : source.names) {
    if (!read.contains(name) && !is_harmless(name, source.config)) unread.push_back(name);
  }
  if (unread.empty()) return;
  notes.push_back(std::to_string(unread.size()) + " tensors do not belong to " + source.config.architecture +
                  " and were not read: " + unread.front() + (unread.size() > 1 ? ", ..." : ""));
}

}  // namespace

void require_served(const Source& source) {
  if (find_family(source.config.architecture) != nullptr) return;
  std::vector<std::string_view> served;
  for (const Family& family : families()) {
    served.insert(served.end(), family.architectures.begin(), family.architectures.end());
  }
  const std::string& given = source.config.architecture;
  fail(source.file, ": ", given.empty() ? "the architecture is missing" : unknown_name("architecture", given, served));
}

void note_reading(Source& source) {
  for (const std::string& text : source.encoding.defaulted) source.notes.push_back("not in the file: " + text);
  for (const std::string& text : source.encoding.unknown) source.notes.push_back("not understood: " + text);
}

Model::Model(std::shared_ptr<const Network> network) : network_(std::move(network)) {}
const ModelConfig& Model::config() const { return network_->config; }
const Encoding& Model::encoding() const { return network_->encoding; }
const std::vector<std::string>& Model::notes() const { return network_->notes; }

Model load(const std::filesystem::path& path, std::optional<std::int64_t> window) {
  require(window.value_or(0) >= 0, "the window of a model must be at least 0, got ", window.value_or(0));
  Source source = open(path);
  const auto read = std::make_shared<std::set<std::string>>();
  const auto bytes = std::make_shared<double>(0);
  source.find = [find = std::move(source.find), read, bytes](const std::string& name) {
    std::optional<StoredTensor> found = find(name);
    if (read->insert(name).second && found) *bytes += static_cast<double>(found->bytes.size());
    return found;
  };
  const std::shared_ptr<Network> network = find_family(source.config.architecture)->make(source);
  // Weights are mapped: until they are used, they take no memory. With less memory than weights, every token would read
  // the file again.
  require_memory(source.file + ": the model", *bytes);
  note_unread(source, *read, network->notes);
  if (window) network->config.window = *window;
  return Model(network);
}

}  // namespace locus::probe
