// SPDX-License-Identifier: Apache-2.0
#include "io/pairing_plan.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "parse/byte_reader.h"

namespace locus::io {
namespace {

/// Removes `prefix` from the start of `text`.
bool consume(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

std::optional<std::int64_t> consume_layer(std::string_view& text) {
  std::int64_t layer = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), layer);
  if (error != std::errc() || layer < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return consume(text, ".") ? std::optional(layer) : std::nullopt;
}

struct NamedPart {
  std::string_view stem;
  AttentionPart part;
};

/// `rest` follows the name of the layer's attention: `q_proj.weight`. Any other name that starts like queries or keys
/// belongs to them too and must not be skipped silently.
template <std::size_t count>
std::optional<AttentionPart> part_of(std::string_view rest, const std::array<NamedPart, count>& known,
                                     std::span<const std::string_view> beginnings) {
  for (const NamedPart& row : known) {
    for (const std::string_view ending : {".weight", ".bias"}) {
      if (rest.size() == row.stem.size() + ending.size() && rest.starts_with(row.stem) && rest.ends_with(ending)) {
        return row.part;
      }
    }
  }
  const bool concerns = std::any_of(beginnings.begin(), beginnings.end(),
                                    [&](std::string_view beginning) { return rest.starts_with(beginning); });
  return concerns ? std::optional(AttentionPart::not_understood) : std::nullopt;
}

/// Returns one entry per head of the tensor: true if the head is rotated.
std::vector<bool> heads_of(AttentionPart part, const LayerShape& shape) {
  const auto heads = static_cast<std::size_t>(shape.heads), pairs = static_cast<std::size_t>(shape.key_value_heads);
  std::vector<bool> rotated;
  switch (part) {
    case AttentionPart::query:
    case AttentionPart::query_norm:
      return std::vector<bool>(heads, true);
    case AttentionPart::key:
    case AttentionPart::key_norm:
      return std::vector<bool>(pairs, true);
    case AttentionPart::query_key_value:
      rotated.assign(heads + 2 * pairs, true);
      std::fill(rotated.end() - static_cast<std::ptrdiff_t>(pairs), rotated.end(), false);
      return rotated;
    case AttentionPart::query_key_value_per_head:
      for (std::size_t head = 0; head < heads; ++head) rotated.insert(rotated.end(), {true, true, false});
      return rotated;
    case AttentionPart::not_understood:
      break;
  }
  return rotated;
}

/// Returns the rows in their new order; neighbours that stay together are one piece.
std::vector<ByteChunk> moved_rows(ByteChunk bytes, std::size_t row_bytes, const std::vector<bool>& heads,
                                  const HeadShape& head, Pairing to) {
  const std::vector<std::int64_t> order = pairing_order(head, to);
  std::vector<ByteChunk> pieces;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    for (std::size_t j = 0; j < order.size(); ++j) {
      const std::size_t row = h * order.size() + (heads[h] ? static_cast<std::size_t>(order[j]) : j);
      const ByteChunk piece = bytes.subspan(row * row_bytes, row_bytes);
      if (!pieces.empty() && pieces.back().data() + pieces.back().size() == piece.data()) {
        pieces.back() = {pieces.back().data(), pieces.back().size() + piece.size()};
      } else {
        pieces.push_back(piece);
      }
    }
  }
  return pieces;
}

bool is_norm(AttentionPart part) { return part == AttentionPart::query_norm || part == AttentionPart::key_norm; }

}  // namespace

std::vector<std::int64_t> pairing_order(const HeadShape& head, Pairing to) {
  require(head.head_dim >= 1 && head.rotary_offset >= 0 && head.rotary_dim >= 0 &&
              head.rotary_dim <= head.head_dim - head.rotary_offset,
          "the rotary slice must be inside the head (", head.head_dim, "), got ", head.rotary_dim, " coordinates from ",
          head.rotary_offset);
  require(head.rotary_dim % 2 == 0, "the rotary width must be even to have pairs, got ", head.rotary_dim);
  std::vector<std::int64_t> order(static_cast<std::size_t>(head.head_dim));
  for (std::size_t j = 0; j < order.size(); ++j) order[j] = static_cast<std::int64_t>(j);
  const std::int64_t pairs = head.rotary_dim / 2;
  for (std::int64_t i = 0; i < pairs; ++i) {
    for (const std::int64_t member : {0, 1}) {
      const std::int64_t in_half = head.rotary_offset + i + member * pairs;
      const std::int64_t in_interleaved = head.rotary_offset + 2 * i + member;
      if (to == Pairing::half) {
        order[static_cast<std::size_t>(in_half)] = in_interleaved;
      } else {
        order[static_cast<std::size_t>(in_interleaved)] = in_half;
      }
    }
  }
  return order;
}

