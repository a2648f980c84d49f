// SPDX-License-Identifier: Apache-2.0
#include "figures/terminal/panel.h"

#include <algorithm>

#include "figures/spec.h"

namespace locus::figures {
namespace {

/// What an inner view inherits from outer ones.
struct Context {
  const Json* root;
  std::vector<const Json*> rows;
  Json encoding = Json::object();
  std::string title;
  const Json* faceted = nullptr;  ///< a view whose rows are already selected
};

std::vector<const Json*> rows_in(const Json& view, const Context& context) {
  if (!view.contains("data") || !view["data"].is_object()) return context.rows;
  const Json& data = view["data"];
  const Json* values = nullptr;
  if (data.contains("values")) {
    values = &data["values"];
  } else if (data.contains("name") && context.root->contains("datasets")) {
    const auto found = (*context.root)["datasets"].find(data["name"].get<std::string>());
    if (found != (*context.root)["datasets"].end()) values = &*found;
  }
  std::vector<const Json*> rows;
  if (values == nullptr || !values->is_array()) return rows;
  for (const Json& row : *values) rows.push_back(&row);
  return rows;
}

Channel channel_of(const Json& encoding, const std::string& name) {
  Channel channel;
  if (!encoding.contains(name) || !encoding[name].is_object() || !encoding[name].contains("field")) return channel;
  const Json& given = encoding[name];
  channel.field = given["field"];
  channel.title = channel.field;
  if (given.contains("title")) channel.title = given["title"].is_string() ? given["title"].get<std::string>() : "";
  if (given.contains("format") && given["format"].is_string()) channel.format = given["format"];
  const std::string type = given.value("type", "quantitative");
  channel.discrete = type == "nominal" || type == "ordinal";
  channel.descending = given.contains("sort") && given["sort"] == "descending";
  if (given.contains("axis") && given["axis"].is_object() && given["axis"].contains("values")) {
    for (const Json& value : given["axis"]["values"]) channel.labelled.push_back(label_of(value));
  }
  if (given.contains("sort") && given["sort"].is_array()) {
    for (const Json& value : given["sort"]) channel.names.push_back(label_of(value));
  }
  if (!given.contains("scale") || !given["scale"].is_object()) return channel;
  const Json& scale = given["scale"];
  channel.logarithmic = scale.value("type", "") == "log";
  channel.log_base = scale.value("base", 10.0);
  if (!scale.contains("domain") || !scale["domain"].is_array()) return channel;
  const Json& domain = scale["domain"];
  if (channel.discrete) {
    for (const Json& value : domain) channel.names.push_back(label_of(value));
  } else if (domain.size() == 2 && domain[0].is_number() && domain[1].is_number()) {
    channel.domain = {domain[0].get<double>(), domain[1].get<double>()};
  }
  return channel;
}

std::string mark_of(const Json& view) {
  if (!view.contains("mark")) return "";
  return view["mark"].is_string() ? view["mark"].get<std::string>() : view["mark"].value("type", "");
}

Layer layer_of(const Json& view, const Context& context) {
  return {.mark = mark_of(view),
          .x = channel_of(context.encoding, "x"),
          .y = channel_of(context.encoding, "y"),
          .x2 = channel_of(context.encoding, "x2"),
          .colour = channel_of(context.encoding, "color"),
          .text = channel_of(context.encoding, "text"),
          .rows = context.rows};
}

void add_layers(const Json& view, Context context, std::vector<Layer>& layers) {
  if (&view != context.faceted) context.rows = rows_in(view, context);
  if (view.contains("encoding")) context.encoding.update(view["encoding"]);
  if (view.contains("layer")) {
    for (const Json& inner : view["layer"]) add_layers(inner, context, layers);
  } else {
    layers.push_back(layer_of(view, context));
  }
}

void add_panel(const Json& view, const Context& context, std::vector<Panel>& panels) {
  Panel panel{.title = context.title, .layers = {}};
  add_layers(view, context, panel.layers);
  panels.push_back(std::move(panel));
}

/// Makes one panel per value of the facet's field, in the order of the axis.
void add_facets(const Json& facet, const Json& inner, const Context& context, std::vector<Panel>& panels) {
  const Channel channel = channel_of({{"facet", facet}}, "facet");
  for (const std::string& label : labels_of(channel, context.rows)) {
    Context one = context;
    one.faceted = &inner;
    std::erase_if(one.rows, [&](const Json* row) {
      return !row->contains(channel.field) || label_of((*row)[channel.field]) != label;
    });
    const std::string name = channel.title.empty() ? label : channel.title + " " + label;
    one.title = context.title.empty() ? name : context.title + ", " + name;
    add_panel(inner, one, panels);
  }
}

void add_panels(const Json& view, Context context, std::vector<Panel>& panels) {
  context.rows = rows_in(view, context);
  for (const char* kind : {"hconcat", "vconcat", "concat"}) {
    if (!view.contains(kind)) continue;
    for (const Json& inner : view[kind]) {
      Context one = context;
      if (inner.contains("title") && inner["title"].is_string()) one.title = inner["title"];
      add_panels(inner, one, panels);
    }
    return;
  }
  if (view.contains("facet") && view.contains("spec")) {
    const Json& facet = view["facet"];
    if (facet.contains("field")) return add_facets(facet, view["spec"], context, panels);
    for (const char* way : {"row", "column"}) {  // one of them; a grid of both is not supported
      if (facet.contains(way)) return add_facets(facet[way], view["spec"], context, panels);
    }
  }
  for (const char* way : {"facet", "row", "column"}) {
    if (!view.contains("encoding") || !view["encoding"].contains(way)) continue;
    return add_facets(view["encoding"][way], view, context, panels);
  }
  add_panel(view, context, panels);
}

}  // namespace

std::vector<Panel> panels_of(const Json& spec) {
  std::vector<Panel> panels;
  add_panels(spec, {.root = &spec, .rows = {}, .encoding = Json::object(), .title = ""}, panels);
  return panels;
}

std::string label_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return pretty(value.get<double>());
  return value.dump();
}

std::vector<std::string> labels_of(const Channel& channel, const std::vector<const Json*>& rows) {
  std::vector<const Json*> values;
  for (const Json* row : rows) {
    const auto found = row->find(channel.field);
    if (found != row->end() && !found->is_null()) values.push_back(&*found);
  }
  const auto before = [](const Json* a, const Json* b) { return *a < *b; };
  const bool numbers = std::all_of(values.begin(), values.end(), [](const Json* value) { return value->is_number(); });
  if (numbers) {
    std::sort(values.begin(), values.end(), before);
    if (channel.descending) std::reverse(values.begin(), values.end());
  }
  std::vector<std::string> labels = channel.names;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0 && *values[i] == *values[i - 1]) continue;
    const std::string label = label_of(*values[i]);
    if (numbers || std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
  }
  return labels;
}

std::optional<double> number_in(const Json& row, const std::string& field) {
  const auto found = row.find(field);
  if (found == row.end() || !found->is_number()) return {};
  return found->get<double>();
}

}  // namespace locus::figures
