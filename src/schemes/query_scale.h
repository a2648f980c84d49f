// SPDX-License-Identifier: Apache-2.0
// Query temperature: the parameters and the factor, for every scheme that has it.
//   steps      1 + beta ln(1 + floor((p + shift) / length))
//   logarithm  max(1, ln(p + shift) / ln(length))
// Llama 4 uses steps with shift 1 in its layers without rotation; Ministral 3 and Mistral 4 use steps with shift 0 in
// every layer. Qwen's first version uses the logarithm with shift 1 (logN attention; Su 2021, kexue.fm/archives/8823).
// The factor multiplies the whole query, also what is not rotated; keys never have it.
#pragma once

#include <optional>
#include <vector>

#include "locus/error.h"
#include "locus/site.h"
#include "locus/value.h"

namespace locus {

inline std::vector<Parameter> query_scale_parameters(std::string_view default_kind) {
  std::vector<std::string_view> kinds = {"steps", "logarithm"};
  if (default_kind == "none") kinds.insert(kinds.begin(), "none");
  return {{.name = "temperature",
           .kind = ValueKind::choice,
           .meaning = "factor on queries by position: steps 1 + beta ln(1 + floor((p + shift) / length)), or "
                      "logarithm max(1, ln(p + shift) / ln(length))",
           .fallback = std::string(default_kind),
           .choices = kinds},
          {.name = "temperature_length",
           .kind = ValueKind::integer,
           .meaning = "temperature: positions per step, or the trained length of the logarithm",
           .least = 2,
           .most = 0x1p31},
          {.name = "temperature_beta",
           .kind = ValueKind::real,
           .meaning = "temperature=steps: growth per unit of the logarithm",
           .fallback = 0.1,
           .least = 0,
           .above_least = true},
          {.name = "temperature_shift",
           .kind = ValueKind::integer,
           .meaning = "temperature: added to the position; absent: 0 with steps, 1 with the logarithm",
           .least = 0,
           .most = 0x1p31}};
}

/// Returns the factor that the arguments ask for.
/// Error: a temperature without its length, and a length or a shift without a temperature.
inline std::optional<QueryScale> query_scale_of(std::string_view scheme, const Arguments& arguments) {
  const std::string& kind = arguments.text("temperature");
  if (kind == "none") {
    for (const char* name : {"temperature_length", "temperature_shift"}) {
      require(!arguments.has(name), scheme, ".", name, " needs temperature=steps or logarithm, got temperature=none");
    }
    return {};
  }
  require(arguments.has("temperature_length"), scheme, ".temperature_length must be given with temperature=", kind,
          kind == "steps" ? ": positions per step, e.g. 8192" : ": the trained length, e.g. 2048");
  const bool steps = kind == "steps";
  return QueryScale{.kind = steps ? QueryScale::Kind::steps : QueryScale::Kind::logarithm,
                    .beta = steps ? arguments.real("temperature_beta") : 0,
                    .length = arguments.integer("temperature_length"),
                    .shift = arguments.maybe_integer("temperature_shift").value_or(steps ? 0 : 1)};
}

}  // namespace locus
