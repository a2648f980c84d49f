// SPDX-License-Identifier: Apache-2.0
#include "locus/io/convert_rope.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "io/hf_resolve.h"
#include "locus/io/atomic_file.h"
#include "locus/io/mapped_file.h"
#include "parse/byte_reader.h"

namespace locus::io {
namespace {

using OrderedJson = nlohmann::ordered_json;

bool is_rope_tensor(std::string_view name) {
  return name == "rope_freqs.weight" || name == "rope_factors_long.weight" || name == "rope_factors_short.weight";
}

/// Replaces the entry with the same key in place, or appends it.
void set_entry(std::vector<GgufEntry>& metadata, const GgufEntry& entry) {
  const auto found =
      std::find_if(metadata.begin(), metadata.end(), [&](const GgufEntry& old) { return old.key == entry.key; });
  if (found == metadata.end()) {
    metadata.push_back(entry);
  } else {
    found->value = entry.value;
  }
}

/// Detects the config of a different model by its sizes.
void check_shape(const GgufFile& file, const GgufEntry& entry, const std::string& config) {
  const auto counts = file.integers(entry.key);
  if (!counts) return;
  const std::int64_t wanted = entry.value.integer(entry.key);
  const bool alike = std::all_of(counts->begin(), counts->end(), [&](std::int64_t count) { return count == wanted; });
  require(alike, config, ": ", entry.key, " must be that of ", file.name(), " (", counts->empty() ? 0 : counts->front(),
          "), got ", wanted, "; the two are of different models");
}

/// Keeps the rest of a model's file, and notes what is removed without a replacement.
void keep_other_entries(const GgufFile& file, GgufRopeSettings& settings, std::vector<GgufEntry>& metadata,
                        std::vector<GgufTensor>& tensors) {
  const auto gone = [&](const std::string& name) {
    settings.notes.push_back("removed: " + name + ", the config has no such setting");
  };
  for (const GgufEntry& entry : file.metadata()) {
    const bool stays = !entry.key.starts_with(settings.architecture + ".rope.") ||
                       std::any_of(settings.entries.begin(), settings.entries.end(),
                                   [&](const GgufEntry& fresh) { return fresh.key == entry.key; });
    if (stays) metadata.push_back(entry);
    if (!stays) gone(entry.key);
  }
  for (const GgufTensor& tensor : file.tensors()) {
    if (!is_rope_tensor(tensor.name)) {
      tensors.push_back(tensor);
    } else if (std::none_of(settings.factors.begin(), settings.factors.end(),
                            [&](const RopeFactors& fresh) { return fresh.name == tensor.name; })) {
      gone(tensor.name);
    }
  }
}

/// Returns the object that holds the settings: the root, or its language model.
OrderedJson& text_model_of(OrderedJson& object) {
  for (const std::string_view key : hf_nesting_keys) {
    const auto nested = object.find(std::string(key));
    if (nested != object.end() && nested->is_object() && !nested->empty()) return text_model_of(*nested);
  }
  return object;
}

/// All names under which a config may state the settings that are about to be written.
constexpr std::array<std::string_view, 13> replaced_keys = {"rope_theta",
                                                            "rotary_emb_base",
                                                            "global_rope_theta",
                                                            "local_rope_theta",
                                                            "rope_local_base_freq",
                                                            "rope_ratio",
                                                            "rope_scaling",
                                                            "rope_parameters",
                                                            "partial_rotary_factor",
                                                            "rotary_pct",
                                                            "rope_pct",
                                                            "rotary_dim",
                                                            "original_max_position_embeddings"};

}  // namespace

std::vector<std::string> write_gguf_rope(const std::filesystem::path& config, const std::filesystem::path& gguf,
                                         const std::filesystem::path& output, const std::string& architecture) {
  const MappedFile text(config);
  std::vector<GgufEntry> metadata;
  std::vector<GgufTensor> tensors;
  std::optional<GgufFile> file;
  std::string wanted = architecture;
  if (!gguf.empty()) {
    file = read_gguf(gguf);
    const auto own = file->text("general.architecture");
    require(own.has_value(), gguf.string(), ": general.architecture is missing; it determines the names of the keys");
    require(architecture.empty() || architecture == *own, gguf.string(), ": the architecture is ", shown(*own),
            ", got ", shown(architecture));
    wanted = *own;
  }
  GgufRopeSettings settings = gguf_rope_settings(text_of(text.bytes()), config.string(), wanted);
  if (file) {
    for (const GgufEntry& entry : settings.shape) check_shape(*file, entry, config.string());
    keep_other_entries(*file, settings, metadata, tensors);
    for (const GgufEntry& entry : settings.shape) {
      if (file->find(entry.key) == nullptr) metadata.push_back(entry);
    }
  } else {
    metadata.push_back({"general.architecture", GgufValue::of(std::string_view(settings.architecture))});
    metadata.insert(metadata.end(), settings.shape.begin(), settings.shape.end());
  }
  for (const GgufEntry& entry : settings.entries) set_entry(metadata, entry);
  for (const RopeFactors& factors : settings.factors) {
    tensors.push_back({factors.name,
                       GgufTensorType::f32,
                       {static_cast<std::int64_t>(factors.values.size())},
                       std::as_bytes(std::span(factors.values))});
  }
  write_gguf(output, metadata, tensors);
  return settings.notes;
}

std::vector<std::string> write_hf_rope(const std::filesystem::path& gguf, const std::filesystem::path& base,
                                       const std::filesystem::path& output) {
  const HfRopeSettings settings = hf_rope_settings(read_gguf(gguf));
  std::string text = settings.json;
  if (!base.empty()) {
    const MappedFile file(base);
    parse_json_document(text_of(file.bytes()), base.string());  // Error: not an object, too large or too deep
    OrderedJson config = OrderedJson::parse(text_of(file.bytes()));
    OrderedJson& model = text_model_of(config);
    for (const std::string_view old : replaced_keys) model.erase(std::string(old));
    const bool has_type = model.contains("model_type");
    const OrderedJson fresh = OrderedJson::parse(settings.json);
    for (const auto& item : fresh.items()) {
      if (has_type && item.key() == "model_type") continue;  // several types share an architecture
      model[item.key()] = item.value();
    }
    text = config.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
  }
  const ByteChunk chunk = std::as_bytes(std::span(text));
  write_atomically(output, {&chunk, 1});
  return settings.notes;
}

}  // namespace locus::io
