// SPDX-License-Identifier: Apache-2.0
#include "simd_targets.h"

#include <hwy/targets.h>

#include <utility>

#include "locus/names.h"
#include "machine_limits.h"

namespace locus::bench {
namespace {

// A bit for each target; the better the target, the lower its bit.
std::int64_t& usable_targets() {
  static std::int64_t usable = hwy::SupportedTargets() & HWY_TARGETS;
  return usable;
}

std::int64_t at_most_mask(std::int64_t target) { return usable_targets() & ~(target - 1); }

}  // namespace

std::string_view target_name(std::int64_t target) { return hwy::TargetName(target); }

std::vector<std::int64_t> simd_targets() {
  std::vector<std::int64_t> all;
  for (std::int64_t left = usable_targets(); left != 0; left &= left - 1) all.push_back(left & -left);
  return all;
}

void use_at_most(std::string_view name) {
  usable_targets() = at_most_mask(find_named("SIMD target", simd_targets(), name, target_name));
  hwy::GetChosenTarget().Update(usable_targets());
}

std::function<void()> at_most(std::int64_t target, std::function<void()> call) {
  return [mask = at_most_mask(target), call = std::move(call)] {
    struct Restore {
      ~Restore() { hwy::GetChosenTarget().Update(usable_targets()); }
    } const restore;
    hwy::GetChosenTarget().Update(mask);
    call();
  };
}

std::function<void()> at_best_width(const std::vector<std::function<void()>>& forms, const Pairs& pairs) {
  std::vector<std::function<void()>> calls;
  std::size_t last_bytes = 0;
  for (const std::int64_t target : simd_targets()) {
    std::size_t bytes = 0;
    at_most(target, [&] { bytes = vector_bytes(); })();
    const bool scalar = bytes == sizeof(float);
    if (bytes == last_bytes || (scalar && !calls.empty())) continue;  // no other width, or certainly slower
    last_bytes = bytes;
    for (const auto& form : forms) calls.push_back(at_most(target, form));
  }
  return fastest(calls, pairs);
}

}  // namespace locus::bench
