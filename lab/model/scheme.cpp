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

bool offers(const Scheme& scheme, std::string_view name, std::string_view choice) {
  return std::any_of(scheme.parameters.begin(), scheme.parameters.end(), [&](const Parameter& parameter) {
    return parameter.name == name &&
           std::find(parameter.choices.begin(), parameter.choices.end(), choice) != parameter.choices.end();
  });
}

std::int64_t product(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

}  // namespace

bool takes(const Scheme& scheme, std::string_view name) {
  return std::any_of(scheme.parameters.begin(), scheme.parameters.end(),
                     [&](const Parameter& parameter) { return parameter.name == name; });
}

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
  if (scheme.site == Site::hidden) determine("max_positions", size.positions);
  determine("causal", size.causal);
  determine("bidirectional", !size.causal);
  if (!size.causal && offers(scheme, "form", "symmetric")) determine("form", std::string("symmetric"));
  for (const auto& [name, value] : text.arguments.all()) arguments.set(name, value);
  return arguments;
}

std::vector<LearnedArgument> learned_arguments(const Encoding& encoding) {
  std::vector<LearnedArgument> learned;
  for (const LearnedWeight& weight : encoding.learned_weights()) {
    if (weight.gradient == LearnedGradient::hidden_rows && !encoding.hidden().neighbours) continue;
    const bool per_head = weight.gradient == LearnedGradient::bias_parameters;
    learned.push_back({.name = std::string(weight.name),
                       .shape = weight.shape,
                       .deviation = weight.deviation,
                       .exponential = weight.positive,
                       .column = weight.column,
                       .columns = per_head ? encoding.score().parameters : 1,
                       .room = 0,
                       .gradient = gradient_member(weight.gradient)});
    LearnedArgument& one = learned.back();
    one.initial = weight.initial;
    one.room =
        weight.gradient == LearnedGradient::bias_network ? encoding.score().network_weights : one.count() * one.columns;
  }
  return learned;
}

Encoding with_weights(const Encoding& encoding, std::span<const LearnedArgument> learned, const float* weights) {
  Arguments arguments = encoding.arguments();
  for (const LearnedArgument& argument : learned) {
    const auto count = static_cast<std::size_t>(argument.count());
    if (find_parameter(encoding.scheme().name, encoding.scheme().parameters, argument.name).kind == ValueKind::list) {
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
