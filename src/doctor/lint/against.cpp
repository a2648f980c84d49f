// SPDX-License-Identifier: Apache-2.0
// Compares two models.
#include <algorithm>
#include <cmath>

#include "doctor/lint/findings.h"
#include "doctor/lint/rotation.h"
#include "locus/turns.h"

namespace locus {
namespace {

class Comparison {
 public:
  Comparison(const LintModel& model, const LintModel& other, const LintLayer& layer, const LintLayer& against)
      : model_(model), other_(other), layer_(layer), against_(against) {}

  std::vector<Finding> run() {
    if (layer_.scheme != against_.scheme) {
      add("against-scheme", Severity::error, {"scheme"},
          concat("One has ", layer_.scheme, ", the other ", against_.scheme, "."),
          "Positions enter at a different site: the weights of one model do not work with the other encoding.");
    } else if (!layer_.encoding || !against_.encoding) {
      add("against-unreadable", Severity::error, {}, "At least one of the two has no valid encoding.",
          "Nothing can be compared.");
    } else if (doctor::is_rope(layer_)) {
      compare_rotations();
    } else {
      compare_settings();
    }
    return std::move(findings_);
  }

 private:
  Finding& add(std::string id, Severity severity, std::vector<std::string> keys, std::string what,
               std::string consequence) {
    findings_.push_back({.id = std::move(id),
                         .severity = severity,
                         .layer_type = layer_.layer_type,
                         .keys = std::move(keys),
                         .what = std::move(what),
                         .consequence = std::move(consequence)});
    return findings_.back();
  }

  void compare_rotations() {
    const Rotation &a = layer_.encoding->rotation(), &b = against_.encoding->rotation();
    if (a.rotary_dim != b.rotary_dim || a.head_dim != b.head_dim || a.rotary_offset != b.rotary_offset) {
      add("against-width", Severity::error, {"head_dim", "rotary_dim"},
          concat(a.rotary_dim, " of ", a.head_dim, " coordinates are rotated, from coordinate ", a.rotary_offset,
                 "; in the other ", b.rotary_dim, " of ", b.head_dim, " from ", b.rotary_offset, " on."),
          "Coordinates are rotated that were not rotated in training, or the other way round.");
    }
    if (a.pairing != b.pairing || a.deinterleaved_output != b.deinterleaved_output) compare_pairings(a, b);
    if (a.axis != b.axis && a.pairs() == b.pairs()) {
      add("against-axes", Severity::error, {"axes", "sections"}, "Pairs follow different axes.",
          "Positions agree for text, but not for images.");
    }
    compare_frequencies(a, b);
    compare_factor("against-attention-factor", "attention factor (on cos and sin)", a.magnitude, b.magnitude, true);
    compare_factor("against-softmax-scale", "softmax-scale factor", a.softmax_scale_factor, b.softmax_scale_factor,
                   false);
  }

  void compare_pairings(const Rotation& a, const Rotation& b) {
    const auto name = [](const Rotation& rotation) {
      return concat(name_of(rotation.pairing), rotation.deinterleaved_output ? ", with output [evens | odds]" : "");
    };
    // Converters permute the weights of Q and K, so that the other pairing is right for them.
    const bool converted = model_.format != other_.format;
    const bool same_pairs = a.pairing == b.pairing;
    add("against-pairing", converted || same_pairs ? Severity::note : Severity::error, {"pairing"},
        concat("Pairs are ", name(a), " here and ", name(b), " there."),
        converted    ? "Right if the converter permuted the rows of Wq and Wk, as llama.cpp's does; wrong for the "
                       "original weights."
        : same_pairs ? "Scores are the same if Q and K are treated alike."
                     : "With the same weights, one of the two gives meaningless output; shapes do not show it.");
  }

