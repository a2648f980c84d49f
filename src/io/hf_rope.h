// SPDX-License-Identifier: Apache-2.0
// One layer type of a RoPE model, between finding and reading it.
#pragma once

#include "io/hf_resolve.h"

namespace locus::io {

inline constexpr std::string_view full_attention = "full_attention";
inline constexpr std::string_view sliding_attention = "sliding_attention";

struct RopeBlock {
  const Json* json = nullptr;
  std::string path;  ///< ends with a dot
  bool is_default = false;
};

/// One layer type before it is read.
struct LayerPlan {
  std::string layer_type;
  bool rotates = true;
  RopeBlock block = {};
  bool has_local_base = false;            ///< the base of sliding layers has separate keys
  std::vector<std::int64_t> layers = {};  ///< indices; empty: all, or unknown
  std::optional<double> base = {};        ///< from a list with one entry per layer
  std::optional<double> fraction = {};    ///< from a list with one rotary fraction per layer
  bool compressed = false;                ///< DeepSeek V4: compress_rope_theta, and no factor on cos and sin
};

/// Reads base, width, pairing, rule and axes of a layer that rotates. `fields` is the object of the model and receives
/// the notes.
LayerEncoding read_rope_layer(Fields& fields, const LayerPlan& plan, const HfContext& context);

/// Makes the layer FoPE if its rope block says that frequencies are mixed.
void read_fope(LayerEncoding& layer, Fields& fields, Fields& block);

/// Multiplies the layer's queries by position.
void set_query_scale(LayerEncoding& layer, const QueryScale& scale);

struct RopeWidth {
  std::int64_t head_dim = 0;
  std::int64_t rotary_dim = 0;
  std::optional<double> fraction = {};  ///< for rules over the whole head: the share of pairs that turn
  bool plain_heads = false;             ///< a model type with latent attention whose file says that it has none
};
/// Returns the widths of a layer under a rule. `block` is its rope block.
RopeWidth read_rope_width(Fields& fields, Fields& block, const LayerPlan& plan, const HfContext& context,
                          std::string_view rule);

/// Returns the layer types and the rope block of each.
std::vector<LayerPlan> plan_layers(Fields& fields, const HfContext& context, const Json& default_block);

}  // namespace locus::io
