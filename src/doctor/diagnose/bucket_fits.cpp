// SPDX-License-Identifier: Apache-2.0
#include "doctor/diagnose/bucket_fits.h"

#include <algorithm>
#include <cmath>

#include "locus/encoding.h"
#include "locus/error.h"

namespace locus::doctor {
namespace {

// For each step from one offset to the next: true if some head's value changes; absent if either entry is masked.
std::vector<std::optional<bool>> changes(const BiasShape& shape) {
  const auto size = static_cast<std::size_t>(2 * shape.dump().keys - 1);
  std::vector<std::optional<bool>> result(size);
  for (std::int64_t h = 0; h < shape.dump().heads; ++h) {
    const auto values = shape.by_offset(h);
    for (std::size_t n = 1; n < size; ++n) {
      if (!values[n] || !values[n - 1]) continue;
      result[n] = result[n].value_or(false) || std::abs(*values[n] - *values[n - 1]) > shape.slack();
    }
  }
  return result;
}

}  // namespace

std::vector<std::int64_t> stretch_starts(const BiasShape& shape) {
  const auto changed = changes(shape);
  const std::int64_t zero = shape.dump().keys - 1;  // index of offset 0
  std::vector<std::int64_t> starts = {0};
  for (std::int64_t distance = 1; distance < shape.dump().keys; ++distance) {
    // From distance - 1 to distance: the step between offsets -distance and -distance + 1.
    if (changed[static_cast<std::size_t>(zero - distance + 1)].value_or(false)) starts.push_back(distance);
  }
  return starts;
}

bool changes_at_edges_of(const BiasShape& shape, const BucketForm& form) {
  std::optional<Encoding> t5;
  try {
    t5.emplace("t5", Arguments{{"heads", std::int64_t{1}},
                               {"num_buckets", form.num_buckets},
                               {"max_distance", form.max_distance},
                               {"bidirectional", form.bidirectional}});
  } catch (const Error&) {  // e.g. a distance within the exact buckets
    return false;
  }
  const auto changed = changes(shape);
  bool any = false;
  for (std::size_t n = 1; n < changed.size(); ++n) {
    if (!changed[n]) continue;
    const std::int64_t offset = static_cast<std::int64_t>(n) - (shape.dump().keys - 1);
    const bool differs = t5->score().bucket(0, offset) != t5->score().bucket(0, offset - 1);
    if (differs != *changed[n]) return false;
    any = true;
  }
  return any;
}

std::vector<BucketForm> fitting_buckets(const BiasShape& shape) {
  std::vector<BucketForm> fitting;
  // Numbers that change at every step are those of any table.
  const auto changed = changes(shape);
  const bool constant =
      std::any_of(changed.begin(), changed.end(), [](const std::optional<bool>& one) { return one && !*one; });
  if (!constant) return fitting;
  for (const std::int64_t buckets : {32, 64, 16, 8, 20, 128, 256}) {
    for (const std::int64_t distance : {128, 20, 64, 160, 256, 512, 800, 1024, 2048}) {
      for (const bool bidirectional : {true, false}) {
        const BucketForm form{buckets, distance, bidirectional};
        if (changes_at_edges_of(shape, form)) fitting.push_back(form);
      }
    }
  }
  return fitting;
}

std::string text_of(const BucketForm& form) {
  return std::to_string(form.num_buckets) + " buckets up to distance " + std::to_string(form.max_distance) +
         (form.bidirectional ? ", both directions" : ", past only");
}

}  // namespace locus::doctor
