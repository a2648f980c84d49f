// SPDX-License-Identifier: Apache-2.0
// `locus plot`: any figure of a scheme or of a lab's results, as a file or drawn in the terminal.
#include <algorithm>
#include <iostream>
#include <memory>
#include <set>

#include "encoding_options.h"
#include "figure_output.h"
#include "figures/registry.h"
#include "figures/report/results_figures.h"
#include "locus/error.h"
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
  std::optional<std::int64_t> width;
  bool list = false;
  bool json = false;
};

std::vector<figures::Figure> charts_of(const std::string& results) {
  return figures::results_figures(results::read_file(results));
}

void list_figures(const PlotRequest& request) {
  Json all = {{"figures", Json::array()}};
  for (const figures::FigureKind* kind : figures::figure_kinds()) {
    all["figures"].push_back(
        {{"name", kind->name}, {"meaning", kind->meaning}, {"scheme", kind->scheme}, {"options", kind->uses}});
  }
  if (request.results) {
    all["results"] = Json::array();
    for (const figures::Figure& figure : charts_of(*request.results)) {
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

/// Options that choose among encodings have nothing to say about numbers that were measured.
void refuse_choices(const CLI::App& command) {
  static const std::set<std::string> welcome = {"figure", "--list", "--results", "--output", "--width", "--json"};
  for (const CLI::Option* option : command.get_options()) {
    require(option->count() == 0 || welcome.contains(option->get_name()), option->get_name(),
            " means nothing with --results, whose charts are as they were measured");
  }
}

figures::Figure find_result(const PlotRequest& request) {
  std::string known;
  for (figures::Figure& figure : charts_of(*request.results)) {
    if (figure.name == request.figure) return std::move(figure);
    known += (known.empty() ? "" : ", ") + figure.name;
  }
  fail("no figure ", request.figure, " in ", *request.results, "; there are ", known.empty() ? "none" : known);
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
  require(!request.figure.empty(), "name a figure; `locus plot --list` names them");
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
      "plot", "Figures of schemes and of a lab's results: a page, a Vega-Lite file, or in the terminal");
  const auto request = std::make_shared<PlotRequest>();
  command->add_option("figure", request->figure, "A figure of --list");
  command->add_flag("--list", request->list, "The figures, what they show and which options they read");
  command->add_option("--results", request->results,
                      "A lab's results.json, or the folder it is in: its charts in place of those of schemes");
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
      "  locus plot scaling --rules none,linear,ntk,yarn,llama3 --config config.json -o scaling.vl.json\n"
      "  locus plot --list --results locus-lab\n"
      "  locus plot passkey-grid --results locus-lab -o grid.html");
  command->callback([command, request] {
    if (request->results) refuse_choices(*command);
    plot(*request);
  });
}

}  // namespace locus::tools
