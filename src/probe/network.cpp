// SPDX-License-Identifier: Apache-2.0
#include "probe/network.h"

#include "locus/error.h"
#include "locus/io/encoding_json.h"
#include "probe/weights/product_simd.h"

namespace locus::probe {
namespace {

void check_sizes(const ModelConfig& config, const std::string& file) {
  struct Size {
    const char* name;
    std::int64_t value;
  };
  constexpr std::int64_t most = std::int64_t{1} << 31;
  for (const Size& size :
       {Size{"layers", config.layers}, Size{"heads", config.heads}, Size{"key/value heads", config.kv_heads},
        Size{"head width", config.head_dim}, Size{"width", config.dim}, Size{"feed-forward width", config.feed_forward},
        Size{"vocabulary", config.vocab}}) {
    require(size.value >= 1 && size.value < most, file, ": the model's ", size.name,
            " must be from 1 to 2^31 - 1, got ", size.value);
  }
  require(config.heads % config.kv_heads == 0, file,
          ": the number of heads must be a multiple of the key/value heads (", config.kv_heads, "), got ",
          config.heads);
  require(config.norm_epsilon >= 0 && config.norm_epsilon < 1, file, ": the norm's epsilon must be from 0 to 1, got ",
          config.norm_epsilon);
}

/// A model of the lab: its file has the trained encoding.
Encoding lab_encoding(const Source& source) {
  Arguments arguments = source.encoding.arguments;
  for (const auto& [argument, shape] : source.encoding.tensors) {
    const std::string name = io::encoding_tensor_name(argument);
    const std::optional<StoredTensor> stored = source.find(name);
    require(stored.has_value(), source.file, ": tensor ", name, " is missing");
    arguments.set(argument, as_tensor(*stored, shape, source.file));
  }
  try {
    return Encoding(source.encoding.scheme, arguments);
  } catch (const Error& error) {
    fail(source.file, ": its encoding: ", error.what());
  }
}

Encoding encoding_of(const Source& source) {
  check_sizes(source.config, source.file);
  if (source.config.architecture == "locus_lab") return lab_encoding(source);
  Arguments arguments = source.encoding.arguments;
  if (source.encoding.scheme == "learned") {
    const std::int64_t rows = arguments.integer("max_positions"), dim = source.config.dim;
    const bool gguf = source.config.format == "gguf";
    std::optional<StoredTensor> stored;
    for (const char* name : {"position_embd.weight", "transformer.wpe.weight", "wpe.weight"}) {
      if (!stored) stored = source.find(name);
    }
    require(stored.has_value(), source.file, ": tensor ", gguf ? "position_embd.weight" : "wpe.weight", " is missing");
    const Matrix table = as_matrix(*stored, rows, dim, source.file);
    Tensor values{.shape = {rows, dim}, .data = std::vector<float>(static_cast<std::size_t>(rows * dim))};
    decode_rows(table, 0, rows, values.data.data());
    return Encoding("learned", {{"table", std::move(values)}, {"row_offset", arguments.integer("row_offset")}});
  }
  if (source.encoding.scheme == "alibi") {
    // With a causal mask, slope x key id is equivalent to -slope x distance, which stays small for near keys.
    arguments.set("form", std::string("causal"));
  }
  return Encoding(source.encoding.scheme, arguments);
}

}  // namespace

Network::Network(const Source& source)
    : config(source.config), encoding(encoding_of(source)), notes(source.notes), keeps_(source.keeps) {
  if (config.architecture == "locus_lab" && encoding.site() == Site::score) {
    config.gates = encoding.score().token_numbers;
  }
  require_fits(encoding, config, source.file);
}

void Network::require_heads_fill_width(const Source& source) const {
  require(config.heads == config.kv_heads && config.heads * config.head_dim == config.dim, source.file, ": ",
          config.heads, " heads of ", config.head_dim, " must fill the model's width (", config.dim, ")");
}

Rows Network::embed(std::span<const Token> tokens) const {
  Rows x(static_cast<std::int64_t>(tokens.size()), config.dim);
  for (std::int64_t t = 0; t < x.count; ++t) {
    const Token token = tokens[static_cast<std::size_t>(t)];
    decode_rows(embedding_, token, token + 1, x.row(t));
  }
  return x;
}

AttentionInputs Network::fused_parts(Rows& query_key_value, FusedOrder order) const {
  const auto part = [&](std::int64_t index) {
    if (order == FusedOrder::by_part) {
      return heads_of(query_key_value, config.heads, config.head_dim, index * config.heads * config.head_dim);
    }
    return heads_of(query_key_value, config.heads, config.head_dim, index * config.head_dim, 3 * config.head_dim);
  };
  return {.query = part(0), .key = part(1), .value = part(2)};
}

}  // namespace locus::probe
