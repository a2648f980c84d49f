// SPDX-License-Identifier: Apache-2.0
// Scans a JSON text before it is parsed into a tree: checks limits, and collects what a tree does not keep.
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
  /// Paths of duplicate keys, the first hundred, each once: `rope_scaling.factor`.
  std::vector<std::string> repeated;
  std::vector<std::string> rope_order;  ///< keys of rope_parameters and rope_scaling, the first 64, in file order
};

/// Scans `text`. Returns what it has at a syntax error, which the parser reports.
/// Error: a text beyond the limits; `name` starts the message.
/// Cost: linear in the text, unlike a parse with nlohmann's callbacks.
JsonScan scan_json(std::string_view text, const std::string& name, const JsonLimits& limits);

}  // namespace locus::io