std::optional<AttentionName> attention_name_hf(std::string_view tensor_name) {
  using enum AttentionPart;
  static constexpr std::array<NamedPart, 11> separate = {{{"q_proj", query},
                                                          {"k_proj", key},
                                                          {"qkv_proj", query_key_value},
                                                          {"q_norm", query_norm},
                                                          {"k_norm", key_norm},
                                                          {"q_layernorm", query_norm},
                                                          {"k_layernorm", key_norm},
                                                          {"query_layernorm", query_norm},
                                                          {"key_layernorm", key_norm},
                                                          {"query_norm", query_norm},
                                                          {"key_norm", key_norm}}};
  static constexpr std::array<NamedPart, 1> neox = {{{"query_key_value", query_key_value_per_head}}};
  static constexpr std::array<NamedPart, 2> gptj = {{{"q_proj", query}, {"k_proj", key}}};
  static constexpr std::array<std::string_view, 7> beginnings = {"q_", "k_", "kv_", "qkv", "query", "key", "W_pack"};

  // Only under the layers of language models: a vision tower has tensors of the same names, but different heads.
  std::string_view rest = tensor_name;
  if (consume(rest, "gpt_neox.layers.")) {
    const auto layer = consume_layer(rest);
    if (!layer || !consume(rest, "attention.")) return std::nullopt;
    const auto part = part_of(rest, neox, beginnings);
    return part ? std::optional(AttentionName{*layer, *part}) : std::nullopt;
  }
  if (consume(rest, "transformer.h.")) {
    const auto layer = consume_layer(rest);
    if (!layer || !consume(rest, "attn.")) return std::nullopt;
    const auto part = part_of(rest, gptj, beginnings);
    return part ? std::optional(AttentionName{*layer, *part}) : std::nullopt;
  }
  for (const std::string_view home :
       {"model.layers.", "layers.", "language_model.model.layers.", "model.language_model.layers.",
        "language_model.layers.", "model.text_model.layers."}) {
    rest = tensor_name;
    if (!consume(rest, home)) continue;
    const auto layer = consume_layer(rest);
    if (layer && rest == "attention.qkv.weight") return AttentionName{*layer, query_key_value};  // of Locus's lab
    if (!layer || !consume(rest, "self_attn.")) return std::nullopt;
    const auto part = part_of(rest, separate, beginnings);
    return part ? std::optional(AttentionName{*layer, *part}) : std::nullopt;
  }
  return std::nullopt;
}

std::optional<AttentionName> attention_name_gguf(std::string_view tensor_name) {
  using enum AttentionPart;
  static constexpr std::array<NamedPart, 5> known = {{{"attn_q", query},
                                                      {"attn_k", key},
                                                      {"attn_qkv", query_key_value},
                                                      {"attn_q_norm", query_norm},
                                                      {"attn_k_norm", key_norm}}};
  static constexpr std::array<std::string_view, 2> beginnings = {"attn_q", "attn_k"};
  std::string_view rest = tensor_name;
  if (!consume(rest, "blk.")) return std::nullopt;
  const auto layer = consume_layer(rest);
  if (!layer) return std::nullopt;
  const auto part = part_of(rest, known, beginnings);
  return part ? std::optional(AttentionName{*layer, *part}) : std::nullopt;
}

std::optional<MovedTensor> PairingPlan::add(const PlannedTensor& tensor, const std::optional<AttentionName>& name,
                                            const std::string& subject) {
  if (!name) return std::nullopt;
  const std::string what = subject + ": tensor " + shown(tensor.name);
  const std::uint64_t elements = checked_elements(tensor.shape, what);
  // A single number for the whole matrix, such as its scale, does not depend on the order of rows.
  if (name->part == AttentionPart::not_understood && elements == 1) return std::nullopt;
  require(name->part != AttentionPart::not_understood, what,
          " belongs to queries or keys, but its rows cannot be moved (type ", tensor.type, ")");
  const LayerShape shape = shape_of_layer_(name->layer);
  std::vector<bool> heads = heads_of(name->part, shape);
  const auto head_dim = static_cast<std::uint64_t>(shape.head.head_dim);

  const bool elementwise = is_norm(name->part) || tensor.shape.size() == 1;
  require(!elementwise || tensor.block_elements == 1, what, " is stored as ", tensor.type, ", whose blocks of ",
          tensor.block_elements, " elements cannot be reordered");
  require(elementwise || tensor.shape.size() == 2, what, " must have one or two axes, got ", tensor.shape.size());
  const std::uint64_t rows = elementwise ? elements : static_cast<std::uint64_t>(tensor.shape[0]);
  if (is_norm(name->part) && rows == head_dim) heads.assign(1, true);  // one norm for all heads
  require(rows == heads.size() * head_dim && rows > 0, what, " must have ", heads.size(), " heads x ", head_dim, " = ",
          heads.size() * head_dim, " rows, got ", rows);
  require(tensor.bytes.size() % rows == 0, what, " must have whole rows, got ", tensor.bytes.size(), " bytes in ",
          rows);

  if (tensor.name.ends_with(".weight") && !is_norm(name->part)) {  // a layer is not complete with only a bias
    if (name->part != AttentionPart::key) queries_.insert(name->layer);
    if (name->part != AttentionPart::query) keys_.insert(name->layer);
  }
  return MovedTensor{
      tensor.name, tensor.bytes,
      moved_rows(tensor.bytes, tensor.bytes.size() / static_cast<std::size_t>(rows), heads, shape.head, to_)};
}

void PairingPlan::check_complete(const std::string& model) const {
  require(!queries_.empty() || !keys_.empty(), model,
          ": no tensor of queries or keys was found (self_attn.q_proj, attention.query_key_value, attn_q); the "
          "architecture is unknown, or the model is incomplete");
  for (const std::int64_t layer : queries_) {
    require(keys_.contains(layer), model, ": layer ", layer, " has queries but no keys; both must be converted");
  }
  for (const std::int64_t layer : keys_) {
    require(queries_.contains(layer), model, ": layer ", layer, " has keys but no queries; both must be converted");
  }
}

}  // namespace locus::io
