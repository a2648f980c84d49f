// SPDX-License-Identifier: Apache-2.0
#include "model/scheme.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "locus/error.h"

namespace locus::lab {
namespace {

// "a=1,b=16,24,c=x" at the commas that a name and = follow: a=1, b=16,24 and c=x.
std::vector<std::string> split_arguments(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    if (!parts.empty() && part.find('=') == std::string::npos) {
      parts.back() += "," + part;
    } else {
      parts.push_back(part);
    }
    begin = end + 1;
  }
  return parts;
}

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

}  // namespace

std::int64_t LearnedArgument::count() const { return product(shape); }

SchemeText parse_scheme(const std::string& text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  SchemeText scheme{.name = text.substr(0, colon), .arguments = {}};
  if (scheme.name == "none") scheme.name = "nope";
  const Scheme& known = find_scheme(scheme.name);
  if (colon == text.size()) return scheme;
  std::vector<std::pair<std::string, std::string>> written;
  Arguments choices;  // a rule brings parameters of its own
  for (const std::string& part : split_arguments(text.substr(colon + 1))) {
    const std::size_t equals = part.find('=');
    require(equals != std::string::npos && equals > 0, "scheme ", text, ": arguments must be name=value, got ", part);
    written.emplace_back(part.substr(0, equals), part.substr(equals + 1));
    if (written.back().first == "rule") choices.set("rule", written.back().second);
  }
  const std::vector<Parameter> parameters = parameters_of(known, choices);
  for (const auto& argument : written) {
    const Parameter& parameter = find_parameter(scheme.name, parameters, argument.first);
    scheme.arguments.set(argument.first, parse_value(scheme.name, parameter, argument.second));
  }
  return scheme;
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
  std::vector<LearnedArgument> learned;
  for (const LearnedWeight& weight : encoding.learned_weights()) {
    if (weight.gradient == LearnedGradient::hidden_rows) continue;
    const bool per_head = weight.gradient == LearnedGradient::bias_parameters;
    learned.push_back({.name = std::string(weight.name),
                       .shape = weight.shape,
                       .deviation = weight.deviation,
                       .exponential = weight.positive,
                       .column = weight.column,
                       .columns = per_head ? encoding.score().parameters : 1,
                       .gradient = gradient_member(weight.gradient)});
  }
  return learned;
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
