// SPDX-License-Identifier: Apache-2.0
// The part of the config.json resolver for image encoders: tables and waves over patches, windows.
#include <algorithm>

#include "io/hf_resolve.h"

namespace locus::io {
namespace {

/// Reads one number for both sides, or [rows, columns].
std::optional<PatchGrid> read_sides(Fields& fields, std::string_view key, std::int64_t fallback) {
  const Json* value = fields.peek(key);
  if (value == nullptr || value->is_number()) {
    const auto side = fields.integer({key});
    if (!side && fallback == 0) return {};
    if (!side) fields.note_default(key, std::to_string(fallback), "transformers' default");
    return PatchGrid{side.value_or(fallback), side.value_or(fallback)};
  }
  const auto sides = fields.integer_list({key});
  require(sides->size() == 2 && (*sides)[0] >= 1 && (*sides)[1] >= 1, fields.subject(key),
          " must be one or two numbers of at least 1, got ", sides->size(), " entries");
  return PatchGrid{static_cast<std::int64_t>((*sides)[0]), static_cast<std::int64_t>((*sides)[1])};
}

LayerEncoding resolve_image_table(const Fields& model, const HfContext& context) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  const auto grid = read_patch_grid(fields, context.model);
  require(grid.has_value(), fields.subject("image_size"), " and patch_size are missing, but the learned table of ",
          context.model_type, " has one row per patch");
  std::int64_t before = context.model.extra_rows;
  if (context.model.name == "yolos") {
    before = 1 + fields.integer({"num_detection_tokens"}, 0).value_or(context.model.extra_rows - 1);
  }
  LayerEncoding layer{.scheme = "learned"};
  layer.arguments.set("max_positions", grid->rows * grid->columns + before);
  layer.arguments.set("dim", with_default(read_hidden_size(fields), context.model.hidden_size, fields, "hidden_size",
                                          context, "a learned table"));
  layer.arguments.set("row_offset", std::int64_t{0});
  layer.trained_length = grid->rows * grid->columns + before;
  return finish_layer(std::move(layer), fields);
}

LayerEncoding resolve_image_waves(const Fields& model, const HfContext& context) {
  Notes notes = model.notes();
  Fields fields(model, notes);
  const auto grid = read_patch_grid(fields, context.model);
  require(grid.has_value(), fields.subject("image_size"), " and patch_size are missing, but ", context.model_type,
          " has one sinusoidal row per patch");
  LayerEncoding layer{.scheme = "sinusoidal"};
  layer.arguments.set("dim", with_default(read_hidden_size(fields), context.model.hidden_size, fields, "hidden_size",
                                          context, "a sinusoidal table"));
  layer.arguments.set("base", 10000.0);
  layer.arguments.set("arrangement", std::string("concatenated"));
  layer.arguments.set("rate", std::string("vaswani"));
  layer.arguments.set("axes", std::string("grid"));
  layer.arguments.set("grid_height", grid->rows);
  layer.arguments.set("grid_width", grid->columns);
  layer.arguments.set("prefix", context.model.extra_rows);
  layer.trained_length = grid->rows * grid->columns + context.model.extra_rows;
  return finish_layer(std::move(layer), fields);
}

/// The windows that Swin V2 was pretrained with, one side per stage; 0 where they are the same.
std::vector<std::int64_t> read_pretrained_windows(Fields& fields, std::size_t stages) {
  std::vector<std::int64_t> sides(stages, 0);
  if (const auto given = fields.integer_list({"pretrained_window_sizes"})) {
    for (std::size_t i = 0; i < std::min(stages, given->size()); ++i) sides[i] = static_cast<std::int64_t>((*given)[i]);
  }
  return sides;
}

/// Swin has one table per block, as wide as its stage has heads; Swin V2 a network, in windows no larger than the
/// stage.
std::vector<LayerEncoding> resolve_windows(const Fields& model, const HfContext& context) {
  Fields shared(model);
  const bool network = context.model.family == HfFamily::network_windows;
  auto heads = shared.integer_list({"num_heads", "num_attention_heads"});
  if (!heads) {
    heads = std::vector<double>{3, 6, 12, 24};
    shared.note_default("num_heads", "3, 6, 12, 24", "transformers' default");
  }
  constexpr std::size_t most_stages = 64;
  require(heads->size() <= most_stages, shared.subject("num_heads"), " must have at most ", most_stages,
          " entries, got ", heads->size());
  const auto window = read_sides(shared, "window_size", 7);
  const bool table = shared.boolean({"use_absolute_embeddings"}).value_or(false);
  const std::vector<std::int64_t> pretrained =
      network ? read_pretrained_windows(shared, heads->size()) : std::vector<std::int64_t>();
  // Swin2SR keeps its grid; Swin V2 halves it with every stage.
  PatchGrid grid;  // of the stage; without rows if it does not matter
  if (context.model.name == "swinv2") grid = read_patch_grid(shared, context.model).value_or(PatchGrid{});
  std::vector<LayerEncoding> layers;
  for (std::size_t stage = 0; stage < heads->size(); ++stage) {
    Notes notes = shared.notes();
    Fields fields(shared, notes);
    require((*heads)[stage] >= 1, shared.subject("num_heads"), " must be at least 1, got 0");
    LayerEncoding layer{.layer_type = "stage" + std::to_string(stage), .scheme = network ? "swin_v2" : "relative_bias"};
    layer.arguments.set("heads", static_cast<std::int64_t>((*heads)[stage]));
    std::int64_t rows = window->rows, columns = window->columns;
    if (grid.rows > 0) {  // a stage that is no larger than the window is one window
      const std::int64_t side = std::max<std::int64_t>(std::min(grid.rows, grid.columns), 1);
      rows = std::min(rows, side);
      columns = std::min(columns, side);
      grid = {std::max<std::int64_t>(grid.rows / 2, 1), std::max<std::int64_t>(grid.columns / 2, 1)};
    }
    if (network) {
      layer.arguments.set("pretrained_height", pretrained[stage]);
      layer.arguments.set("pretrained_width", pretrained[stage]);
      layer.not_applied.emplace_back(
          "this model's scores are cosines: the caller normalises queries and keys and multiplies the query by the "
          "head's logit_scale");
    } else {
      layer.arguments.set("index", std::string("swin"));
    }
    layer.arguments.set("window_height", rows);
    layer.arguments.set("window_width", columns);
    if (table)
      layer.not_applied.emplace_back(
          "this model also adds a learned table of its patches "
          "(use_absolute_embeddings); Locus does not apply that yet");
    layers.push_back(finish_layer(std::move(layer), fields));
  }
  return layers;
}

/// SAM and ViTDet: a learned table under the first layer; on the scores, rows for the offsets inside a window, and over
/// the whole grid in the layers with global attention.
std::vector<LayerEncoding> resolve_grid_keys(const Fields& model, const HfContext& context) {
  Fields shared(model);
  const auto relative = shared.boolean({"use_rel_pos", "use_relative_position_embeddings"});
  const bool absolute = shared.boolean({"use_abs_pos", "use_absolute_position_embeddings"}).value_or(true);
  const std::int64_t window = shared.integer({"window_size"}, 0).value_or(context.model.name == "vitdet" ? 0 : 14);
  shared.acknowledge({"global_attn_indexes", "window_block_indices", "residual_block_indices"});
  const auto grid = read_patch_grid(shared, context.model);
  require(grid.has_value(), shared.subject("image_size"), " and patch_size are missing, but ", context.model_type,
          " has rows for the offsets of patches");
  std::vector<LayerEncoding> layers;
  if (absolute) {
    layers.push_back(resolve_image_table(shared, context));
    layers.back().layer_type = "patch embeddings";
  }
  std::vector<std::int64_t> sides{0};  // 0: the whole grid
  if (window > 0) sides.insert(sides.begin(), window);
  if (!relative.value_or(context.model.name != "vitdet")) sides.clear();
  for (const std::int64_t side : sides) {
    Notes notes = shared.notes();
    Fields fields(shared, notes);
    const auto [hidden, heads] = read_widths(fields, context, "the width of a head");
    LayerEncoding layer{.layer_type = side == 0 ? "global" : "windows", .scheme = "decomposed_2d"};
    layer.arguments.set("heads", heads);
    layer.arguments.set("head_dim", hidden / heads);
    layer.arguments.set("grid_height", side == 0 ? grid->rows : side);
    layer.arguments.set("grid_width", side == 0 ? grid->columns : side);
    layers.push_back(finish_layer(std::move(layer), fields));
  }
  return layers.empty() ? resolve_nope(shared) : layers;
}

}  // namespace

std::optional<PatchGrid> read_patch_grid(Fields& fields, const HfModel& model) {
  const auto image = read_sides(fields, "image_size", model.image_size);
  const auto patch = read_sides(fields, "patch_size", model.patch_size);
  if (!image || !patch) return {};
  const PatchGrid grid{image->rows / patch->rows, image->columns / patch->columns};
  require(grid.rows >= 1 && grid.columns >= 1, fields.subject("patch_size"), " must be at most image_size (",
          image->rows, " x ", image->columns, "), got ", patch->rows, " x ", patch->columns);
  return grid;
}

std::vector<LayerEncoding> resolve_images(const Fields& model, const HfContext& context, HfFamily family) {
  if (family == HfFamily::windows || family == HfFamily::network_windows) return resolve_windows(model, context);
  if (family == HfFamily::grid_keys) return resolve_grid_keys(model, context);
  if (family == HfFamily::image_waves) return {resolve_image_waves(model, context)};
  return {resolve_image_table(model, context)};
}

}  // namespace locus::io
