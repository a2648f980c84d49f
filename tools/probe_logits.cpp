// SPDX-License-Identifier: Apache-2.0
// `locus probe logits`: prints or saves what a model predicts after chosen tokens of a text.
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <numeric>

#include "locus/error.h"
#include "locus/io/npy.h"
#include "position_list.h"
#include "printable.h"
#include "probe_options.h"

namespace locus::tools {
namespace {

struct LogitsRequest {
  ProbeOptions options;
  std::string prompt, at, output;
  std::int64_t top = 5;
  bool json = false;
};

/// Returns the chosen token indices; absent: the last.
std::vector<std::int64_t> indices_of(const std::string& text, std::int64_t tokens) {
  if (text.empty()) return {tokens - 1};
  const PositionIds given = parse_position_list(text);
  require(given.axes == 1 && given.batch == 1, "--at must be one row of indices, got ", given.axes, " axes and ",
          given.batch, " batch rows");
  for (const Position place : given.ids) {
    require(place >= 0 && place < tokens, "--at must be token indices from 0 to ", tokens - 1, ", got ", place);
  }
  return given.ids;
}

struct Guess {
  probe::Token token = 0;
  double probability = 0;
};

/// Returns the most likely next tokens.
std::vector<Guess> most_likely(std::span<const float> logits, std::int64_t count) {
  const double top = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double total = 0;
  for (const float logit : logits) total += std::exp(static_cast<double>(logit) - top);
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto kept = static_cast<std::ptrdiff_t>(std::min<std::int64_t>(count, std::ssize(order)));
  std::partial_sort(order.begin(), order.begin() + kept, order.end(), [&](std::size_t a, std::size_t b) {
    return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
  });
  std::vector<Guess> guesses;
  for (std::ptrdiff_t i = 0; i < kept; ++i) {
    const std::size_t token = order[static_cast<std::size_t>(i)];
    guesses.push_back({static_cast<probe::Token>(token), std::exp(static_cast<double>(logits[token]) - top) / total});
  }
  return guesses;
}

void run(const LogitsRequest& request) {
  require(request.top >= 1, "--top must be at least 1, got ", request.top);
  const probe::Model model = load_model(request.options);
  const auto tokenizer = read_tokenizer_of(request.options, model);
  const Encoding encoding = choose_rule(request.options, model);
  const std::vector<probe::Token> tokens = tokenizer->encode(request.prompt, {});
  require(!tokens.empty(), "--prompt must have at least one token");
  const std::vector<std::int64_t> places = indices_of(request.at, std::ssize(tokens));
  ThreadPool pool(threads_of(request.options));
  probe::Cache cache(model, std::ssize(tokens), encoding.at_length(std::ssize(tokens)));
  const probe::Segment segment{.sequence = cache.create(), .tokens = tokens};
  const std::vector<float> logits = model.forward(
      {.segments = std::span(&segment, 1), .logits_wanted = std::span<const std::int64_t>(places), .executor = &pool},
      cache);
  const std::int64_t vocab = model.config().vocab;
  if (!request.output.empty()) io::write_npy<float>(request.output, {{std::ssize(places), vocab}}, logits);
  Json json{{"model", request.options.model}, {"tokens", tokens}, {"window", model.config().window}};
  Json& list = json["places"] = Json::array();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto row = std::span(logits).subspan(i * static_cast<std::size_t>(vocab), static_cast<std::size_t>(vocab));
    const probe::Token before = tokens[static_cast<std::size_t>(places[i])];
    Json guesses = Json::array();
    if (!request.json)
      std::cout << "after token " << places[i] << " '" << printable(tokenizer->piece(before, std::nullopt)) << "':\n";
    for (const Guess& guess : most_likely(row, request.top)) {
      const std::string piece = tokenizer->piece(guess.token, before);
      guesses.push_back({{"token", guess.token},
                         {"text", piece},
                         {"probability", guess.probability},
                         {"logit", row[static_cast<std::size_t>(guess.token)]}});
      if (request.json) continue;
      std::cout << "  " << std::fixed << std::setprecision(4) << guess.probability << "  " << std::setw(8)
                << guess.token << "  '" << printable(piece) << "'\n";
    }
    list.push_back({{"place", places[i]}, {"token", before}, {"likeliest", guesses}});
  }
  if (request.json) print_json(json);
  for (const std::string& note : model.notes()) std::cerr << "locus: note: " << printable(note) << '\n';
  if (!request.output.empty()) std::cerr << "locus: wrote " << request.output << '\n';
}

}  // namespace

void add_probe_logits(CLI::App& probe) {
  CLI::App* command =
      probe.add_subcommand("logits", "Print or save what a model predicts after chosen tokens of a text");
  const auto request = std::make_shared<LogitsRequest>();
  add_model_options(*command, request->options);
  command->add_option("--prompt", request->prompt, "Read this text")->required();
  command->add_option("--at", request->at, "Choose tokens by index: 0,5 or 0:10; absent: the last");
  add_integer(*command, "--top", request->top, "Print this many of the most likely tokens; absent: 5");
  command->add_option("--output", request->output, "Write all logits after these tokens, .npy [tokens, vocabulary]");
  add_rule_options(*command, request->options);
  command->add_flag("--json", request->json, "Print one JSON object");
  command->footer("Example: locus probe logits model.gguf --prompt \"Once upon a time\" --at 0:4 --output logits.npy");
  command->callback([request] { run(*request); });
}

}  // namespace locus::tools
