// SPDX-License-Identifier: Apache-2.0
// Faults of what an encoding declares beyond the rotation of pairs: a query temperature, an offset map, tables mixed per
// head. Encodings without them have none of these faults.
#include <algorithm>

#include "doctor/verify/fault_model.h"

namespace locus::doctor {
namespace {

FaultModel model_with(const Rotation& rotation, std::string_view fault, std::string detail = {}) {
  return {.fault = fault, .detail = std::move(detail), .rotation = std::make_shared<const Rotation>(rotation)};
}

void add_temperature(Models& models, const Rotation& rotation) {
  Rotation other = rotation;
  other.query_scale.reset();
  models.push_back(model_with(other, "temperature_missing"));
  for (const std::int64_t by : {1, -1}) {
    other = rotation;
    other.query_scale->shift += by;
    if (other.query_scale->shift < 0) continue;
    models.push_back(
        model_with(other, "temperature_off_by_one", by > 0 ? "p + 1 in place of p" : "p - 1 in place of p"));
  }
}

// Heads that use the matrices of the next key head, or all those of the first.
void add_mix(Models& models, const Rotation& rotation) {
  Rotation other = rotation;
  other.mix.reset();
  models.push_back(model_with(other, "mix_missing"));
  const HeadMix& mix = *rotation.mix;
  if (mix.heads == 1) return;
  const std::int64_t size = mix.frequencies * mix.frequencies;
  for (const bool next : {true, false}) {
    other = rotation;
    for (std::int64_t head = 0; head < mix.heads; ++head) {
      const std::int64_t from = next ? (head + 1) % mix.heads : 0;
      std::copy_n(mix.cos.data.begin() + from * size, size, other.mix->cos.data.begin() + head * size);
      std::copy_n(mix.sin.data.begin() + from * size, size, other.mix->sin.data.begin() + head * size);
    }
    models.push_back(model_with(other, "mix_of_another_head", next ? "the next one" : "the first one"));
  }
}

}  // namespace

Models declared_faults(const Encoding& encoding, bool attention) {
  Models models;
  if (encoding.site() != Site::query_key) return models;
  Rotation rotation = encoding.rotation();
  rotation.profile = Profile::exact;
  rotation.table_type = ElementType::float32;
  if (rotation.query_scale) add_temperature(models, rotation);
  if (rotation.mix) add_mix(models, rotation);
  if (rotation.offsets && attention) {
    rotation.offsets.reset();
    models.push_back(model_with(rotation, "offset_map_missing"));
  }
  return models;
}

}  // namespace locus::doctor
