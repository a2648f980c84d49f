// SPDX-License-Identifier: Apache-2.0
// Faults in the choice of the key head of a query head.
#include <algorithm>

#include "doctor/verify/fault_model.h"

namespace locus::doctor {

Models head_faults() {
  Models all;
  using Map = std::function<std::int64_t(std::int64_t, std::int64_t, std::int64_t)>;
  const auto add = [&](std::string_view fault, const std::string& detail, const Map& map) {
    all.push_back({.fault = fault, .detail = detail, .key_head = map, .value_head = map});
    const Map right = [](std::int64_t h, std::int64_t heads, std::int64_t key_heads) {
      return h / (heads / key_heads);
    };
    all.push_back({.fault = fault,
                   .detail = detail.empty() ? "for keys" : detail + ", for keys",
                   .key_head = map,
                   .value_head = right});
    all.push_back(
        {.fault = fault, .detail = detail.empty() ? "for values" : detail + ", for values", .value_head = map});
  };
  add("heads_tiled", "", [](std::int64_t h, std::int64_t, std::int64_t k) { return h % k; });
  add("one_key_head", "the first", [](std::int64_t, std::int64_t, std::int64_t) { return std::int64_t{0}; });
  add("one_key_head", "the last", [](std::int64_t, std::int64_t, std::int64_t k) { return k - 1; });
  add("wrong_heads", "in reverse", [](std::int64_t h, std::int64_t n, std::int64_t k) { return k - 1 - h / (n / k); });
  add("wrong_heads", "by one", [](std::int64_t h, std::int64_t n, std::int64_t k) { return (h / (n / k) + 1) % k; });
  add("wrong_heads", "by one",
      [](std::int64_t h, std::int64_t n, std::int64_t k) { return (h / (n / k) + k - 1) % k; });
  add("wrong_heads", "by one query head",
      [](std::int64_t h, std::int64_t n, std::int64_t k) { return std::min((h + 1) / (n / k), k - 1); });
  add("wrong_heads", "by one query head",
      [](std::int64_t h, std::int64_t n, std::int64_t k) { return std::max<std::int64_t>(h - 1, 0) / (n / k); });
  add("group_size_wrong", "rounded up",
      [](std::int64_t h, std::int64_t n, std::int64_t k) { return std::min((h * k + n - 1) / n, k - 1); });
  add("group_size_wrong", "h, cut off",
      [](std::int64_t h, std::int64_t, std::int64_t k) { return std::min(h, k - 1); });
  for (const std::int64_t group : {2, 3, 4, 8}) {
    add("group_size_wrong", std::to_string(group),
        [group](std::int64_t h, std::int64_t, std::int64_t k) { return std::min(h / group, k - 1); });
    add("group_size_wrong", std::to_string(group),
        [group](std::int64_t h, std::int64_t, std::int64_t k) { return h / group % k; });
  }
  add("group_size_wrong", "one more", [](std::int64_t h, std::int64_t n, std::int64_t k) { return h / (n / k + 1); });
  add("group_size_wrong", "h / key_heads",
      [](std::int64_t h, std::int64_t, std::int64_t k) { return std::min(h / k, k - 1); });
  add("group_size_wrong", "h / key_heads", [](std::int64_t h, std::int64_t, std::int64_t k) { return h / k % k; });
  return all;
}

}  // namespace locus::doctor
