// SPDX-License-Identifier: Apache-2.0
// `locus probe loss`: next-token loss by position under several rules, beside two baselines.
#include "probe/measure/loss.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>

#include "figure_output.h"
#include "locus/error.h"
#include "locus/scaling.h"
#include "locus/text.h"
#include "position_list.h"
#include "probe/measure/loss_report.h"
#include "probe_texts.h"

namespace locus::tools {
namespace {

struct LossRequest {
  ProbeOptions options;
  TextOptions text;
  std::string rules;
  std::string buckets;
  std::optional<std::int64_t> stride;
  std::string output;
  bool json = false;
};

/// A curve to be measured: a rule, and where it depends on the length one of its forms.
struct PlannedCurve {
  std::string name;
  Encoding encoding;
  probe::LengthForm form = probe::LengthForm::whole;
};

/// `yarn:2`: a rule with its factor; `own`: the model as it is.
Encoding encoding_of(const probe::Model& model, std::string_view rule) {
  if (rule == "own") return model.encoding();
  const std::size_t colon = rule.find(':');
  const std::string_view name = rule.substr(0, colon);
  if (name == "none" && model.encoding().scheme().name != "rope") return model.encoding();
  Arguments given;
  if (colon != std::string_view::npos) {
    const Rule& known = find_rule(name);
    const Parameter& factor = find_parameter(known.name, known.parameters, "factor");
    given.set("factor", parse_value(known.name, factor, rule.substr(colon + 1)));
  }
  return probe::under_rule(model, name, given);
}

std::string usual_rules(const probe::Model& model) {
  if (model.encoding().scheme().name != "rope") return "own";
  const Value* rule = model.encoding().arguments().find("rule");
  const bool plain = rule == nullptr || to_text(*rule) == "none";
  return std::string(plain ? "" : "own,") + "none,linear:2,ntk:2,ntk:4,dynamic_ntk:2,yarn:2";
}

std::vector<PlannedCurve> plan(const probe::Model& model, const std::string& rules) {
  std::vector<PlannedCurve> curves;
  for (const std::string_view rule : split(rules, ',')) {
    const Encoding encoding = encoding_of(model, rule);
    if (!encoding.length_dependent()) {
      curves.push_back({std::string(rule), encoding});
      continue;
    }
    using enum probe::LengthForm;
    for (const probe::LengthForm form : {whole, rerotated, mixed}) {
      curves.push_back({std::string(rule) + " " + std::string(name_of(form)), encoding, form});
    }
  }
  return curves;
}

struct Measurement {
  std::string model;
  std::int64_t trained = 0;
  ProbeText text = {};
  probe::BreakRule break_rule = {};
  std::int64_t stride = 0;
  std::vector<probe::LossCurve> curves = {};
  std::vector<std::string> notes = {};
  bool interrupted = false;
};

/// The tokens that the encoding has positions for, the predicted one included.
std::span<const probe::Token> within_positions(const std::vector<probe::Token>& tokens, const PlannedCurve& curve,
                                               std::vector<std::string>& notes) {
  const Position last = curve.encoding.position_range().last;
  if (std::ssize(tokens) - 2 <= last) return tokens;
  notes.push_back(curve.name + " has no positions beyond " + std::to_string(last));
  return std::span(tokens).first(static_cast<std::size_t>(last) + 2);
}

void measure_baselines(const probe::Model& model, Measurement& result, TokenProgress& progress) {
  const auto& tokens = result.text.tokens;
  progress.begin("the sliding window", probe::windowed_tokens(std::ssize(tokens), result.trained, result.stride));
  result.curves.push_back({.name = "sliding window", .baseline = true});
  result.curves.back().losses =
      probe::windowed_losses(model, tokens, result.trained, result.stride, progress.control());
  const bool restarts =
      result.text.bos && std::find(tokens.begin() + 1, tokens.end() - 1, *result.text.bos) != tokens.end() - 1;
  if (!restarts) {
    result.notes.emplace_back("the text begins only once, so there is no baseline that starts anew");
    return;
  }
  progress.begin("restarting at each beginning", std::ssize(tokens));
  result.curves.push_back({.name = "restart", .baseline = true});
  result.curves.back().losses = probe::restarted_losses(model, tokens, *result.text.bos, progress.control());
}

void measure_rules(const probe::Model& model, const std::vector<PlannedCurve>& planned, Measurement& result,
                   TokenProgress& progress) {
  progress.begin("the rules", std::ssize(planned) * std::ssize(result.text.tokens));
  for (const PlannedCurve& curve : planned) {
    if (progress.control().interrupted()) break;
    progress.rename(curve.name);
    result.curves.push_back({.name = curve.name});
    result.curves.back().losses =
        probe::sequence_losses(model, curve.encoding, curve.form,
                               within_positions(result.text.tokens, curve, result.notes), progress.control());
  }
}

void judge(Measurement& result, const std::vector<std::int64_t>& edges) {
  std::erase_if(result.curves, [](const probe::LossCurve& curve) { return curve.losses.empty(); });
  if (result.curves.empty()) return;
  const std::vector<double> baseline = result.curves.front().losses;
  for (probe::LossCurve& curve : result.curves) {
    curve.buckets = probe::bucketed(curve.losses, edges);
    if (!curve.baseline) curve.breaking = probe::find_break(curve.losses, baseline, result.break_rule);
  }
}

std::string words_of(const Measurement& result, const probe::LossCurve& curve) {
  return probe::words_of(curve.breaking, std::ssize(curve.losses), result.trained);
}

void print_as_text(const Measurement& result) {
  std::cout << result.model << ": next-token loss in nats, mean and standard error; trained length " << result.trained
            << "; " << result.text.tokens.size() << " tokens, " << result.text.source
            << (result.text.bos_added ? ", beginning-of-sequence added" : "") << '\n';
  if (!result.text.caveat.empty()) std::cout << "note: " << result.text.caveat << '\n';
  std::size_t widest = 0, most = 0;
  for (const probe::LossCurve& curve : result.curves) {
    widest = std::max(widest, curve.name.size());
    if (curve.buckets.size() > result.curves[most].buckets.size())
      most = static_cast<std::size_t>(&curve - result.curves.data());
  }
  if (result.curves.empty()) return;
  std::cout << std::left << std::setw(static_cast<int>(widest)) << "positions" << std::right;
  for (const probe::LossBucket& bucket : result.curves[most].buckets) {
    std::cout << std::setw(16) << std::to_string(bucket.begin) + "-" + std::to_string(bucket.end - 1);
  }
  std::cout << '\n';
  for (const probe::LossCurve& curve : result.curves) {
    std::cout << std::left << std::setw(static_cast<int>(widest)) << curve.name << std::right;
    for (const probe::LossBucket& bucket : curve.buckets) {
      std::cout << std::setw(16) << fixed(bucket.mean, 3) + " +- " + fixed(bucket.standard_error, 3);
    }
    std::cout << '\n';
  }
  for (const std::string& note : result.notes) std::cout << "note: " << note << '\n';
  if (result.interrupted) std::cout << "note: interrupted; this is what was measured until then\n";
  std::cout << "Where they break (" << probe::words_of(result.break_rule) << "):\n";
  for (const probe::LossCurve& curve : result.curves) {
    if (!curve.baseline) std::cout << "  " << curve.name << " " << words_of(result, curve) << '\n';
  }
}

/// JSON has no infinity.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json as_json(const Measurement& result) {
  Json curves = Json::array();
  for (const probe::LossCurve& curve : result.curves) {
    Json buckets = Json::array();
    for (const probe::LossBucket& bucket : curve.buckets) {
      buckets.push_back({{"begin", bucket.begin},
                         {"end", bucket.end},
                         {"count", bucket.count},
                         {"mean", number(bucket.mean)},
                         {"standard_error", number(bucket.standard_error)}});
    }
    Json one{{"name", curve.name}, {"baseline", curve.baseline}, {"buckets", buckets}};
    if (!curve.baseline) {
      one["breaks_at"] = curve.breaking.position ? Json(*curve.breaking.position) : Json(nullptr);
      one["excess"] = number(curve.breaking.excess);
      one["words"] = words_of(result, curve);
    }
    curves.push_back(std::move(one));
  }
  return {{"model", result.model},
          {"trained_length", result.trained},
          {"tokens", result.text.tokens.size()},
          {"text", result.text.source},
          {"bos_added", result.text.bos_added},
          {"caveat", result.text.caveat},
          {"window_stride", result.stride},
          {"break_rule", probe::words_of(result.break_rule)},
          {"curves", curves},
          {"notes", result.notes},
          {"interrupted", result.interrupted}};
}

void run(const LossRequest& request) {
  check_figure_output(request.output);
  const probe::Model model = probe::load(request.options.model);
  Measurement result{.model = request.options.model, .trained = model.config().trained_length};
  require(result.trained >= 1, request.options.model, ": does not say how long its training texts were");
  const std::vector<std::int64_t> edges =
      request.buckets.empty() ? probe::usual_edges(result.trained) : parse_integers("--buckets", request.buckets);
  (void)probe::bucketed({}, edges);  // refused before the work, not after
  const std::vector<PlannedCurve> planned = plan(model, request.rules.empty() ? usual_rules(model) : request.rules);
  result.stride = request.stride.value_or(std::max<std::int64_t>(result.trained / 4, 1));
  require(result.stride >= 1 && result.stride <= result.trained,
          "--window-stride must be from 1 to the trained length (", result.trained, "), got ", result.stride);
  result.break_rule = probe::usual_break_rule(result.trained);
  result.notes = model.notes();

  ThreadPool pool(threads_of(request.options));
  const Interruption interruption;
  TokenProgress progress(pool, interruption);
  progress.begin("sampling a text", edges.back() + 1);
  result.text = read_probe_text(request.text, request.options, model, edges.back() + 1, progress.control());
  if (interruption.happened()) interruption.end_program();
  require(result.text.tokens.size() >= 2, "a loss needs at least 2 tokens, got ", result.text.tokens.size());
  measure_baselines(model, result, progress);
  measure_rules(model, planned, result, progress);
  progress.clear();
  result.interrupted = interruption.happened();
  judge(result, edges);
  request.json ? print_json(as_json(result)) : print_as_text(result);
  if (!result.curves.empty()) {
    put_figure(probe::loss_figure(result.model, result.curves, result.trained), request.output, request.json);
  }
  std::cout.flush();
  if (result.interrupted) interruption.end_program();
}

}  // namespace

