// SPDX-License-Identifier: Apache-2.0
// A look through a JSON text before a tree is made of it: limits, and what a tree does not keep.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace locus::io {

struct JsonLimits {
  std::size_t depth;
  std::size_t values;
};

struct JsonScan {
  /// Paths of the keys that an object has more than once, the first hundred, each once: `rope_scaling.factor`.
  std::vector<std::string> repeated;
  std::vector<std::string>
      rope_order;  ///< keys of rope_parameters and rope_scaling, the first 64, as the file has them
};

/// Throws Error where the text goes beyond the limits; `name` starts the message. Ends in silence where it is not JSON:
/// the parser says what is wrong. Cost: linear in the text, which a parse with nlohmann's own callbacks is not.
JsonScan scan_json(std::string_view text, const std::string& name, const JsonLimits& limits);

}  // namespace locus::io
