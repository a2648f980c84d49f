// SPDX-License-Identifier: Apache-2.0
// `locus plot`: draws a figure of a scheme or of a lab's results, in a file or in the terminal.
#include <algorithm>
#include <iostream>
#include <memory>
#include <set>

#include "encoding_options.h"
#include "figure_output.h"
#include "figures/registry.h"
#include "figures/report/results_figures.h"
#include "locus/error.h"
#include "locus/names.h"
#include "position_list.h"
#include "results/file.h"

namespace locus::tools {
namespace {

struct PlotRequest {
  std::string figure;
  std::optional<std::string> results;
  EncodingOptions encoding;
  std::optional<std::string> positions, dims, pairs, heads, rules;
  std::string output;
  std::string language = "en";
  std::optional<std::int64_t> width;
  bool list = false;
  bool json = false;
};

std::vector<figures::Figure> charts_of(const PlotRequest& request) {
  return figures::results_figures(results::read_file(*request.results), Words(find_language(request.language)));
}

void list_figures(const PlotRequest& request) {
  Json all = {{"figures", Json::array()}};
  for (const figures::FigureKind* kind : figures::figure_kinds()) {
    all["figures"].push_back(
        {{"name", kind->name}, {"meaning", kind->meaning}, {"scheme", kind->scheme}, {"options", kind->uses}});
  }
  if (request.results) {
    all["results"] = Json::array();
    for (const figures::Figure& figure : charts_of(request)) {
      all["results"].push_back({{"name", figure.name}, {"meaning", figure.title}});
    }
  }
  if (request.json) return print_json(all);
  std::size_t widest = 0;
  for (const Json& group : all) {
    for (const Json& one : group) widest = std::max(widest, one["name"].get<std::string>().size());
  }
  for (const Json& group : all) {
    if (&group != &all.front()) std::cout << "\nof " << *request.results << ":\n";
    for (const Json& one : group) {
      const std::string name = one["name"], meaning = one["meaning"];
      std::cout << name << std::string(widest + 1 - name.size(), ' ') << meaning;
      const Json options = one.value("options", Json::array());
      for (const Json& option : options)
        std::cout << (&option == &options[0] ? "  [--" : ", --") << option.get<std::string>();
      std::cout << (options.empty() ? "\n" : "]\n");
    }
  }
}

/// Completes a spelling with the settings of the figure's example or, for another scheme, of that scheme's example.
Spelling completed(Spelling spelling, const figures::FigureKind& kind) {
  if (!spelling.config.empty()) return spelling;
  const Scheme& scheme = find_scheme(spelling.scheme);
  const bool own = spelling.scheme == kind.scheme;
  const bool nothing_set = spelling.settings.empty();
  // The parameters of one rule do not apply to another.
  const bool other_rule = own && is_set(spelling, "rule");
  const Arguments& example = own ? kind.arguments : scheme.example;
  for (const auto& [name, value] : example.all()) {
    const auto parameter =
        std::find_if(scheme.parameters.begin(), scheme.parameters.end(),
                     [&, wanted = std::string_view(name)](const Parameter& one) { return one.name == wanted; });
    const bool required = parameter != scheme.parameters.end() && parameter->required;
    if (!is_set(spelling, name) && (nothing_set || required || (own && !other_rule))) {
      spelling.settings.push_back({name, to_text(value)});
    }
  }
  return with_required(std::move(spelling));
}

/// Returns the encodings to draw: the given ones, else the figure's default.
std::vector<Spelling> spellings_for(const PlotRequest& request, const figures::FigureKind& kind) {
  EncodingOptions options = request.encoding;
  if (options.schemes.empty() && options.config.empty()) {
    require(!kind.scheme.empty() || options.settings.empty(), "the figure ", kind.name, " has no encoding to set");
    if (!kind.scheme.empty()) options.schemes.emplace_back(kind.scheme);
  }
  std::vector<Spelling> spellings = spellings_of(options);
  require(kind.several || spellings.size() <= 1, "the figure ", kind.name, " draws one encoding, got ",
          spellings.size());
  for (Spelling& one : spellings) one = completed(std::move(one), kind);
  return spellings;
}

figures::Figure make(const PlotRequest& request, std::vector<ChosenEncoding>& chosen) {
  const figures::FigureKind& kind = figures::find_figure(request.figure);
  figures::Request wanted;
  wanted.language = find_language(request.language);
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
  if (request.rules) wanted.rules = split_spellings(*request.rules);
  const std::vector<Spelling> spellings = spellings_for(request, kind);
  for (const Spelling& spelling : spellings) {
    std::vector<ChosenEncoding> layers = choose_encodings(request.encoding, spelling, length);
    if (!kind.several) layers = {only_layer(std::move(layers))};
    for (ChosenEncoding& one : layers) {
      const std::string name = spellings.size() == 1    ? one.layer_type
                               : one.layer_type.empty() ? spelling.text
                                                        : spelling.text + " " + one.layer_type;
      wanted.encodings.push_back({name, one.encoding, one.trained_length});
      chosen.push_back(std::move(one));
    }
  }
  return figures::make_figure(kind, wanted);
}

/// Error: options that choose an encoding, given with --results.
void refuse_choices(const CLI::App& command) {
  static const std::set<std::string> allowed = {"figure",  "--list", "--results", "--output",
                                                "--width", "--lang", "--json"};
  for (const CLI::Option* option : command.get_options()) {
    require(option->count() == 0 || allowed.contains(option->get_name()), option->get_name(),
            " does not apply to --results");
  }
}

figures::Figure find_result(const PlotRequest& request) {
  std::vector<figures::Figure> charts = charts_of(request);
  for (figures::Figure& chart : charts) {
    if (chart.name == request.figure) return std::move(chart);
  }
  fail_unknown("figure", request.figure,
               names_of(charts, [](const figures::Figure& chart) -> std::string_view { return chart.name; }));
}

void put(const figures::Figure& figure, const PlotRequest& request) {
  if (request.output.empty()) {
    if (request.json) return print_json(figures::standalone_spec(figure));
    return draw_figure(figure, request.width);
  }
  if (request.output == "-") {
    std::cout << vega_lite_text(figure);
    return;
  }
  write_figure(figure, request.output);
  if (request.json) {
    print_json({{"figure", figure.name}, {"title", figure.title}, {"output", request.output}});
  } else {
    std::cerr << "locus: wrote " << request.output << '\n';
  }
}

void plot(const PlotRequest& request) {
  if (request.list) return list_figures(request);
  require(!request.figure.empty(), "give the name of a figure; `locus plot --list` lists them");
  if (request.output != "-") check_figure_output(request.output);
  require(!request.width || (*request.width >= 40 && *request.width <= 1000), "--width must be from 40 to 1000, got ",
          request.width.value_or(0));
  if (request.results) return put(find_result(request), request);
  std::vector<ChosenEncoding> chosen;
  put(make(request, chosen), request);
  if (!chosen.empty()) print_note(chosen.front());
}

}  // namespace

void add_plot_command(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "plot", "Draw figures of schemes or of a lab's results: in the terminal, as a page, or as Vega-Lite");
  const auto request = std::make_shared<PlotRequest>();
  command->add_option("figure", request->figure, "Draw this figure of --list");
  command->add_flag("--list", request->list, "List the figures, what they show and which options they take");
  command->add_option("--results", request->results, "Draw charts of a lab's results.json, or of its folder");
  add_encoding_options(*command, request->encoding);
  command->add_option("--positions", request->positions,
                      "Draw these positions: 0,1,17 or 0:100 (offsets: --positions=-40:41)");
  command->add_option("--dims", request->dims, "Draw these columns of a row: 0,1,10");
  command->add_option("--pairs", request->pairs, "Draw these pairs of a rotation: 0,8,16");
  command->add_option("--heads", request->heads, "Draw these heads: 0,3,7");
  command->add_option(
      "--rules", request->rules,
      "Draw these rules, spelled as everywhere: none,linear,yarn:2, or 'yarn:2;rope:rule=yarn,factor=8'");
  command->add_option("-o,--output", request->output,
                      "Write a .html page or a .vl.json file (- for standard output); absent: draw in the terminal");
  add_integer(*command, "--width", request->width,
              "Draw this many columns wide; absent: as wide as the terminal, or 80");
  command->add_option("--lang", request->language, "Write the texts of the figure in this language: en or es")
      ->capture_default_str();
  command->add_flag("--json", request->json, "Print one JSON object: the Vega-Lite chart, or what was written");
  command->footer(
      "Examples:\n"
      "  locus plot --list\n"
      "  locus plot sinusoidal --set dim=128 --positions 0:100 -o pe.html\n"
      "  locus plot wavelengths --config config.json\n"
      "  locus plot bias --scheme alibi --set heads=8\n"
      "  locus plot scaling --rules none,linear,ntk,yarn,llama3 --config config.json -o scaling.vl.json\n"
      "  locus plot --list --results locus-lab\n"
      "  locus plot passkey-grid --results locus-lab -o grid.html");
  command->callback([command, request] {
    if (request->results) refuse_choices(*command);
    plot(*request);
  });
}

}  // namespace locus::tools
