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
  bool has_local_base = false;  ///< the base of sliding layers has keys of its own
};

/// Reads base, width, pairing, rule and axes of a layer that rotates. `fields` is the object of the text model and
/// takes the notes.
LayerEncoding read_rope_layer(Fields& fields, const LayerPlan& plan, const HfContext& context);

}  // namespace locus::io
