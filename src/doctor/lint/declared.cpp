// SPDX-License-Identifier: Apache-2.0
// Findings about what encodings declare beyond a rotation: chunks, query temperature, bases that a rule changes.
#include <cmath>

#include "doctor/lint/findings.h"

namespace locus::doctor {
namespace {

/// Returns the reading of a layer as dual chunks, its own or that of another engine.
const Arguments* dual_chunks(const LintLayer& layer) {
  const auto is = [](const std::string& scheme, const Arguments& arguments) {
    return scheme == "offset_map" && arguments.has("map") && arguments.text("map") == "dual_chunk";
  };
  if (is(layer.scheme, layer.arguments)) return &layer.arguments;
  for (const io::AlternativeReading& other : layer.alternatives) {
    if (is(other.scheme, other.arguments)) return &other.arguments;
  }
  return nullptr;
}

}  // namespace

Findings dual_chunk_sizes(const LintModel& model) {
  constexpr std::int64_t page = 16;  // the smallest page of vLLM and sglang
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    const Arguments* chunks = dual_chunks(layer);
    if (chunks == nullptr) continue;
    const std::int64_t size = chunks->integer("chunk_size"), kept = size - chunks->integer("local_size");
    const auto trained = chunks->maybe_integer("unscaled_length");
    if (kept % page != 0) {
      Finding finding = about(layer);
      finding.keys = {"dual_chunk_attention_config"};
      finding.what = concat("chunk_size - local_size is ", kept, ", which pages of ", page, " tokens do not divide.");
      finding.consequence = "vLLM and sglang refuse the first request: a chunk must begin with a page.";
      finding.numbers = {{"chunk_tokens", static_cast<double>(kept)}};
      findings.push_back(std::move(finding));
    }
    if (trained && size > *trained) {
      Finding finding = about(layer);
      finding.severity = Severity::warning;
      finding.keys = {"dual_chunk_attention_config"};
      finding.what = concat("Offsets reach ", size, " (chunk_size), the trained length is ", *trained,
                            " (original_max_position_embeddings).");
      finding.consequence =
          "Pairs turn to angles that the model has not seen; chunks should not exceed what was trained.";
      finding.numbers = {{"chunk_size", static_cast<double>(size)}, {"trained", static_cast<double>(*trained)}};
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

Findings idle_temperatures(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    const auto* rotation = layer.encoding ? std::get_if<Rotation>(&layer.encoding->term()) : nullptr;
    if (rotation == nullptr || !rotation->query_scale || model.served_length < 1) continue;
    const Position first = rotation->query_scale->first_scaled();
    if (first < model.served_length) continue;
    Finding finding = about(layer);
    finding.keys = {"temperature_length " + std::to_string(rotation->query_scale->length)};
    finding.what = concat("The query temperature is 1 up to position ", first - 1, ", and ", model.served_length,
                          " tokens are served.");
    finding.consequence = "It never acts; if it should, its length or the served length is wrong.";
    finding.numbers = {{"first_position", static_cast<double>(first)}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings bases_stretched_twice(const LintModel& model) {
  constexpr double usual = 10000;
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    const std::string rule = rule_of(layer);
    if (!is_rope(layer) || !rule.starts_with("ntk") || rule == "ntk_by_parts") continue;
    const double factor = layer.arguments.maybe_real("factor").value_or(1);
    const double base = layer.arguments.maybe_real("base").value_or(usual);
    const double width = static_cast<double>(layer.arguments.maybe_integer("rotary_dim").value_or(0));
    if (factor <= 1 || width <= 2) continue;
    const double stretched = usual * std::pow(factor, width / (width - 2));
    if (std::fabs(base - stretched) > 0.01 * stretched && std::fabs(base - usual * factor) > 1e-6 * base) continue;
    Finding finding = about(layer);
    finding.keys = {"rope_theta", "factor"};
    finding.what = concat("The base ", base, " is ", usual, " stretched by the factor ", factor, ", and the rule ",
                          rule, " stretches it again.");
    finding.consequence = concat("Slow pairs turn ", factor,
                                 " times slower than meant: keep the stretched base or the "
                                 "rule, not both.");
    finding.numbers = {{"base", base}, {"factor", factor}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace locus::doctor
