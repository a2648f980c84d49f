// SPDX-License-Identifier: Apache-2.0
// convict(attend, x): a permutation that shows that `attend` is not equivariant, or nothing if it is innocent.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "learn/laws/compare.h"
#include "learn/laws/laws.h"
#include "learn/laws/plain_attention.h"

namespace locus::learn {
namespace {

constexpr std::int64_t suspect_tokens = 6, suspect_dim = 3;

struct Suspect {
  const char* name;
  bool guilty;
  Callback attend;
};

/// Attention after `change` was applied to each row, by its index.
Callback after(const std::function<double(std::int64_t)>& added) {
  return [added](const Array& x) {
    Array moved = x;
    for (std::int64_t i = 0; i < x.size(0); ++i) {
      for (std::int64_t c = 0; c < x.size(1); ++c) moved(i, c) += added(i);
    }
    return plain_attention(moved, moved, moved);
  };
}

std::vector<Suspect> suspects() {
  return {
      {"plain", false, [](const Array& x) { return plain_attention(x, x, x); }},
      {"causal", true, [](const Array& x) { return plain_attention(x, x, x, {.causal = true}); }},
      // The same from both ends: a reversed sentence does not show it.
      {"symmetric", true, after([](std::int64_t i) { return std::abs(static_cast<double>(i) - 2.5); })},
      // One place only: a permutation that leaves it alone does not show it.
      {"one_place", true, after([](std::int64_t i) { return i == 3 ? 1.0 : 0.0; })},
  };
}

bool convicts(const Callback& attend, const Array& x, const std::vector<std::int64_t>& order) {
  return !agree(attend(permuted(x, order)).values, permuted(attend(x), order).values);
}

std::vector<std::int64_t> order_of(const Array& got) {
  std::vector<std::int64_t> order;
  for (const double value : got.values) order.push_back(static_cast<std::int64_t>(value));
  return order;
}

void check_permutation(const std::vector<std::int64_t>& order) {
  std::vector<std::int64_t> sorted = order, all(static_cast<std::size_t>(suspect_tokens));
  std::sort(sorted.begin(), sorted.end());
  std::iota(all.begin(), all.end(), 0);
  if (sorted == all) return;
  std::string cause;
  std::iota(all.begin(), all.end(), 1);
  if (sorted == all) cause = "permutation.from_one";
  throw BrokenLaw{"permutation.not_one", cause, {{"tokens", shown(suspect_tokens)}, {"got", shown(order.size())}}};
}

}  // namespace

void laws_of_permutation(Solution& solution) {
  Random random(12);
  const Array x = random_array(random, {suspect_tokens, suspect_dim});
  for (const Suspect& suspect : suspects()) {
    int calls = 0;
    const Callback counted = [&](const Array& y) {
      ++calls;
      return suspect.attend(y);
    };
    const std::vector<std::int64_t> order = order_of(solution.call("convict", {counted, x}));
    if (order.empty()) {
      if (!suspect.guilty) continue;
      const std::string cause = calls == 0                                      ? "permutation.never_called"
                                : std::string_view(suspect.name) == "symmetric" ? "permutation.only_reversal"
                                                                                : "permutation.too_few";
      throw BrokenLaw{"permutation.acquitted", cause, {{"suspect", suspect.name}, {"calls", shown(calls)}}};
    }
    check_permutation(order);
    const bool identity = std::is_sorted(order.begin(), order.end());
    if (convicts(suspect.attend, x, order)) continue;
    const std::string cause = identity         ? "permutation.identity"
                              : calls == 0     ? "permutation.never_called"
                              : suspect.guilty ? "permutation.only_reversal"
                                               : "permutation.output_not_permuted";
    throw BrokenLaw{"permutation.no_proof", cause, {{"suspect", suspect.name}}};
  }
}

}  // namespace locus::learn
