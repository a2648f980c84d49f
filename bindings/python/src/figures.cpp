// SPDX-License-Identifier: Apache-2.0
// Figures as Vega-Lite text.
#include <pybind11/stl.h>

#include "figures/registry.h"
#include "figures/report/page.h"
#include "figures/report/results_figures.h"
#include "figures/terminal/drawing.h"
#include "module.h"
#include "results/file.h"
#include "results/json.h"
#include "values.h"

namespace locus::python {
namespace {

namespace figs = locus::figures;

py::list all_figures() {
  py::list result;
  for (const figs::FigureKind* kind : figs::figure_kinds()) {
    py::dict one;
    one["name"] = kind->name;
    one["meaning"] = kind->meaning;
    one["uses"] = kind->uses;
    one["several"] = kind->several;
    result.append(one);
  }
  return result;
}

// Returns (name, title, caption, the specification as JSON). `choices` are the lists of a Request by name.
py::tuple make_figure(std::string_view name, const std::vector<std::pair<std::string, Encoding>>& encodings,
                      const py::dict& choices) {
  const figs::FigureKind& kind = figs::find_figure(name);
  const auto integers = [&](const char* list) { return entry<std::vector<std::int64_t>>(choices, list); };
  figs::Request request{.encodings = {},
                        .positions = integers("positions"),
                        .dims = integers("dims"),
                        .pairs = integers("pairs"),
                        .heads = integers("heads"),
                        .rules = entry<std::vector<std::string>>(choices, "rules")};
  for (const auto& [label, encoding] : encodings) request.encodings.push_back({.name = label, .encoding = encoding});
  if (encodings.empty() && !kind.scheme.empty()) {
    request.encodings.push_back({.name = std::string(kind.scheme), .encoding = Encoding(kind.scheme, kind.arguments)});
  }
  const figs::Figure figure = figs::make_figure(kind, request);
  return py::make_tuple(figure.name, figure.title, figure.caption, figs::standalone_spec(figure).dump());
}

// A figure from what make_figure returned.
figs::Figure figure_of(const std::string& name, const std::string& title, const std::string& caption,
                       const std::string& spec) {
  return {.name = name, .title = title, .caption = caption, .spec = figs::Json::parse(spec)};
}

std::string figure_page(const std::string& name, const std::string& title, const std::string& caption,
                        const std::string& spec) {
  figs::Figure figure = figure_of(name, title, caption, spec);
  figure.spec.erase("title");  // the page has its own
  return figs::html_page(figure);
}

std::string draw_figure(const std::string& name, const std::string& title, const std::string& caption,
                        const std::string& spec) {
  return figs::draw(figure_of(name, title, caption, spec));
}

// Reads results.json from a file or folder, checks it, and returns it as JSON with the ranking.
std::string read_results(const std::string& path) { return results::to_json(results::read_file(path)).dump(); }

// Returns the charts of a lab's results in the form of make_figure.
py::list results_figures(const std::string& path, const std::string& language) {
  const Words words(find_language(language));
  py::list result;
  for (const figs::Figure& figure : figs::results_figures(results::read_file(path), words)) {
    result.append(py::make_tuple(figure.name, figure.title, figure.caption, figs::standalone_spec(figure).dump()));
  }
  return result;
}

}  // namespace

void bind_figures(py::module_& module) {
  module.def("figures", &all_figures);
  module.def("read_results", &read_results, py::arg("path"));
  module.def("results_figures", &results_figures, py::arg("path"), py::arg("language"));
  module.def("can_write_pages", &figs::can_write_pages);
  module.def("figure_page", &figure_page, py::arg("name"), py::arg("title"), py::arg("caption"), py::arg("spec"));
  module.def("draw_figure", &draw_figure, py::arg("name"), py::arg("title"), py::arg("caption"), py::arg("spec"));
  module.def("make_figure", &make_figure, py::arg("name"), py::arg("encodings"), py::arg("choices"));
}

}  // namespace locus::python
