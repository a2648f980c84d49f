// SPDX-License-Identifier: Apache-2.0
// Makes encodings other than a model's own, and checks that they fit the model.
#include <algorithm>

#include "locus/error.h"
#include "locus/io/model_encoding.h"
#include "locus/polar.h"
#include "locus/scaling.h"
#include "locus/settings.h"
#include "locus/stretch.h"
#include "probe/network.h"

namespace locus::probe {
namespace {

/// RoPE takes width, base and pairing from the model unless the spelling sets them.
Encoding rope_for(const Model& model, const Spelling& spelling) {
  const Arguments written = arguments_of(spelling);
  Arguments given;
  std::string rule = "none";
  for (const auto& [name, value] : written.all()) {
    if (name == "rule") {
      rule = std::get<std::string>(value);
    } else {
      given.set(name, value);
    }
  }
  return with_rule(model.encoding(), rule, {.trained = model.config().trained_length}, given);
}

/// Any other scheme takes its sizes from the model; one that rotates by rules (offset_map) all of the model's rotation.
Encoding scheme_for(const Model& model, const Spelling& spelling) {
  const Scheme& scheme = find_scheme(spelling.scheme);
  Arguments arguments;
  const bool rotates = std::any_of(scheme.parameters.begin(), scheme.parameters.end(),
                                   [](const Parameter& parameter) { return parameter.name == "rule"; });
  if (rotates && takes_rules(model.encoding())) {
    const Arguments& own = model.encoding().arguments();
    for (const Parameter& parameter : parameters_of(scheme, own)) {
      if (const Value* value = own.find(parameter.name)) arguments.set(parameter.name, *value);
    }
  }
  const Arguments given = arguments_of(spelling);
  for (const auto& [name, value] : given.all()) arguments.set(name, value);
  const auto fill = [&](std::string_view name, std::int64_t value) {
    const bool taken = std::any_of(scheme.parameters.begin(), scheme.parameters.end(),
                                   [&](const Parameter& parameter) { return parameter.name == name; });
    if (taken && !arguments.has(name)) arguments.set(name, value);
  };
  fill("heads", scheme.site == Site::query_key ? model.config().kv_heads : model.config().heads);
  fill("head_dim", model.config().head_dim);
  if (scheme.site == Site::hidden) fill("dim", model.config().dim);
  return Encoding(scheme.name, arguments);
}

}  // namespace

void require_fits(const Encoding& encoding, const ModelConfig& config, const std::string& owner) {
  const auto same = [&](const char* what, std::int64_t own, std::int64_t model) {
    require(own == model, owner, ": the encoding ", encoding.scheme().name, " is for a model with a ", what, " of ",
            own, ", this one has ", model);
  };
  switch (encoding.site()) {
    case Site::query_key:
      same("head width", polar_of(encoding) ? polar_of(encoding)->head_dim : encoding.rotation().head_dim,
           config.head_dim);
      require(encoding.rotation().axes == 1, owner, ": the encoding must have 1 axis of positions, got ",
              encoding.rotation().axes);
      require(!encoding.rotation().turns_output, owner, ": the probe does not rotate outputs (turned_output)");
      if (encoding.rotation().mix) same("number of key heads", encoding.rotation().mix->heads, config.kv_heads);
      if (encoding.rotation().polar) same("number of key heads", encoding.rotation().polar->heads, config.kv_heads);
      break;
    case Site::hidden:
      same("width", encoding.hidden().dim, config.dim);
      if (const auto& from = encoding.hidden().neighbours) {
        require(from->before == from->kernel - 1, owner, ": the rows of ", encoding.scheme().name,
                " depend on later tokens, which a model does not have yet: causal must be true");
      }
      break;
    case Site::score:
      same("head count", encoding.score().heads, config.heads);
      require(encoding.score().token_numbers == 0 || encoding.score().token_numbers == config.gates, owner,
              ": the encoding ", encoding.scheme().name, " takes ", encoding.score().token_numbers,
              " gates of every token and head, this model computes ", config.gates);
      break;
    case Site::relative_key:
      same("head width", encoding.relative_keys().head_dim, config.head_dim);
      if (encoding.relative_keys().heads > 0) same("head count", encoding.relative_keys().heads, config.heads);
      break;
    case Site::output:
    case Site::none:
      break;
  }
}

std::int64_t attended_dim(const ModelConfig& config, const Encoding& encoding) {
  return polar_of(encoding) == nullptr ? config.head_dim : encoding.rotation().head_dim;
}

Encoding encoding_for(const Model& model, std::string_view text) {
  if (text == "own") return model.encoding();
  const bool rotates = takes_rules(model.encoding());
  if (text == "none" && !rotates) return model.encoding();
  const Spelling spelling = parse_spelling(text);
  Encoding encoding = !spelling.config.empty() ? io::model_encoding(spelling.config).encoding
                      : rotates && spelling.scheme == model.encoding().scheme().name ? rope_for(model, spelling)
                                                                                     : scheme_for(model, spelling);
  require_fits(encoding, model.config(), std::string(text));
  return encoding;
}

}  // namespace locus::probe
