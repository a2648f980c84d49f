// SPDX-License-Identifier: Apache-2.0
// The fields of a diagnosis under the names that the command's JSON, Python and C share. Add a new field of a struct
// here, and all three have it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "locus/doctor/diagnose.h"
#include "locus/doctor/diagnose_bias.h"

namespace locus {

std::string_view name_of(Verdict::About about);
std::string_view name_of(Diagnosis::Kind kind);

// Each calls `field(name, value)` once per field, with enumerators as their names.

template <class Field>
void visit_fields(const Verdict& verdict, Field&& field) {
  field("name", verdict.name);
  field("about", name_of(verdict.about));
  field("confidence", verdict.confidence);
  field("text", verdict.text);
  field("evidence", verdict.evidence);
}

template <class Field>
void visit_fields(const TurnedSlice& slice, Field&& field) {
  field("pairing", name_of(slice.pairing));
  field("deinterleaved_output", slice.deinterleaved_output);
  field("rotary_offset", slice.rotary_offset);
  field("rotary_dim", slice.rotary_dim);
}

template <class Field>
void visit_fields(const Explanation& explanation, Field&& field) {
  field("scheme", explanation.scheme);
  field("arguments", explanation.arguments);
  field("inverse", explanation.inverse);
  field("times", explanation.times);
  field("position_divisor", explanation.position_divisor);
  field("positions", explanation.positions);
  field("misfit", explanation.misfit);
  field("text", explanation.text);
  field("free_frequencies", explanation.free_frequencies);
  field("complexity", explanation.complexity);
}

template <class Field>
void visit_fields(const Diagnosis& diagnosis, Field&& field) {
  field("kind", name_of(diagnosis.kind));
  field("storage", name_of(diagnosis.storage));
  field("residual", diagnosis.residual);
  field("noise", diagnosis.noise);
  field("as_expected", diagnosis.as_expected());
  field("verdicts", diagnosis.verdicts);
  field("slice", diagnosis.slice);
  field("also_fitting", diagnosis.also_fitting);
  field("head_map", diagnosis.head_map);
  field("magnitude", diagnosis.magnitude);
  field("magnitude_varies", diagnosis.magnitude_varies);
  field("frequencies", diagnosis.frequencies);
  field("explanations", diagnosis.explanations);
  field("decide", diagnosis.decide);
  field("not_judged", diagnosis.not_judged);
  field("pair_magnitudes", diagnosis.pair_magnitudes);
  field("pair_angles", diagnosis.pair_angles);
}

template <class Field>
void visit_fields(const BiasDiagnosis& diagnosis, Field&& field) {
  field("storage", name_of(diagnosis.storage));
  field("as_expected", diagnosis.as_expected());
  field("masked", diagnosis.masked);
  field("causal_mask", diagnosis.causal_mask);
  field("toeplitz", diagnosis.toeplitz);
  field("key_only", diagnosis.key_only);
  field("slopes", diagnosis.slopes);
  field("bucket_starts", diagnosis.bucket_starts);
  field("verdicts", diagnosis.verdicts);
}

template <class T>
concept HasFields = requires(const T& value) {
  visit_fields(value, [](std::string_view, const auto&) {});
};

/// Converts values to objects of a JSON library (nlohmann's, or one with the same interface), which this header does
/// not include. Tensors become text.
template <class Json>
struct JsonFields {
  template <class T>
  static Json of(const T& value) {
    if constexpr (HasFields<T>) {
      Json object = Json::object();
      visit_fields(value, [&](std::string_view name, const auto& one) { object[std::string(name)] = of(one); });
      return object;
    } else if constexpr (std::is_same_v<T, std::string_view>) {
      return std::string(value);
    } else {
      return value;
    }
  }
  template <class T>
  static Json of(const std::optional<T>& value) {
    return value ? of(*value) : Json();
  }
  template <class T>
  static Json of(const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) array.push_back(of(value));
    return array;
  }
  static Json of(const Arguments& arguments) {
    Json object = Json::object();
    for (const auto& entry : arguments.all()) {
      const Value& value = entry.second;  // clang 14 captures no structured binding
      object[entry.first] = std::visit(
          [&](const auto& held) {
            if constexpr (std::is_same_v<std::decay_t<decltype(held)>, Tensor>) {
              return Json(to_text(value));
            } else {
              return Json(held);
            }
          },
          value);
    }
    return object;
  }
};

}  // namespace locus
