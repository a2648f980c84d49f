// SPDX-License-Identifier: Apache-2.0
// A whole measurement of losses: which curves, measured on one text, beside two baselines, and judged.
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
};

/// A curve to be measured: an encoding, and where it depends on the length one of its forms.
struct PlannedCurve {
  std::string name;
  Encoding encoding;
  LengthForm form = LengthForm::whole;
};

/// What a run does, checked before any of the work.
struct LossPlan {
  std::int64_t trained_length = 0;
  std::vector<std::int64_t> edges;
  std::int64_t stride = 0;
  std::vector<PlannedCurve> curves;

  /// Tokens that the last bucket can use.
  std::int64_t most_tokens() const { return edges.back() + 1; }
};

/// Error for bad options, and where the model does not say how long its training texts were.
LossPlan plan_losses(const Model& model, const LossOptions& options);

/// The model's own rule unless it is `none`, and the rules that stretch a model; `own` where the model does not rotate.
std::vector<std::string> default_rules(const Model& model);

struct LossRun {
  std::int64_t trained_length = 0;
  std::int64_t stride = 0;
  MeasuredText text = {};
  BreakRule break_rule = {};
  std::vector<LossCurve> curves = {};  ///< baselines first, each judged
  std::vector<std::string> notes = {};
  bool interrupted = false;  ///< the curves are what was measured until then
};

/// Measures the baselines and every planned curve. Error where the text has fewer than 2 tokens.
LossRun measure_losses(const Model& model, const LossPlan& plan, MeasuredText text, const RunControl& control = {});

/// As `locus probe loss --json` prints it; `model` is its name.
nlohmann::ordered_json to_json(const LossRun& run, const std::string& model);

}  // namespace locus::probe
