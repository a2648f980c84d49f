// SPDX-License-Identifier: Apache-2.0
// One kind of layer of a RoPE model, between finding it and reading it.
#pragma once

#include "io/hf_resolve.h"

namespace locus::io {

inline constexpr std::string_view full_attention = "full_attention";
inline constexpr std::string_view sliding_attention = "sliding_attention";

struct RopeBlock {
  const Json* json = nullptr;
  std::string path;  ///< with the dot that keys follow
  bool is_default = false;
};

/// One kind of layer, before it is read.
struct LayerPlan {
  std::string layer_type;
  bool rotates = true;
  RopeBlock block = {};
  bool has_local_base = false;            ///< the base of sliding layers has keys of its own
  std::vector<std::int64_t> layers = {};  ///< which ones; empty: all, or not told
  std::optional<double> base = {};        ///< given by a list with an entry per layer
  std::optional<double> fraction = {};    ///< the same of the rotary width
  bool compressed = false;                ///< DeepSeek V4: compress_rope_theta, and no factor on cos and sin
};

/// Reads base, width, pairing, rule and axes of a layer that rotates. `fields` is the object of the model and takes the
/// notes.
LayerEncoding read_rope_layer(Fields& fields, const LayerPlan& plan, const HfContext& context);

/// Which kinds of layers there are, and which rope block belongs to each.
std::vector<LayerPlan> plan_layers(Fields& fields, const HfContext& context, const Json& default_block);

}  // namespace locus::io
