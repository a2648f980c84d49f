// SPDX-License-Identifier: Apache-2.0
// `locus plot`: any figure of a scheme, as a file or drawn in the terminal.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>

#include "encoding_options.h"
#include "figures/drawing.h"
#include "figures/page.h"
#include "figures/registry.h"
#include "figures/spec.h"
#include "locus/error.h"
#include "locus/io/atomic_file.h"
#include "position_list.h"
#include "terminal.h"

namespace locus::tools {
namespace {

struct PlotRequest {
  std::string figure;
  EncodingOptions encoding;
  std::optional<std::string> positions, dims, pairs, heads, rules;
  std::string output;
  std::optional<std::int64_t> width;
  bool list = false;
  bool json = false;
};

void list_figures(bool json) {
  Json all = Json::array();
  for (const figures::FigureKind* kind : figures::figure_kinds()) {
    all.push_back(
        {{"name", kind->name}, {"meaning", kind->meaning}, {"scheme", kind->scheme}, {"options", kind->uses}});
  }
  if (json) return print_json({{"figures", all}});
  for (const Json& one : all) {
    const std::string name = one["name"], meaning = one["meaning"];
    std::cout << name << std::string(16 - std::min<std::size_t>(name.size(), 15), ' ') << meaning;
    for (const Json& option : one["options"])
      std::cout << (&option == &one["options"][0] ? "  [--" : ", --") << option.get<std::string>();
    std::cout << (one["options"].empty() ? "\n" : "]\n");
  }
}

bool is_set(const EncodingOptions& options, std::string_view name) {
  return std::any_of(options.settings.begin(), options.settings.end(), [&](const std::string& setting) {
    return setting.starts_with(name) && setting.size() > name.size() && setting[name.size()] == '=';
  });
}

/// A figure is drawn of its own scheme unless told otherwise; what is not set is as in the figure's own example, or,
/// for another scheme, as in that scheme's.
EncodingOptions completed(EncodingOptions options, const figures::FigureKind& kind) {
  if (!options.config.empty() || (kind.scheme.empty() && options.scheme.empty())) return options;
  if (options.scheme.empty()) options.scheme = kind.scheme;
  const Scheme& scheme = find_scheme(options.scheme);
  const bool own = options.scheme == kind.scheme;
  const bool nothing_set = options.settings.empty();
  const Arguments& example = own ? kind.arguments : scheme.example;
  for (const auto& [name, value] : example.all()) {
    const auto parameter =
        std::find_if(scheme.parameters.begin(), scheme.parameters.end(),
                     [&, wanted = std::string_view(name)](const Parameter& one) { return one.name == wanted; });
    const bool required = parameter != scheme.parameters.end() && parameter->required;
    // The parameters of one rule mean nothing to another.
    const bool other_rule = own && is_set(options, "rule");
    if (!is_set(options, name) && (nothing_set || required || (own && !other_rule))) {
      options.settings.push_back(name + "=" + to_text(value));
    }
  }
  return options;
}

figures::Figure make(const PlotRequest& request, std::vector<ChosenEncoding>& chosen) {
  const figures::FigureKind& kind = figures::find_figure(request.figure);
  figures::Request wanted;
  std::optional<std::int64_t> length;
  if (request.positions) {
    const PositionIds ids = parse_position_list(*request.positions);
    require(ids.batch * ids.axes == 1, "--positions must be one row of positions, got ", ids.batch * ids.axes);
    wanted.positions = ids.ids;
    length = length_implied_by(ids);
  }
  if (request.dims) wanted.dims = parse_integers("--dims", *request.dims);
  if (request.pairs) wanted.pairs = parse_integers("--pairs", *request.pairs);
  if (request.heads) wanted.heads = parse_integers("--heads", *request.heads);
  if (request.rules) {
    for (const std::string_view name : split(*request.rules, ',')) wanted.rules.emplace_back(name);
  }
  const EncodingOptions options = completed(request.encoding, kind);
  const bool chooses_itself = kind.scheme.empty() && options.scheme.empty() && options.config.empty();
  if (chooses_itself) {
    require(options.settings.empty(), "the figure ", kind.name, " has no encoding to set");
  } else if (kind.several) {
    chosen = choose_encodings(options, length);
  } else {
    chosen.push_back(choose_encoding(options, length));
  }
  for (const ChosenEncoding& one : chosen) {
    wanted.encodings.push_back({one.layer_type, one.encoding, one.training_length});
  }
  return figures::make_figure(kind, wanted);
}

void write_text(const std::string& path, const std::string& text) {
  const io::ByteChunk chunk = std::as_bytes(std::span(text));
  io::write_atomically(path, std::span(&chunk, 1));
}

std::string vega_lite_text(const figures::Figure& figure) { return figures::standalone_spec(figure).dump(1) + "\n"; }

enum class Form { drawing, vega_lite, html };

/// By the file's name; known before anything is computed.
Form form_of(const std::string& output) {
  if (output.empty()) return Form::drawing;
  if (output == "-" || output.ends_with(".vl.json")) return Form::vega_lite;
  require(output.ends_with(".html"), "--output must end in .vl.json or .html, got ", output);
  require(figures::can_write_pages(), "this locus was built without npm and writes no pages, so not ", output,
          "; write a .vl.json, which any Vega-Lite viewer opens");
  return Form::html;
}

void plot(const PlotRequest& request) {
  if (request.list) return list_figures(request.json);
  require(!request.figure.empty(), "name a figure; `locus plot --list` names them");
  const Form form = form_of(request.output);
  require(!request.width || (*request.width >= 40 && *request.width <= 1000), "--width must be from 40 to 1000, got ",
          request.width.value_or(0));
  std::vector<ChosenEncoding> chosen;
  const figures::Figure figure = make(request, chosen);
  if (!chosen.empty()) print_note(chosen.front());
  if (form == Form::drawing) {
    if (request.json) return print_json(figures::standalone_spec(figure));
    const std::int64_t width = request.width.value_or(terminal_width());
    std::cout << figures::draw(figure, {.width = static_cast<std::size_t>(width), .colour = terminal_has_colour()});
    return;
  }
  if (request.output == "-") {
    std::cout << vega_lite_text(figure);
    return;
  }
  write_text(request.output,
             form == Form::html ? figures::html_page(figure.title, std::span(&figure, 1)) : vega_lite_text(figure));
  if (request.json) {
    print_json({{"figure", figure.name}, {"title", figure.title}, {"output", request.output}});
  } else {
    std::cerr << "locus: wrote " << request.output << '\n';
  }
}

}  // namespace

void add_plot_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand("plot", "Figures of schemes: a page, a Vega-Lite file, or in the terminal");
  const auto request = std::make_shared<PlotRequest>();
  command->add_option("figure", request->figure, "A figure of --list");
  command->add_flag("--list", request->list, "The figures, what they show and which options they read");
  add_encoding_options(*command, request->encoding);
  command->add_option("--positions", request->positions, "0,1,17 or 0:100 (offsets: --positions=-40:41)");
  command->add_option("--dims", request->dims, "Columns of a row: 0,1,10");
  command->add_option("--pairs", request->pairs, "Pairs of a rotation: 0,8,16");
  command->add_option("--heads", request->heads, "Heads: 0,3,7");
  command->add_option("--rules", request->rules, "Frequency rules: none,linear,ntk,dynamic_ntk,yarn,llama3,longrope");
  command->add_option("-o,--output", request->output,
                      "A .html page or a .vl.json file (- for standard output); absent: drawn in the terminal");
  add_integer(*command, "--width", request->width, "Columns of the drawing; absent: the terminal's, or 80");
  command->add_flag("--json", request->json, "One JSON object: the Vega-Lite chart, or what was written");
  command->footer(
      "Examples:\n"
      "  locus plot --list\n"
      "  locus plot sinusoidal --set dim=128 --positions 0:100 -o pe.html\n"
      "  locus plot wavelengths --config config.json\n"
      "  locus plot bias --scheme alibi --set heads=8\n"
      "  locus plot scaling --rules none,linear,ntk,yarn,llama3 --config config.json -o scaling.vl.json");
  command->callback([request] { plot(*request); });
}

}  // namespace locus::tools
