// SPDX-License-Identifier: Apache-2.0
#include "model/scheme.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "locus/error.h"
#include "locus/settings.h"

namespace locus::lab {
namespace {

bool takes(const Scheme& scheme, std::string_view name) {
  return std::any_of(scheme.parameters.begin(), scheme.parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
}

bool offers(const Scheme& scheme, std::string_view name, std::string_view choice) {
  return std::any_of(scheme.parameters.begin(), scheme.parameters.end(), [&](const Parameter& parameter) {
    return parameter.name == name &&
           std::find(parameter.choices.begin(), parameter.choices.end(), choice) != parameter.choices.end();
  });
}

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<LearnedArgument> learned_in_scores(const Scheme& scheme, const ScoreBias& bias) {
  std::vector<LearnedArgument> learned;
  if (!bias.table.data.empty()) {
    learned.push_back(
        {.name = "table", .shape = bias.table.shape, .deviation = 0.02, .gradient = &LearnedGradients::bias_table});
  }
  if (bias.parameters == 0) return learned;
  // Numbers per head come as lists, in the order of the scheme's parameters.
  for (const Parameter& parameter : scheme.parameters) {
    if (parameter.kind != ValueKind::list) continue;
    learned.push_back({.name = std::string(parameter.name),
                       .shape = {bias.heads},
                       .exponential = parameter.least == 0,
                       .column = static_cast<std::int64_t>(learned.size()),
                       .columns = bias.parameters,
                       .gradient = &LearnedGradients::bias_parameters});
  }
  require(std::ssize(learned) == bias.parameters, scheme.name, " has ", bias.parameters, " numbers per head and ",
          learned.size(), " lists that could hold them; the lab cannot train it");
  return learned;
}

std::vector<LearnedArgument> learned_in_keys(const RelativeKeys& keys) {
  std::vector<LearnedArgument> learned;
  const auto add = [&](const char* name, const Tensor& tensor, std::span<double> LearnedGradients::*gradient) {
    if (tensor.data.empty()) return;
    learned.push_back({.name = name,
                       .shape = tensor.shape,
                       .deviation = 1 / std::sqrt(static_cast<double>(tensor.shape.back())),
                       .gradient = gradient});
  };
  add("key_table", keys.key_table, &LearnedGradients::key_table);
  add("value_table", keys.value_table, &LearnedGradients::value_table);
  add("u", keys.u, &LearnedGradients::u);
  add("v", keys.v, &LearnedGradients::v);
  add("w_r", keys.w_r, &LearnedGradients::w_r);
  return learned;
}

}  // namespace

std::int64_t LearnedArgument::count() const { return product(shape); }

SchemeText parse_scheme(const std::string& text) {
  if (text == "none") return {.name = "nope", .arguments = {}};
  const Spelling spelling = parse_spelling(text);
  return {.name = spelling.scheme, .arguments = arguments_of(spelling)};
}

Arguments complete_arguments(const SchemeText& text, const EncodingSize& size) {
  const Scheme& scheme = find_scheme(text.name);
  Arguments arguments = scheme.example;
  const auto determine = [&](const char* name, Value value) {
    if (takes(scheme, name)) arguments.set(name, std::move(value));
  };
  determine("heads", size.model.heads);
  determine("head_dim", size.model.width / size.model.heads);
  if (scheme.site == Site::hidden) determine("dim", size.model.width);
  determine("max_positions", size.positions);
  determine("bidirectional", !size.causal);
  if (!size.causal && offers(scheme, "form", "symmetric")) determine("form", std::string("symmetric"));
  for (const auto& [name, value] : text.arguments.all()) arguments.set(name, value);
  return arguments;
}

std::vector<LearnedArgument> learned_arguments(const Encoding& encoding) {
  if (!encoding.claims().has(Claim::learned)) return {};
  if (encoding.site() == Site::score) return learned_in_scores(encoding.scheme(), encoding.score());
  if (encoding.site() == Site::relative_key) return learned_in_keys(encoding.relative_keys());
  return {};
}

Encoding with_weights(const Encoding& encoding, std::span<const LearnedArgument> learned, const float* weights) {
  Arguments arguments = encoding.arguments();
  for (const LearnedArgument& argument : learned) {
    const auto count = static_cast<std::size_t>(argument.count());
    if (argument.gradient == &LearnedGradients::bias_parameters) {
      std::vector<double> values(weights, weights + count);
      for (double& value : values) value = argument.exponential ? std::exp(value) : value;
      arguments.set(argument.name, std::move(values));
    } else {
      arguments.set(argument.name, Tensor{argument.shape, std::vector<float>(weights, weights + count)});
    }
    weights += count;
  }
  return Encoding(encoding.scheme().name, arguments);
}

}  // namespace locus::lab