void add_probe_loss(CLI::App& probe) {
  CLI::App* command = probe.add_subcommand("loss", "Next-token loss by position, under rules that stretch the model");
  const auto request = std::make_shared<LossRequest>();
  add_model_options(*command, request->options);
  add_text_options(*command, request->text);
  command->add_option("--rules", request->rules,
                      "own, or rules of `locus list` with their factor: none,linear:2,ntk:2,dynamic_ntk:2,yarn:2");
  command->add_option(
      "--buckets", request->buckets,
      "Edges of the positions that are averaged, e.g. 0,256,512,1024,2048,4096; absent: 0, 1/2, 1, 2, 4 "
      "and 8 times the trained length");
  add_integer(*command, "--window-stride", request->stride,
              "How far the baseline's window moves on; absent: a quarter of the trained length. 1 is exact and slow");
  add_figure_output(*command, request->output);
  command->add_flag("--json", request->json, "One JSON object");
  command->footer(
      "One sequence is read from position 0 under each rule. Baselines: a sliding window of the trained length, and\n"
      "starting anew at each beginning-of-sequence. Rules that depend on the length come in three forms: whole (one\n"
      "table), rerotated (exact as the length grows), mixed (each key keeps the table of its time).\n"
      "Examples:\n"
      "  locus probe loss model.gguf --text book.txt\n"
      "  locus probe loss stories260K.bin --rules none,ntk:4,dynamic_ntk:2 --buckets 0,256,512,1024 -o loss.html");
  command->callback([request] { run(*request); });
}

}  // namespace locus::tools
