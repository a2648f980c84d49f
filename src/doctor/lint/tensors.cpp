// SPDX-License-Identifier: Apache-2.0
#include "doctor/lint/tensors.h"

#include <algorithm>
#include <array>
#include <map>

#include "locus/text.h"

namespace locus::doctor {
namespace {

enum class Held : std::uint8_t {
  table,        ///< [rows, dim]
  buckets,      ///< [buckets, heads], as in T5
  other_table,  ///< a table whose settings only the config knows
};

/// How transformers and the projects that it converts from name such tensors: the end of the name.
struct KnownName {
  std::string_view ending;
  Held held;
};
constexpr std::array<KnownName, 14> known_names = {{
    {"wpe.weight", Held::table},
    {"position_embeddings.weight", Held::table},
    {"position_embedding.weight", Held::table},
    {"positions_embed.weight", Held::table},
    {"pos_embed.weight", Held::table},
    {"relative_attention_bias.weight", Held::buckets},
    {"embed_positions.weight", Held::other_table},  // BART and OPT have two rows more than positions
    {"position_embeddings", Held::other_table},     // of images, with rows for other tokens
    {"pos_embed", Held::other_table},
    {"relative_position_bias_table", Held::other_table},
    {"rel_embeddings.weight", Held::other_table},
    {"rel_pos_h", Held::other_table},
    {"rel_pos_w", Held::other_table},
    {"inv_freq", Held::other_table},
}};

const KnownName* known(const std::string& name) {
  const auto found = std::find_if(known_names.begin(), known_names.end(), [&](const KnownName& one) {
    if (!name.ends_with(one.ending)) return false;
    return name.size() == one.ending.size() || name[name.size() - one.ending.size() - 1] == '.';
  });
  return found == known_names.end() ? nullptr : &*found;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (const std::int64_t axis : shape) text.append(text.size() == 1 ? "" : ", ").append(std::to_string(axis));
  return text.append("]");
}

io::LayerEncoding layer_of(const io::SafetensorsTensor& tensor, Held held) {
  io::LayerEncoding layer;
  layer.used = {tensor.name};
  if (held == Held::table) {
    layer.scheme = "learned";
    layer.arguments.set("max_positions", tensor.shape[0]);
    layer.arguments.set("dim", tensor.shape[1]);
    layer.trained_length = tensor.shape[0];
  } else {
    layer.scheme = "t5";
    layer.arguments.set("num_buckets", tensor.shape[0]);
    layer.arguments.set("heads", tensor.shape[1]);
  }
  return layer;
}

}  // namespace

PositionTensors position_tensors(const io::SafetensorsFile& file) {
  PositionTensors found;
  std::vector<std::string> names;
  std::map<std::pair<Held, std::vector<std::int64_t>>, std::size_t> layer_at;
  for (const io::SafetensorsTensor& tensor : file.tensors()) {
    const KnownName* name = known(tensor.name);
    if (name == nullptr) continue;
    names.push_back(concat(tensor.name, " ", shape_text(tensor.shape)));
    if (name->held == Held::other_table || tensor.shape.size() != 2) continue;
    const auto [same, is_new] = layer_at.emplace(std::pair(name->held, tensor.shape), found.layers.size());
    if (is_new) {
      found.layers.push_back(layer_of(tensor, name->held));
    } else {
      found.layers[same->second].used.push_back(tensor.name);
    }
  }
  const std::size_t all = file.tensors().size(), shown = std::min<std::size_t>(names.size(), 4),
                    more = names.size() - shown;
  names.resize(shown);
  found.sentence = shown == 0
                       ? concat("None of its ", all, " tensors holds positions.")
                       : concat("Of ", all, " tensors, ", shown + more, shown + more == 1 ? " holds" : " hold",
                                " positions: ", listed(names), more > 0 ? concat(" and ", more, " more") : "", ".");
  return found;
}

}  // namespace locus::doctor
