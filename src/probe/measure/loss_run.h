// SPDX-License-Identifier: Apache-2.0
// A complete loss measurement: plans the curves, measures them and two baselines on one text, and finds where they
// break.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "probe/measure/loss.h"
#include "probe/measure/loss_report.h"
#include "probe/measure/text.h"

namespace locus::probe {

struct LossOptions {
  std::vector<std::string> rules = {};      ///< spellings (encoding_for); empty: default_rules
  std::vector<std::int64_t> edges = {};     ///< of the buckets; empty: default_edges
  std::optional<std::int64_t> stride = {};  ///< of the sliding window; absent: a quarter of the trained length
  Placement placement = {};                 ///< of the tokens of every curve but the baselines
};

/// A curve to measure: an encoding and, if it depends on the length, one of its forms.
struct PlannedCurve {
  std::string name;
  Encoding encoding;
  LengthForm form = LengthForm::whole;
};

/// The plan of a run, checked before the work starts.
struct LossPlan {
  std::int64_t trained_length = 0;
  std::vector<std::int64_t> edges;
  std::int64_t stride = 0;
  std::vector<PlannedCurve> curves;
  Placement placement = {};

  /// Returns how many tokens the buckets cover.
  std::int64_t most_tokens() const { return edges.back() + 1; }
};

/// Plans a run.
/// Error: invalid options, a model that does not state its trained length.
LossPlan plan_losses(const Model& model, const LossOptions& options);

/// Returns the model's rule unless it is `none`, and the rules that stretch a model; `own` if the model does not
/// rotate.
std::vector<std::string> default_rules(const Model& model);

struct LossRun {
  std::int64_t trained_length = 0;
  std::int64_t stride = 0;
  MeasuredText text = {};
  BreakRule break_rule = {};
  std::vector<LossCurve> curves = {};  ///< baselines first, each with its break
  std::vector<std::string> notes = {};
  bool interrupted = false;  ///< the curves are those measured before
};

/// Measures the baselines and every planned curve.
/// Error: a text of fewer than 2 tokens.
LossRun measure_losses(const Model& model, const LossPlan& plan, MeasuredText text, const RunControl& control = {});

/// Returns what `locus probe loss --json` prints; `model` is its name.
nlohmann::ordered_json to_json(const LossRun& run, const std::string& model);

}  // namespace locus::probe
