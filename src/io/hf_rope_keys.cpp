// SPDX-License-Identifier: Apache-2.0
#include "locus/io/hf_rope_keys.h"

#include <algorithm>

#include "io/hf_resolve.h"

namespace locus::io {
namespace {

std::optional<double> number(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

std::optional<std::string> text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? std::optional(found->get<std::string>()) : std::nullopt;
}

HfRopeBlockKeys block_keys(const Json& block, std::string path) {
  const auto attention = number(block, "attention_factor");
  return {.path = std::move(path),
          .rope_type = text(block, "rope_type"),
          .type = text(block, "type"),
          .rope_theta = number(block, "rope_theta"),
          .factor = number(block, "factor"),
          .original_length = number(block, "original_max_position_embeddings"),
          .mscale = number(block, "mscale"),
          .mscale_all_dim = number(block, "mscale_all_dim"),
          .attention_factor = attention ? attention : number(block, "attn_factor")};
}

std::vector<HfRopeBlockKeys> blocks(const Json& object, const std::string& prefix, const char* key) {
  constexpr std::size_t most_layer_types = 64;
  std::vector<HfRopeBlockKeys> result;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_object() || found->empty()) return result;
  const bool per_layer =
      std::all_of(found->begin(), found->end(), [](const Json& value) { return value.is_object() || value.is_null(); });
  if (!per_layer) return {block_keys(*found, prefix + key)};
  for (const auto& [layer_type, block] : found->items()) {
    if (block.is_object() && result.size() < most_layer_types) {
      result.push_back(block_keys(block, prefix + key + "." + layer_type.substr(0, 100)));
    }
  }
  return result;
}

}  // namespace

HfRopeKeys collect_hf_rope_keys(std::string_view json_text, const std::string& name) {
  const JsonDocument document = parse_json_document(json_text, name);
  Notes unused;
  const Fields model = find_text_model(document.root, name, unused);
  const Json& object = model.json();
  HfRopeKeys keys{.path = model.path(),
                  .rope_theta = number(object, "rope_theta"),
                  .original_length = number(object, "original_max_position_embeddings"),
                  .max_length = number(object, "max_position_embeddings"),
                  .scaling = blocks(object, model.path(), "rope_scaling"),
                  .parameters = blocks(object, model.path(), "rope_parameters")};
  return keys;
}

}  // namespace locus::io
