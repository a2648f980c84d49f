// SPDX-License-Identifier: Apache-2.0
// A figure: one Vega-Lite chart with its data inside, defined once for the report, `locus plot` and notebooks.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace locus::figures {

using Json = nlohmann::ordered_json;

struct Figure {
  std::string name;     ///< as in `locus plot --list`, [a-z0-9-]
  std::string title;    ///< plain text: what the figure shows
  std::string caption;  ///< plain text, one or two sentences: how to read it
  Json spec;            ///< a Vega-Lite 5 specification; rows in data.values (or datasets), nothing loaded
};

}  // namespace locus::figures
