// SPDX-License-Identifier: Apache-2.0
// `locus probe loss`: measures next-token loss by position with several encodings and two baselines.
#include <iomanip>
#include <iostream>
#include <memory>

#include "figure_output.h"
#include "locus/settings.h"
#include "locus/text.h"
#include "position_list.h"
#include "printable.h"
#include "probe/measure/loss_run.h"
#include "probe_texts.h"

namespace locus::tools {
namespace {

struct LossRequest {
  ProbeOptions options;
  TextOptions text;
  std::vector<std::string> rules;
  std::string buckets;
  std::optional<std::int64_t> stride;
  std::string output;
  bool json = false;
};

void print_table(const std::vector<probe::LossCurve>& curves) {
  std::size_t widest = 0;
  const probe::LossCurve* longest = &curves.front();
  for (const probe::LossCurve& curve : curves) {
    widest = std::max(widest, curve.name.size());
    if (curve.buckets.size() > longest->buckets.size()) longest = &curve;
  }
  const auto print_name = [&](const std::string& name) {
    std::cout << std::left << std::setw(static_cast<int>(widest)) << name << std::right;
  };
  print_name("positions");
  for (const probe::LossBucket& bucket : longest->buckets) {
    std::cout << std::setw(16) << concat(bucket.begin, "-", bucket.end - 1);
  }
  std::cout << '\n';
  for (const probe::LossCurve& curve : curves) {
    print_name(curve.name);
    for (const probe::LossBucket& bucket : curve.buckets) {
      std::cout << std::setw(16) << fixed(bucket.mean, 3) + " +- " + fixed(bucket.standard_error, 3);
    }
    std::cout << '\n';
  }
}

void print_as_text(const probe::LossRun& run, const std::string& model) {
  std::cout << model << ": next-token loss in nats, mean and standard error; trained length " << run.trained_length
            << "; " << run.text.tokens.size() << " tokens, " << run.text.source
            << (run.text.bos_added ? ", beginning-of-sequence added" : "") << '\n';
  if (!run.text.caveat.empty()) std::cout << "note: " << run.text.caveat << '\n';
  if (run.curves.empty()) return;
  print_table(run.curves);
  for (const std::string& note : run.notes) std::cout << "note: " << printable(note) << '\n';
  if (run.interrupted) std::cout << "note: interrupted; these are the curves measured so far\n";
  std::cout << "Where they break (" << describe(run.break_rule) << "):\n";
  for (const probe::LossCurve& curve : run.curves) {
    if (curve.baseline) continue;
    std::cout << "  " << curve.name << " " << describe(curve.breaking, std::ssize(curve.losses), run.trained_length)
              << '\n';
  }
}

void run(const LossRequest& request) {
  check_figure_output(request.output);
  const probe::Model model = load_model(request.options);
  probe::LossOptions options{.stride = request.stride, .placement = request.options.placement};
  for (const std::string& text : request.rules) {
    for (std::string& one : split_spellings(text)) options.rules.push_back(std::move(one));
  }
  if (!request.buckets.empty()) options.edges = parse_integers("--buckets", request.buckets);
  const probe::LossPlan plan = plan_losses(model, options);

  ThreadPool pool(threads_of(request.options));
  const Interruption interruption;
  TokenProgress progress(pool, interruption);
  progress.begin("sampling a text", plan.most_tokens());
  probe::MeasuredText text =
      read_probe_text(request.text, request.options, model, plan.most_tokens(), progress.control());
  if (interruption.happened()) interruption.end_program();
  const probe::LossRun result = measure_losses(model, plan, std::move(text), progress.control());
  progress.clear();
  request.json ? print_json(to_json(result, request.options.model)) : print_as_text(result, request.options.model);
  if (!result.curves.empty()) {
    put_figure(probe::loss_figure(request.options.model, result.curves, result.trained_length), request.output,
               request.json);
  }
  std::cout.flush();
  if (result.interrupted) interruption.end_program();
}

}  // namespace

void add_probe_loss(CLI::App& probe) {
  CLI::App* command = probe.add_subcommand("loss", "Measure next-token loss by position with rules that stretch RoPE");
  const auto request = std::make_shared<LossRequest>();
  add_model_options(*command, request->options);
  add_text_options(*command, request->text);
  command
      ->add_option(
          "--rules", request->rules,
          "Measure these encodings: own, none, linear:2, rope:rule=yarn,factor=2,truncate=false, @config.json; "
          "repeatable, or separated by ; (names without settings also by commas)")
      ->type_name("ENCODING")
      ->take_all()
      ->expected(1, 1000)
      ->allow_extra_args(false);
  command->add_option(
      "--buckets", request->buckets,
      "Average over positions between these edges, such as 0,256,512,1024,2048,4096; absent: 0, 1/2, 1, 2, 4 "
      "and 8 times the trained length");
  add_integer(*command, "--window-stride", request->stride,
              "Move the baseline's window by this many tokens; absent: a quarter of the trained length. 1 is exact and "
              "slow");
  add_placement_options(*command, request->options);
  add_figure_output(*command, request->output);
  command->add_flag("--json", request->json, "Print one JSON object");
  command->footer(
      "Reads one sequence from position 0 with each encoding. Baselines: a sliding window of the trained length, and\n"
      "a restart at each beginning-of-sequence token. Rules that depend on the length come in three forms: whole (one\n"
      "table), rerotated (exact as the length grows), mixed (each key keeps the table of when it was cached).\n"
      "Examples:\n"
      "  locus probe loss model.gguf --text book.txt\n"
      "  locus probe loss model.gguf --rules 'own;rope:rule=yarn,factor=2,truncate=false'\n"
      "  locus probe loss model.gguf --rules none,ntk:4,dynamic_ntk:2 --buckets 0,256,512,1024 -o loss.html");
  command->callback([request] { run(*request); });
}

}  // namespace locus::tools
