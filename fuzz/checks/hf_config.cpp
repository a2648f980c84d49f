// SPDX-License-Identifier: Apache-2.0
// Any text either resolves to layers that each have a scheme, or throws locus::Error. Each layer can be chosen by
// name.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "checks.h"
#include "locus/error.h"
#include "locus/io/hf_config.h"

namespace locus::fuzz {

void check_hf_config(std::string_view text) {
  try {
    const locus::io::HfConfig config = locus::io::resolve_hf_config(text, "fuzz");
    if (config.layers.empty()) std::abort();
    for (const locus::io::LayerEncoding& layer : config.layers) {
      if (layer.scheme.empty()) std::abort();
      if (layer.scheme == "rope") {
        const auto& arguments = layer.arguments;
        if (arguments.integer("rotary_dim") > arguments.integer("head_dim")) std::abort();
        if (!(arguments.real("base") > 0) || arguments.text("rule").empty()) std::abort();
      }
      if (layer.layer_type.empty()) continue;
      locus::io::HfOptions options;
      options.layer_type = layer.layer_type;
      const auto one = locus::io::resolve_hf_config(text, "fuzz", options);
      if (one.layers.size() != 1 || one.layers[0].scheme != layer.scheme) std::abort();
    }
  } catch (const locus::Error&) {
  }
}

}  // namespace locus::fuzz