  void compare_frequencies(const Rotation& a, const Rotation& b) {
    // Lists in files are float32: a relative difference of 2^-24 has no meaning.
    const auto difference = doctor::compare_frequencies(a.inv_freq, b.inv_freq, 1e-6);
    if (difference.first < 0) return;
    const std::int64_t length = std::max<std::int64_t>(model_.served_length, 1);
    double worst = 0;
    std::int64_t worst_pair = 0;
    for (std::size_t i = 0; i < std::min(a.turns.size(), b.turns.size()); ++i) {
      const double angle = std::fabs(angle_of(a.turns[i] - b.turns[i], length - 1));
      if (angle <= worst) continue;
      worst = angle;
      worst_pair = static_cast<std::int64_t>(i);
    }
    const auto first = static_cast<std::size_t>(difference.first);
    const double float32 = float32_angle_error(a, length);
    const bool hidden = worst <= float32;
    Finding& finding = add(
        "against-frequency", hidden ? Severity::note : Severity::error, {"rope_theta", "rule"},
        concat("Frequencies differ from pair ", first, " on (", a.inv_freq[first], " and ", b.inv_freq[first],
               "); at position ", length - 1, " the angles differ by up to ", worst, " rad, in pair ", worst_pair, "."),
        hidden ? concat("Less than the error of float32 angles (", float32, " rad).") : consequence_of(worst));
    finding.numbers = {
        {"first_pair", static_cast<double>(difference.first)},   {"first_frequency", a.inv_freq[first]},
        {"first_frequency_of_other", b.inv_freq[first]},         {"largest_angle", worst},
        {"largest_angle_pair", static_cast<double>(worst_pair)}, {"length", static_cast<double>(length)}};
  }

  static std::string consequence_of(double angle) {
    if (angle > 1) return "Pairs point in unrelated directions: distant tokens look near, and long texts fail.";
    if (angle > 0.1) return "Attention to distant tokens is inaccurate; short texts may look right.";
    return "Small, but the same weights do not give the same outputs.";
  }

  void compare_factor(std::string id, const std::string& name, double a, double b, bool squared) {
    if (std::fabs(a - b) <= 1e-6 * std::max(a, b)) return;
    const double ratio = squared ? (b / a) * (b / a) : b / a;
    Finding& finding =
        add(std::move(id), Severity::error, {name}, concat("The ", name, " is ", a, " here and ", b, " there."),
            concat("All scores are multiplied by ", ratio, ": attention is ", ratio > 1 ? "sharper" : "flatter",
                   " than trained."));
    finding.numbers = {{"factor", a}, {"factor_of_other", b}, {"score_ratio", ratio}};
  }

  /// Compares the arguments of all other schemes.
  void compare_settings() {
    for (const auto& [name, value] : layer_.arguments.all()) {
      const Value* there = against_.arguments.find(name);
      if (there == nullptr || name == "form" || std::holds_alternative<Tensor>(value)) continue;
      const std::string a = to_text(value), b = to_text(*there);
      if (a == b) continue;
      add("against-settings", Severity::error, {name}, concat(name, " is ", a, " here and ", b, " there."),
          "The same weights give different biases or rows.");
    }
  }

  const LintModel &model_, &other_;
  const LintLayer &layer_, &against_;
  std::vector<Finding> findings_;
};

/// Returns the layer of the same type; if the other model names no layer types, its only layer.
const LintLayer* counterpart(const LintModel& model, const LintModel& other, std::size_t index) {
  const std::string& wanted = model.layers[index].layer_type;
  for (const LintLayer& layer : other.layers) {
    if (layer.layer_type == wanted) return &layer;
  }
  if (other.layers.size() == 1) return &other.layers[0];
  return model.layers.size() == 1 && !other.layers.empty() ? &other.layers[0] : nullptr;
}

}  // namespace

std::vector<Finding> compare(const LintModel& model, const LintModel& other) {
  std::vector<Finding> all;
  if (model.layers.size() != other.layers.size()) {
    all.push_back(
        {.id = "against-layers",
         .severity = Severity::warning,
         .keys = {"layer_types"},
         .what = concat("There are ", model.layers.size(), " layer types here and ", other.layers.size(), " there."),
         .consequence = "Some layers get the encoding of another layer type."});
  }
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const LintLayer* against = counterpart(model, other, i);
    if (against == nullptr) {
      all.push_back({.id = "against-layers",
                     .severity = Severity::error,
                     .layer_type = model.layers[i].layer_type,
                     .keys = {"layer_types"},
                     .what = concat("The other model has no layers of type ", model.layers[i].layer_type, "."),
                     .consequence = "These layers cannot be compared."});
      continue;
    }
    for (Finding& finding : Comparison(model, other, model.layers[i], *against).run()) {
      all.push_back(std::move(finding));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return all;
}

}  // namespace locus
