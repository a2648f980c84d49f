// SPDX-License-Identifier: Apache-2.0
// What the parts of the config.json resolver share.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "io/hf_json.h"
#include "io/hf_models.h"
#include "locus/error.h"
#include "locus/io/hf_config.h"

namespace locus::io {

/// The text model of a config, and all that is needed to resolve it.
struct HfContext {
  const HfModel& model;
  bool listed;  ///< `model` is a row of the table, not an empty one
  const std::string& model_type;
  const HfOptions& options;
  const std::vector<std::string>& rope_order;
};

/// Where a model of several modalities keeps its language model.
inline constexpr std::array<std::string_view, 4> hf_nesting_keys = {"text_config", "llm_config", "language_config",
                                                                    "thinker_config"};

/// Descends to the object of the text model; keys about position that are passed on the way are noted as ignored.
Fields find_text_model(const Json& root, const std::string& file, Notes& notes);

/// One encoding for each kind of layer of a RoPE model. `fields` is the object of the text model.
std::vector<LayerEncoding> resolve_rope(const Fields& fields, const HfContext& context);

/// The same for every other family.
std::vector<LayerEncoding> resolve_other(const Fields& fields, const HfContext& context, HfFamily family);
LayerEncoding resolve_alibi(const Fields& fields, std::string_view form);

/// Reads the length that the file gives as its limit, under any of its names.
std::optional<std::int64_t> read_max_length(Fields& fields);
std::optional<std::int64_t> read_hidden_size(Fields& fields);
std::optional<std::int64_t> read_heads(Fields& fields);

/// The value, or an error that says who needs it.
template <class T>
T needed(const std::optional<T>& value, const Fields& fields, std::string_view key, std::string_view by) {
  require(value.has_value(), fields.subject(key), " is missing, but ", by, " needs it");
  return *value;
}

/// Moves the notes in once the layer has been read.
LayerEncoding with_notes(LayerEncoding layer, Notes notes);

}  // namespace locus::io
