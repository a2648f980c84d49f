// SPDX-License-Identifier: Apache-2.0
// The number and shape of the heads of each layer, from a config.json or the metadata of a GGUF file.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "io/pairing_plan.h"
#include "locus/io/gguf.h"

namespace locus::io {

struct ModelShape {
  std::string architecture;
  std::optional<Pairing> engine_pairing;
  std::function<LayerShape(std::int64_t layer)> of_layer;
  bool states_pairing = false;  ///< the file states its pairing (locus_lab), so the output must state the new one
};

ModelShape model_shape_hf(std::string_view config_text, const std::string& name);
ModelShape model_shape_gguf(const GgufFile& file);

}  // namespace locus::io
