// SPDX-License-Identifier: Apache-2.0
// Shared by the parts of the config.json resolver.
#pragma once

#include <array>
#include <string_view>
#include <vector>

#include "io/hf_json.h"
#include "io/hf_models.h"
#include "locus/error.h"
#include "locus/io/hf_config.h"

namespace locus::io {

/// One model of a config, and everything needed to resolve it.
struct HfContext {
  const HfModel& model;
  bool listed;  ///< `model` is a row of the table, not a default-constructed one
  const std::string& model_type;
  const HfOptions& options;
  const std::vector<std::string>& rope_order;
};

/// The keys under which a multimodal model stores its language model.
inline constexpr std::array<std::string_view, 6> hf_nesting_keys = {"text_config",    "llm_config", "language_config",
                                                                    "thinker_config", "vlm_config", "generator"};

/// Returns the object of the text model. Notes keys that concern positions in enclosing objects as ignored.
Fields find_text_model(const Json& root, const std::string& file, Notes& notes);

/// Returns one encoding per layer type of a RoPE model. `fields` is the object of the model.
std::vector<LayerEncoding> resolve_rope(const Fields& fields, const HfContext& context);

/// The same for all other families.
std::vector<LayerEncoding> resolve_other(const Fields& fields, const HfContext& context, HfFamily family);
LayerEncoding resolve_alibi(const Fields& fields, const HfContext& context, std::string_view form);
LayerEncoding resolve_learned(const Fields& fields, const HfContext& context, HfRowOffset row_offset);
LayerEncoding resolve_sinusoidal(const Fields& fields, const HfContext& context, std::string_view arrangement,
                                 std::string_view rate);
/// Reads BERT's learned vectors of distances (`relative_key`, `relative_key_query`), which transformers 5 no longer
/// reads.
LayerEncoding resolve_distances(const Fields& fields, const HfContext& context, bool meets_key);
/// Projected sines of the distance: transformer_xl or conformer.
LayerEncoding resolve_projected_sines(const Fields& fields, const HfContext& context, std::string_view scheme);
std::vector<LayerEncoding> resolve_nope(const Fields& fields);

/// Resolves image encoders.
std::vector<LayerEncoding> resolve_images(const Fields& fields, const HfContext& context, HfFamily family);
/// The rows and columns of patches, from image_size and patch_size; empty if neither the file nor the class gives them.
struct PatchGrid {
  std::int64_t rows = 0, columns = 0;
};
std::optional<PatchGrid> read_patch_grid(Fields& fields, const HfModel& model);

/// Resolves families that are decided by a key of the file.
std::vector<LayerEncoding> resolve_by_key(const Fields& fields, const HfContext& context);

/// Returns the row's sentence with {key=default} filled in from the file.
std::string described(Fields& fields, std::string_view what);
/// Throws UnsupportedModel: `config.json: wav2vec2 gets positions from ...; Locus does not express that yet`.
[[noreturn]] void refuse_model(const Fields& fields, const HfContext& context, std::string_view what);

/// Reads the maximum length of the file, under any of its names.
std::optional<std::int64_t> read_max_length(Fields& fields);
std::optional<std::int64_t> read_hidden_size(Fields& fields);
std::optional<std::int64_t> read_heads(Fields& fields);

/// Returns the value, or the default of the class with a note. Error: neither exists; says what needs it.
std::int64_t with_default(const std::optional<std::int64_t>& value, std::int64_t fallback, Fields& fields,
                          std::string_view key, const HfContext& context, std::string_view by);
std::string why_default(const HfContext& context);

struct HiddenAndHeads {
  std::int64_t hidden = 0, heads = 0;
};
/// Reads the hidden size and the number of heads, with defaults. Error: one is missing, or more heads than coordinates.
HiddenAndHeads read_widths(Fields& fields, const HfContext& context, std::string_view by);

/// Returns the value. Error: it is missing; says what needs it.
template <class T>
T needed(const std::optional<T>& value, const Fields& fields, std::string_view key, std::string_view by) {
  require(value.has_value(), fields.subject(key), " is missing, but ", by, " needs it");
  return *value;
}

/// Moves the notes into the layer after it was read.
LayerEncoding with_notes(LayerEncoding layer, Notes notes);
/// The same, after noting the keys that concern positions and were not read.
LayerEncoding finish_layer(LayerEncoding layer, Fields& fields);

}  // namespace locus::io
