// SPDX-License-Identifier: Apache-2.0
// Findings about lengths, factors and lists that must agree with each other.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "doctor/lint/findings.h"

namespace locus::doctor {
namespace {

/// m(f, k) of YaRN.
double magnitude(double factor, double k) { return factor <= 1 ? 1 : 0.1 * k * std::log(factor) + 1; }

std::string length_key(const LintModel& model) {
  return model.format == "GGUF" ? "context_length" : model.hf->path + "max_position_embeddings";
}
std::string original_key(const LintModel& model) {
  return model.format == "GGUF" ? "rope.scaling.original_context_length" : "original_max_position_embeddings";
}

bool defaulted(const LintLayer& layer, const std::string& key) {
  for (const std::string& text : layer.defaulted) {
    if (text.starts_with(key + " = ")) return true;
  }
  return false;
}

/// A sliding window never reaches beyond its own size, however long the sequence is.
bool reaches_far(const LintLayer& layer) { return layer.layer_type != "sliding_attention"; }

}  // namespace

Findings two_meanings_of_max_position(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    const Rule& rule = find_rule(rule_of(layer));
    const bool by_factor = stretches(rule) && !rule.length_dependent && rule.trained_length == "original_length";
    const auto longest = layer.arguments.maybe_integer("max_length");
    const auto original = layer.arguments.maybe_integer("original_length");
    const auto factor = layer.arguments.maybe_real("factor");
    if (!is_rope(layer) || !by_factor || !longest || !original || factor.value_or(1) <= 1) continue;
    Finding finding = about(layer);
    finding.keys = {length_key(model), original_key(model)};
    finding.numbers = {{"max_position_embeddings", static_cast<double>(*longest)},
                       {"original_length", static_cast<double>(*original)},
                       {"factor", *factor}};
    const double extended = static_cast<double>(*original) * *factor;
    if (*longest == *original && defaulted(layer, original_key(model))) {
      finding.what = concat("The original length is missing, so ", *longest, " is used for it, although the factor ",
                            *factor, " extends it.");
      finding.consequence = concat("If ", *longest, " is already the extended length, the rule changes the wrong ",
                                   "frequencies: they would be those of a model trained to ", *longest,
                                   " and served at ", extended, ". Add the original length to the file.");
    } else if (*longest < *original) {
      finding.what = concat("The limit ", *longest, " is below the original length ", *original, ".");
      finding.consequence =
          "One of the two does not mean what its name says; engines that divide them get a factor below 1.";
    } else if (*longest == *original) {
      finding.severity = Severity::note;
      finding.what = concat("The limit ", *longest, " is the trained length here, not the extended one (", extended,
                            "), which other files have there.");
      finding.consequence = concat("An engine that reads it as the extended length serves only ", *longest,
                                   " tokens; one that computes the factor as max / original gets 1 and no extension.");
    } else {
      continue;
    }
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings yarn_factor_mismatch(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    const auto longest = layer.arguments.maybe_integer("max_length");
    const auto original = layer.arguments.maybe_integer("original_length");
    const auto factor = layer.arguments.maybe_real("factor");
    if (!is_rope(layer) || rule_of(layer) != "yarn" || !longest || !original || !factor || *longest <= *original) {
      continue;
    }
    const double ratio = static_cast<double>(*longest) / static_cast<double>(*original);
    if (std::fabs(ratio - *factor) <= 1e-3 * ratio) continue;
    Finding finding = about(layer);
    finding.keys = {"factor", length_key(model), original_key(model)};
    finding.what = concat("YaRN's factor is ", *factor, ", but ", *longest, " / ", *original, " is ", ratio, ".");
    finding.consequence = *factor < ratio
                              ? concat("Beyond ", static_cast<double>(*original) * *factor,
                                       " tokens the slow pairs reach angles that the ", "model has never seen.")
                              : concat(
                                    "Positions are compressed more than the length requires; an engine that computes "
                                    "the factor from the ",
                                    "lengths uses different frequencies and the attention factor ", magnitude(ratio, 1),
                                    " instead of ", magnitude(*factor, 1), ".");
    finding.numbers = {{"factor", *factor}, {"ratio", ratio}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings cancelling_mscales(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    const double mscale = layer.arguments.maybe_real("mscale").value_or(0);
    const double all = layer.arguments.maybe_real("mscale_all_dim").value_or(0);
    if (rule_of(layer) != "yarn" || mscale == 0 || mscale != all || layer.arguments.has("attention_factor")) continue;
    const double m = magnitude(layer.arguments.maybe_real("factor").value_or(1), all);
    Finding finding = about(layer);
    finding.keys = {"mscale", "mscale_all_dim"};
    finding.what = concat("mscale and mscale_all_dim are both ", mscale,
                          ": they cancel on cos and sin (factor 1), and ", m * m, " multiplies the softmax scale.");
    finding.consequence =
        concat("An engine that knows YaRN but not the softmax factor makes scores too small by a factor of ", m * m,
               "; one that also applies m to cos and sin squares it.");
    finding.numbers = {{"attention_factor", 1}, {"softmax_scale_factor", m * m}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings lonely_mscale(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    const double mscale = layer.arguments.maybe_real("mscale").value_or(0);
    const double all = layer.arguments.maybe_real("mscale_all_dim").value_or(0);
    const double factor = layer.arguments.maybe_real("factor").value_or(1);
    if (rule_of(layer) != "yarn" || (mscale == 0) == (all == 0) || layer.arguments.has("attention_factor")) continue;
    const double meant = mscale != 0 ? magnitude(factor, mscale) : 1 / magnitude(factor, all);
    if (std::fabs(meant - magnitude(factor, 1)) < 1e-9) continue;  // mscale = 1 is the default of the rule
    Finding finding = about(layer);
    finding.keys = {mscale != 0 ? "mscale" : "mscale_all_dim"};
    finding.what =
        concat(finding.keys[0], " = ", mscale != 0 ? mscale : all, " has no counterpart; transformers uses the two ",
               "only as a pair, so the attention factor is ", magnitude(factor, 1), ".");
    finding.consequence = concat("An engine that reads this key alone expects ", meant,
                                 " on cos and sin: scores differ by the ", "square of the ratio.");
    finding.numbers = {{"attention_factor", magnitude(factor, 1)}, {"by_itself", meant}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings wrong_list_length(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    const auto width = layer.arguments.maybe_integer("rotary_dim");
    if (rule_of(layer) != "longrope" || !width) continue;
    for (const char* name : {"short_factor", "long_factor"}) {
      const auto size = static_cast<std::int64_t>(layer.arguments.list(name).size());
      if (size == *width / 2) continue;
      Finding finding = about(layer);
      finding.keys = {name};
      finding.what = concat(name, " has ", size, " entries, the rotary width ", *width, " has ", *width / 2, " pairs.");
      finding.consequence = "Engines refuse the file, or apply divisors to the wrong pairs.";
      finding.numbers = {{"entries", static_cast<double>(size)}, {"pairs", static_cast<double>(*width / 2)}};
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

Findings unfilled_sections(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    const auto width = layer.arguments.maybe_integer("rotary_dim");
    if (!layer.arguments.has("sections") || !width) continue;
    const std::vector<double>& sections = layer.arguments.list("sections");
    const double sum = std::accumulate(sections.begin(), sections.end(), 0.0);
    if (sum == static_cast<double>(*width / 2)) continue;
    Finding finding = about(layer);
    finding.keys = {model.format == "GGUF" ? "rope.dimension_sections" : "mrope_section"};
    finding.what = concat("The sections ", to_text(Value(sections)), " add up to ", sum, ", the rotary width ", *width,
                          " has ", *width / 2, " pairs.");
    finding.consequence =
        "Pairs without a section get no axis, or sections exceed the width: images lose their "
        "places.";
    finding.numbers = {{"sum", sum}, {"pairs", static_cast<double>(*width / 2)}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings narrow_gguf_rotation(const LintModel& model) {
  constexpr std::array<std::string_view, 4> whole_heads = {"llama", "deci", "falcon", "llama-embed"};
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    const auto width = layer.arguments.maybe_integer("rotary_dim"), head = layer.arguments.maybe_integer("head_dim");
    const bool strict = std::find(whole_heads.begin(), whole_heads.end(), model.model_type) != whole_heads.end();
    if (model.format != "GGUF" || !strict || !width || !head || *width == *head) continue;
    Finding finding = about(layer);
    finding.keys = {"rope.dimension_count", "attention.key_length"};
    finding.what = concat("rope.dimension_count is ", *width, ", the head is ", *head, " wide.");
    finding.consequence =
        concat("llama.cpp refuses a ", model.model_type, " file that rotates only a part of the head.");
    finding.numbers = {{"rotary_dim", static_cast<double>(*width)}, {"head_dim", static_cast<double>(*head)}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings served_beyond_trained(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    const Rule& rule = find_rule(rule_of(layer));
    const bool without_rule = is_rope(layer) && !stretches(rule) && !rule.length_dependent;
    const bool table = layer.scheme == "learned";
    if (!(without_rule || table || layer.scheme == "sinusoidal") || !layer.trained_length || !reaches_far(layer))
      continue;
    if (model.served_length <= *layer.trained_length) continue;
    Finding finding = about(layer);
    if (layer.scheme == "sinusoidal") finding.severity = Severity::warning;
    finding.keys = {length_key(model)};
    finding.what = concat("Served at ", model.served_length, " tokens, trained at ", *layer.trained_length,
                          table ? ": the table has no more rows." : ", and no rule extends it.");
    finding.consequence = table ? "Positions beyond the table have no row: engines fail or read out of bounds."
                                : "Beyond the trained length, slow pairs reach angles that the model has never seen; "
                                  "perplexity usually rises sharply within a few hundred tokens.";
    finding.numbers = {{"served_length", static_cast<double>(model.served_length)},
                       {"trained_length", static_cast<double>(*layer.trained_length)},
                       {"training_length", static_cast<double>(*layer.trained_length)}};  // its old name
    findings.push_back(std::move(finding));
  }
  return findings;
}

Findings served_beyond_extension(const LintModel& model) {
  Findings findings;
  for (const LintLayer& layer : model.layers) {
    if (!is_rope(layer) || !reaches_far(layer)) continue;
    const auto extended = extended_length(layer);
    const auto stated = layer.arguments.maybe_integer("max_length");
    if (!extended) continue;
    // Llama 3.1 was also trained beyond original x factor with its rule, so the stated limit counts too.
    const double limit = std::max(*extended, static_cast<double>(stated.value_or(0)));
    if (static_cast<double>(model.served_length) <= limit) continue;
    Finding finding = about(layer);
    finding.keys = {"factor", original_key(model), length_key(model)};
    finding.what =
        concat("Served at ", model.served_length, " tokens; the rule ", rule_of(layer), " reaches ", limit, ".");
    finding.consequence = "Beyond that, slow pairs reach angles that the model has never seen.";
    finding.numbers = {{"served_length", static_cast<double>(model.served_length)}, {"reach", limit}};
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace locus::doctor
