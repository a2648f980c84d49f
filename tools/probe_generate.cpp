// SPDX-License-Identifier: Apache-2.0
// `locus probe generate`: prints the text and a newline on standard output; speed and notes on standard error.
#include <iomanip>
#include <iostream>

#include "base/interruption.h"
#include "locus/error.h"
#include "position_list.h"
#include "printable.h"
#include "probe/generate.h"
#include "probe_options.h"

namespace locus::tools {
namespace {

struct GenerateRequest {
  ProbeOptions options;
  std::string prompt;
  std::int64_t max_tokens = 256;
  std::int64_t seed = 0;
  std::int64_t chunk = 512;
  probe::Sampling sampling;
  bool json = false;
};

std::vector<probe::Token> tokens_of(const std::string& prompt, const probe::Tokenizer& tokenizer) {
  probe::EncodeOptions options;
  if (prompt.empty()) options.bos = true;
  std::vector<probe::Token> tokens = tokenizer.encode(prompt, options);
  require(!tokens.empty(),
          "an empty --prompt needs a tokenizer with a beginning-of-sequence token, which this one lacks");
  return tokens;
}

/// A text ends at an end token; llama2.c's models use the beginning-of-sequence token of the next text.
std::vector<probe::Token> stops_of(const probe::Tokenizer& tokenizer, const probe::Model& model) {
  std::vector<probe::Token> stops;
  if (const auto eos = tokenizer.eos()) stops.push_back(*eos);
  if (const auto bos = tokenizer.bos(); bos && model.config().format == "llama2c") stops.push_back(*bos);
  return stops;
}

void report(const probe::Generated& result, std::int64_t prompt, const probe::Model& model) {
  const auto rate = [](std::int64_t count, double seconds) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0.0;
  };
  std::cerr << std::fixed << std::setprecision(2) << "locus: prompt " << prompt << " tokens in "
            << result.prompt_seconds << " s (" << rate(prompt, result.prompt_seconds) << " tokens/s); then "
            << result.tokens.size() << " tokens in " << result.seconds << " s (" << rate(result.steps, result.seconds)
            << " tokens/s, " << rate(result.steps * model.config().weight_bytes, result.seconds) / 1e9
            << " GB/s of weights)\n";
  if (result.out_of_positions) std::cerr << "locus: note: the encoding has no position for another token\n";
  if (result.interrupted) std::cerr << "locus: note: interrupted\n";
}

void print_result(const probe::Generated& result, const std::vector<probe::Token>& prompt, const std::string& text) {
  print_json({{"text", text},
              {"prompt_tokens", prompt},
              {"tokens", result.tokens},
              {"prompt_seconds", result.prompt_seconds},
              {"seconds", result.seconds},
              {"out_of_positions", result.out_of_positions},
              {"interrupted", result.interrupted}});
}

void run(const GenerateRequest& request) {
  const probe::Model model = load_model(request.options);
  const auto tokenizer = read_tokenizer_of(request.options, model);
  const Encoding encoding = choose_rule(request.options, model);
  const std::vector<probe::Token> prompt = tokens_of(request.prompt, *tokenizer);
  ThreadPool pool(threads_of(request.options));
  const Interruption interruption;
  std::optional<probe::Token> previous = prompt.back();
  std::string text;

  probe::GenerateCall call;
  call.prompt = prompt;
  call.max_tokens = request.max_tokens;
  call.sampling = request.sampling;
  require(request.seed >= 0, "--seed must be at least 0, got ", request.seed);
  call.sampling.seed = static_cast<std::uint64_t>(request.seed);
  call.stop = stops_of(*tokenizer, model);
  call.chunk = request.chunk;
  call.placement = request.options.placement;
  call.interrupted = [&] { return interruption.happened(); };
  call.on_token = [&](probe::Token token) {
    const std::string piece = printable_lines(tokenizer->piece(token, previous));
    previous = token;
    text += piece;
    if (request.json) return;
    std::cout << piece << std::flush;
    require(std::cout.good(), "cannot write to standard output");
  };
  call.executor = &pool;
  const probe::Generated result = probe::generate(model, encoding, call);
  if (request.json) {
    print_result(result, prompt, text);
  } else {
    std::cout << std::endl;  // after the text, whatever it ends with
  }
  for (const std::string& note : model.notes()) std::cerr << "locus: note: " << printable(note) << '\n';
  report(result, std::ssize(prompt), model);
  if (result.interrupted) interruption.end_program();
}

}  // namespace

void add_probe_generate(CLI::App& probe) {
  CLI::App* command = probe.add_subcommand("generate", "Continue a prompt");
  const auto request = std::make_shared<GenerateRequest>();
  add_model_options(*command, request->options);
  command->add_option("--prompt", request->prompt,
                      "Continue this text; absent: generate from the beginning-of-sequence token");
  add_integer(*command, "--max-tokens", request->max_tokens, "Generate at most this many tokens; absent: 256");
  command->add_option("--temperature", request->sampling.temperature,
                      "Sample at this temperature; 0 or absent: always take the most likely token");
  command->add_option("--top-p", request->sampling.top_p,
                      "Sample from the most likely tokens with this total probability; absent: 1");
  add_integer(*command, "--seed", request->seed, "Seed the sampling; absent: 0");
  add_integer(*command, "--chunk", request->chunk, "Read the prompt in chunks of this many tokens; absent: 512");
  add_rule_options(*command, request->options);
  add_placement_options(*command, request->options);
  command->add_flag("--json", request->json, "Print one JSON object: text, tokens and times");
  command->footer(
      "Examples:\n"
      "  locus probe generate model.gguf --prompt \"Once upon a time\" --max-tokens 100\n"
      "  locus probe generate model.gguf --prompt \"Once\" --rope-rule yarn --rope-factor 4 --temperature 0.8 --top-p "
      "0.9");
  command->callback([request] { run(*request); });
}

}  // namespace locus::tools
