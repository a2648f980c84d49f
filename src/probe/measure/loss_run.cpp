// SPDX-License-Identifier: Apache-2.0
#include "probe/measure/loss_run.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "locus/error.h"
#include "locus/scaling.h"
#include "locus/stretch.h"

namespace locus::probe {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::vector<PlannedCurve> plan_curves(const Model& model, const std::vector<std::string>& rules) {
  std::vector<PlannedCurve> curves;
  for (const std::string& rule : rules) {
    const Encoding encoding = encoding_for(model, rule);
    if (!encoding.length_dependent()) {
      curves.push_back({rule, encoding});
      continue;
    }
    using enum LengthForm;
    for (const LengthForm form : {whole, rerotated, mixed}) {
      curves.push_back({rule + " " + std::string(name_of(form)), encoding, form});
    }
  }
  return curves;
}

/// Returns the tokens for which the encoding has positions, including the predicted one.
std::span<const Token> within_positions(const std::vector<Token>& tokens, const PlannedCurve& curve,
                                        const Placement& placement, std::vector<std::string>& notes) {
  const Position last = curve.encoding.position_range().last - placement.first - placement.query_ahead;
  if (std::ssize(tokens) - 2 <= last) return tokens;
  notes.push_back(curve.name + " has no positions beyond " + std::to_string(last));
  return std::span(tokens).first(static_cast<std::size_t>(last) + 2);
}

void measure_baselines(const Model& model, LossRun& run, const RunControl& control) {
  const std::vector<Token>& tokens = run.text.tokens;
  control.on_stage("the sliding window", windowed_tokens(std::ssize(tokens), run.trained_length, run.stride));
  run.curves.push_back({.name = "sliding window", .baseline = true});
  run.curves.back().losses = windowed_losses(model, tokens, run.trained_length, run.stride, control);
  const bool restarts =
      run.text.bos && std::find(tokens.begin() + 1, tokens.end() - 1, *run.text.bos) != tokens.end() - 1;
  if (!restarts) {
    run.notes.emplace_back("the text has only one beginning, so there is no restart baseline");
    return;
  }
  control.on_stage("the restart baseline", std::ssize(tokens));
  run.curves.push_back({.name = "restart", .baseline = true});
  run.curves.back().losses = restarted_losses(model, tokens, *run.text.bos, control);
}

void measure_curves(const Model& model, const LossPlan& plan, LossRun& run, const RunControl& control) {
  for (const PlannedCurve& curve : plan.curves) {
    if (control.interrupted()) break;
    const std::span<const Token> tokens = within_positions(run.text.tokens, curve, plan.placement, run.notes);
    control.on_stage(curve.name, std::ssize(tokens));
    run.curves.push_back({.name = curve.name});
    run.curves.back().losses = sequence_losses(model, curve.encoding, curve.form, tokens, control, plan.placement);
  }
}

void judge(LossRun& run, const std::vector<std::int64_t>& edges) {
  std::erase_if(run.curves, [](const LossCurve& curve) { return curve.losses.empty(); });
  if (run.curves.empty()) return;
  const std::vector<double> baseline = run.curves.front().losses;
  for (LossCurve& curve : run.curves) {
    curve.buckets = bucketed(curve.losses, edges);
    if (!curve.baseline) curve.breaking = find_break(curve.losses, baseline, run.break_rule);
  }
}

/// JSON has no infinity.
OrderedJson number(double value) { return std::isfinite(value) ? OrderedJson(value) : OrderedJson(nullptr); }

OrderedJson curve_json(const LossRun& run, const LossCurve& curve) {
  OrderedJson buckets = OrderedJson::array();
  for (const LossBucket& bucket : curve.buckets) {
    buckets.push_back({{"begin", bucket.begin},
                       {"end", bucket.end},
                       {"count", bucket.count},
                       {"mean", number(bucket.mean)},
                       {"standard_error", number(bucket.standard_error)}});
  }
  OrderedJson json{{"name", curve.name}, {"baseline", curve.baseline}, {"buckets", buckets}};
  if (curve.baseline) return json;
  json["breaks_at"] = curve.breaking.position ? OrderedJson(*curve.breaking.position) : OrderedJson(nullptr);
  json["excess"] = number(curve.breaking.excess);
  json["words"] = describe(curve.breaking, std::ssize(curve.losses), run.trained_length);
  return json;
}

}  // namespace

std::vector<std::string> default_rules(const Model& model) {
  const Encoding& own = model.encoding();
  if (!takes_rules(own)) return {"own"};
  std::vector<std::string> rules = {"none"};
  if (own.arguments().text("rule") != "none") rules.insert(rules.begin(), "own");
  for (const Rule* rule : compared_rules()) {
    const std::string name(rule->name);
    rules.push_back(needs_factor_only(*rule) ? name + ":2" : name);
    if (name == "ntk") rules.emplace_back("ntk:4");  // with 2 it barely reaches twice the length
  }
  return rules;
}

LossPlan plan_losses(const Model& model, const LossOptions& options) {
  LossPlan plan;
  plan.trained_length = model.config().trained_length;
  require(plan.trained_length >= 1, "the model does not state its trained length");
  plan.edges = options.edges.empty() ? default_edges(plan.trained_length) : options.edges;
  (void)bucketed({}, plan.edges);  // checks the edges
  plan.stride = options.stride.value_or(std::max<std::int64_t>(plan.trained_length / 4, 1));
  require(plan.stride >= 1 && plan.stride <= plan.trained_length,
          "the stride of the sliding window must be from 1 to the trained length (", plan.trained_length, "), got ",
          plan.stride);
  plan.placement = options.placement;
  plan.curves = plan_curves(model, options.rules.empty() ? default_rules(model) : options.rules);
  return plan;
}

LossRun measure_losses(const Model& model, const LossPlan& plan, MeasuredText text, const RunControl& control) {
  require(text.tokens.size() >= 2, "a loss needs at least 2 tokens, got ", text.tokens.size());
  LossRun run{.trained_length = plan.trained_length,
              .stride = plan.stride,
              .text = std::move(text),
              .break_rule = default_break_rule(plan.trained_length),
              .notes = model.notes()};
  measure_baselines(model, run, control);
  measure_curves(model, plan, run, control);
  run.interrupted = control.interrupted();
  judge(run, plan.edges);
  return run;
}

OrderedJson to_json(const LossRun& run, const std::string& model) {
  OrderedJson curves = OrderedJson::array();
  for (const LossCurve& curve : run.curves) curves.push_back(curve_json(run, curve));
  return {{"model", model},
          {"trained_length", run.trained_length},
          {"tokens", run.text.tokens.size()},
          {"text", run.text.source},
          {"bos_added", run.text.bos_added},
          {"caveat", run.text.caveat},
          {"window_stride", run.stride},
          {"break_rule", describe(run.break_rule)},
          {"curves", curves},
          {"notes", run.notes},
          {"interrupted", run.interrupted}};
}

}  // namespace locus::probe
