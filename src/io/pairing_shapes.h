// SPDX-License-Identifier: Apache-2.0
// How many heads of which shape the layers of a model have, by its config.json or by the metadata of a GGUF file.
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
  bool states_pairing = false;  ///< the file says it itself (locus_lab), and must not say it wrongly afterwards
};

ModelShape model_shape_hf(std::string_view config_text, const std::string& name);
ModelShape model_shape_gguf(const GgufFile& file);

}  // namespace locus::io
