// SPDX-License-Identifier: Apache-2.0
// `locus probe retrieve`: measures a grid of passkeys by depth and length.
#include <iomanip>
#include <iostream>
#include <memory>

#include "base/random.h"
#include "figure_output.h"
#include "locus/error.h"
#include "position_list.h"
#include "probe/measure/retrieval.h"
#include "probe_texts.h"

namespace locus::tools {
namespace {

struct RetrieveRequest {
  ProbeOptions options;
  std::string lengths;
  std::string depths;
  probe::PasskeyGrid grid;
  std::int64_t seed = 0;
  std::string output;
  bool json = false;
};

std::vector<double> parse_depths(const std::string& text) {
  std::vector<double> depths;
  for (const std::string_view part : split(text, ',')) {
    const Parameter depth{.name = "depth", .kind = ValueKind::real, .meaning = "", .least = 0, .most = 1};
    const Value value = parse_value("--depths", depth, part);
    depths.push_back(std::get<double>(value));
    require(depths.back() >= 0 && depths.back() <= 1, "--depths must be from 0 to 1, got ", part);
  }
  return depths;
}

struct Prompts {
  std::unique_ptr<probe::Tokenizer> tokenizer;
  probe::PasskeyPrompts make;
};

/// A model of the lab that learned passkeys gets the prompts of its training; all others get sentences.
Prompts prompts_for(const ProbeOptions& options, const probe::Model& model) {
  if (model.config().passkey) return {nullptr, probe::prompts_in_ids(*model.config().passkey)};
  Prompts prompts{read_tokenizer_of(options, model), {}};
  prompts.make = probe::prompts_in_sentences(*prompts.tokenizer);
  return prompts;
}

/// A model of the lab was trained at one length only: shorter ones are as new to it as longer ones.
std::vector<std::int64_t> default_lengths(const probe::ModelConfig& config) {
  const std::int64_t trained = config.trained_length;
  if (config.passkey) return {trained, 2 * trained, 4 * trained, 8 * trained};
  return {trained / 2, trained, 2 * trained, 4 * trained};
}

void print_as_text(const std::string& model, const std::vector<probe::PasskeyCell>& cells,
                   const std::vector<double>& depths, const std::string& words) {
  std::cout << model << ": keys found by length (down) and depth (across), and nats per token of the key\n"
            << std::setw(8) << "length";
  for (const double depth : depths) std::cout << std::setw(16) << depth;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i % depths.size() == 0) std::cout << '\n' << std::setw(8) << cells[i].length;
    const std::string found = std::to_string(cells[i].found) + "/" + std::to_string(cells[i].trials);
    std::cout << std::setw(9) << found << std::fixed << std::setprecision(2) << std::setw(7) << cells[i].key_loss
              << std::defaultfloat << std::setprecision(6);
  }
  std::cout << '\n' << words << '\n';
}

void run(RetrieveRequest& request) {
  check_figure_output(request.output);
  const probe::Model model = load_model(request.options);
  const Prompts prompts = prompts_for(request.options, model);
  const Encoding encoding = choose_rule(request.options, model);
  const std::int64_t trained = model.config().trained_length;
  probe::PasskeyGrid& grid = request.grid;
  require(request.seed >= 0, "--seed must be at least 0, got ", request.seed);
  grid.seed = static_cast<std::uint64_t>(request.seed);
  grid.lengths =
      request.lengths.empty() ? default_lengths(model.config()) : parse_integers("--lengths", request.lengths);
  if (!request.depths.empty()) grid.depths = parse_depths(request.depths);
  std::int64_t tokens = 0;
  for (const std::int64_t length : grid.lengths) {
    Random unused;
    (void)prompts.make(length, 0, unused);  // refused before the work, not after
    require(length - 1 <= encoding.position_range().last, "--lengths ", length,
            " exceeds the positions of this encoding (", encoding.position_range().last + 1, ")");
    tokens += length * std::ssize(grid.depths) * grid.trials;
  }
  ThreadPool pool(threads_of(request.options));
  const Interruption interruption;
  TokenProgress progress(pool, interruption);
  progress.begin("the grid", tokens);
  const auto cells = probe::measure_passkeys(model, encoding, prompts.make, grid, progress.control());
  progress.clear();
  const std::string words = probe::describe(cells, trained);
  if (request.json) {
    Json rows = Json::array();
    for (const probe::PasskeyCell& cell : cells) {
      rows.push_back({{"length", cell.length},
                      {"depth", cell.depth},
                      {"trials", cell.trials},
                      {"found", cell.found},
                      {"key_loss", cell.key_loss}});
    }
    print_json({{"model", request.options.model},
                {"trained_length", trained},
                {"cells", rows},
                {"words", words},
                {"interrupted", interruption.happened()}});
  } else {
    print_as_text(request.options.model, cells, grid.depths, words);
  }
  if (!cells.empty()) put_figure(probe::passkey_figure(request.options.model, cells), request.output, request.json);
  std::cout.flush();
  if (interruption.happened()) interruption.end_program();
}

}  // namespace

void add_probe_retrieve(CLI::App& probe) {
  CLI::App* command = probe.add_subcommand(
      "retrieve", "Measure whether a model finds passkeys hidden in a long text, by depth and length");
  const auto request = std::make_shared<RetrieveRequest>();
  add_model_options(*command, request->options);
  command->add_option("--lengths", request->lengths,
                      "Use texts of these lengths, such as 512,1024; absent: 1/2, 1, 2 and 4 times the trained length "
                      "(1, 2, 4 and 8 times it for "
                      "a model of the lab)");
  command->add_option("--depths", request->depths,
                      "Hide keys at these depths, 0 (start) to 1 (end); absent: 0,0.25,0.5,0.75,1");
  add_integer(*command, "--trials", request->grid.trials, "Hide this many keys per cell; absent: 4");
  add_integer(*command, "--seed", request->seed, "Seed the keys; absent: 0");
  add_rule_options(*command, request->options);
  add_figure_output(*command, request->output);
  command->add_flag("--json", request->json, "Print one JSON object");
  command->footer(
      "A model that does not find keys within its trained length cannot do the task; the output says so. A model\n"
      "that the lab trained on passkeys gets prompts in the lab's tokens, with keys that were not in its training.\n"
      "Examples:\n"
      "  locus probe retrieve model.gguf --lengths 256,512,1024 --rope-rule yarn --rope-factor 4\n"
      "  locus probe retrieve locus-lab/models/passkey-rope-seed1");
  command->callback([request] { run(*request); });
}

}  // namespace locus::tools
