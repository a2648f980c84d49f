// SPDX-License-Identifier: Apache-2.0
#include "figures/registry.h"

#include <algorithm>
#include <sstream>

#include "base/text_layout.h"
#include "locus/error.h"
#include "locus/names.h"

namespace locus::figures {

#define LOCUS_FIGURE(name) const FigureKind& name##_figure();
#include "figures/registry.def"
#undef LOCUS_FIGURE

std::span<const FigureKind* const> figure_kinds() {
  static const FigureKind* const all[] = {
#define LOCUS_FIGURE(name) &name##_figure(),
#include "figures/registry.def"
#undef LOCUS_FIGURE
  };
  return all;
}

const FigureKind& find_figure(std::string_view name) {
  return *find_named("figure", figure_kinds(), name, [](const FigureKind* kind) { return kind->name; });
}

Figure make_figure(const FigureKind& kind, const Request& request) {
  const auto check = [&](std::string_view list, bool given) {
    const bool read = std::find(kind.uses.begin(), kind.uses.end(), list) != kind.uses.end();
    require(read || !given, "the figure ", kind.name, " has no ", list, " to choose");
  };
  check("positions", !request.positions.empty());
  check("dims", !request.dims.empty());
  check("pairs", !request.pairs.empty());
  check("heads", !request.heads.empty());
  check("rules", !request.rules.empty());
  const std::size_t count = request.encodings.size();
  if (kind.scheme.empty()) {
    require(count == 0, "the figure ", kind.name, " has no encoding to choose");
  } else {
    require(count == 1 || (count > 1 && kind.several), "the figure ", kind.name, " draws one encoding, got ", count);
  }
  Figure figure = kind.make(request);
  figure.name = kind.name;
  return figure;
}

Figure make_figure(const FigureKind& kind, Language language) {
  Request request;
  request.language = language;
  if (!kind.scheme.empty()) request.encodings = {{.name = "", .encoding = Encoding(kind.scheme, kind.arguments)}};
  return make_figure(kind, request);
}

Json standalone_spec(const Figure& figure) {
  // A chart is about 600 pixels wide. Vega-Lite does not wrap text, so we insert the line breaks.
  const auto lines = [](const std::string& text, std::size_t width) {
    Json result = Json::array();
    std::istringstream stream(wrapped(text, width));
    for (std::string line; std::getline(stream, line);) result.push_back(line);
    return result;
  };
  Json spec = {{"$schema", figure.spec.value("$schema", "https://vega.github.io/schema/vega-lite/v5.json")},
               {"title",
                {{"text", lines(figure.title, 80)},
                 {"subtitle", lines(figure.caption, 100)},
                 {"anchor", "start"},
                 {"frame", "group"}}},
               {"description", figure.title}};
  spec.update(figure.spec);
  return spec;
}

}  // namespace locus::figures
