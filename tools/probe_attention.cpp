// SPDX-License-Identifier: Apache-2.0
// `locus probe attention`: measures mean attention by distance per layer and head, within and beyond the trained
// length.
#include <iomanip>
#include <iostream>
#include <memory>

#include "figure_output.h"
#include "locus/error.h"
#include "position_list.h"
#include "probe/measure/attention_map.h"
#include "probe_texts.h"

namespace locus::tools {
namespace {

struct AttentionRequest {
  ProbeOptions options;
  TextOptions text;
  std::optional<std::int64_t> length;
  std::int64_t queries = 64;
  std::string output;
  bool json = false;
};

Json as_json(const AttentionRequest& request, const probe::AttentionMap& map, const probe::MeasuredText& text,
             std::int64_t trained) {
  Json bins = Json::array(), ranges = Json::array();
  for (const probe::DistanceBin& bin : map.bins) bins.push_back({bin.begin, bin.end});
  for (const probe::AttentionRange& range : map.ranges) {
    Json rows = Json::array();
    for (std::int64_t row = 0; row < map.layers * map.heads; ++row) {
      Json means = Json::array();
      for (std::size_t bin = 0; bin < map.bins.size(); ++bin) means.push_back(range.mean(row, bin));
      rows.push_back({{"layer", row / map.heads}, {"head", row % map.heads}, {"mean", means}});
    }
    ranges.push_back({{"name", range.name},
                      {"begin", range.begin},
                      {"end", range.end},
                      {"queries", range.queries},
                      {"pairs", range.pairs},
                      {"heads", rows}});
  }
  return {{"model", request.options.model},
          {"trained_length", trained},
          {"tokens", text.tokens.size()},
          {"text", text.source},
          {"caveat", text.caveat},
          {"distances", bins},
          {"ranges", ranges},
          {"interrupted", !map.complete}};
}

void run(const AttentionRequest& request) {
  check_figure_output(request.output);
  require(request.queries >= 1, "--queries must be at least 1, got ", request.queries);
  const probe::Model model = load_model(request.options);
  const Encoding encoding = choose_rule(request.options, model);
  const std::int64_t trained = model.config().trained_length;
  const std::int64_t length = std::min(request.length.value_or(2 * trained), encoding.position_range().last + 1);
  require(length >= 1, "--length must be at least 1, got ", length);
  ThreadPool pool(threads_of(request.options));
  const Interruption interruption;
  TokenProgress progress(pool, interruption);
  progress.begin("sampling a text", length);
  const probe::MeasuredText text = read_probe_text(request.text, request.options, model, length, progress.control());
  progress.begin("attention", std::ssize(text.tokens));
  const auto map = probe::measure_attention(model, encoding, text.tokens, request.queries, progress.control());
  progress.clear();
  const figures::Figure figure = probe::attention_figure(request.options.model, map);
  if (request.json) print_json(as_json(request, map, text, trained));
  if (!request.json && !text.caveat.empty()) std::cerr << "locus: note: " << text.caveat << '\n';
  put_figure(figure, request.output, request.json);
  std::cout.flush();
  if (interruption.happened()) interruption.end_program();
}

}  // namespace

void add_probe_attention(CLI::App& probe) {
  CLI::App* command = probe.add_subcommand("attention", "Draw mean attention by distance, per layer and head");
  const auto request = std::make_shared<AttentionRequest>();
  add_model_options(*command, request->options);
  add_text_options(*command, request->text);
  add_integer(*command, "--length", request->length, "Read at most this many tokens; absent: twice the trained length");
  add_integer(*command, "--queries", request->queries, "Measure this many queries in each range; absent: 64");
  add_rule_options(*command, request->options);
  add_figure_output(*command, request->output);
  command->add_flag("--json", request->json, "Print one JSON object");
  command->footer("Example: locus probe attention model.gguf --text book.txt -o attention.html");
  command->callback([request] { run(*request); });
}

}  // namespace locus::tools
