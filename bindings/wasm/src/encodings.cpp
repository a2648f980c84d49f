// SPDX-License-Identifier: Apache-2.0
#include "encodings.h"

#include <list>
#include <optional>
#include <utility>

#include "encoding_options.h"

namespace locus::wasm {
namespace {

constexpr std::size_t most_kept = 32;

struct Kept {
  std::string spelling, layer_type;
  std::int64_t length;  // 0: none
  Encoding encoding;
};

std::list<Kept>& kept_encodings() {
  static std::list<Kept> kept;  // the most recent one first
  return kept;
}

Encoding make(const std::string& spelling, const std::string& layer_type, std::int64_t length) {
  tools::EncodingOptions options;
  options.layer_type = layer_type;
  options.incomplete = true;
  const auto wanted = length > 0 ? std::optional(length) : std::nullopt;
  options.positions_read = wanted;
  return tools::only_layer(tools::choose_encodings(options, parse_spelling(spelling), wanted)).encoding;
}

}  // namespace

const Encoding& encoding_of(const val& chosen) {
  const auto spelling = chosen["spelling"].as<std::string>();
  const auto layer_type = chosen["layerType"].as<std::string>();
  const auto length = static_cast<std::int64_t>(chosen["length"].as<double>());
  std::list<Kept>& kept = kept_encodings();
  for (auto one = kept.begin(); one != kept.end(); ++one) {
    if (one->spelling == spelling && one->layer_type == layer_type && one->length == length) {
      kept.splice(kept.begin(), kept, one);
      return kept.front().encoding;
    }
  }
  kept.push_front({spelling, layer_type, length, make(spelling, layer_type, length)});
  if (kept.size() > most_kept) kept.pop_back();
  return kept.front().encoding;
}

void forget_encodings() { kept_encodings().clear(); }

}  // namespace locus::wasm
