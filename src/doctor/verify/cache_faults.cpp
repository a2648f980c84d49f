// SPDX-License-Identifier: Apache-2.0
// Keys and values read from the wrong slots: pages, forks, rings.
#include <algorithm>
#include <cmath>

#include "doctor/verify/fault_model.h"
#include "doctor/verify/index.h"

namespace locus::doctor {

Models cache_faults() {
  Models all;
  using Slot = std::function<std::int64_t(const AskedCall&, std::int64_t)>;
  const auto add = [&](std::string_view fault, const std::string& detail, const Slot& slot) {
    all.push_back({.fault = fault, .detail = detail, .key_slot = slot, .value_slot = slot});
    all.push_back({.fault = fault, .detail = detail + ", keys only", .key_slot = slot});
    all.push_back({.fault = fault, .detail = detail + ", values only", .value_slot = slot});
  };
  for (const std::int64_t page : page_sizes) {
    const std::string detail = of_tokens(page);
    add("page_repeated", "the first " + detail, [page](const AskedCall&, std::int64_t j) { return j % page; });
    add("page_repeated", "the one before, " + detail,
        [page](const AskedCall&, std::int64_t j) { return j < page ? j : j - page; });
    add("page_repeated", "the second is the first, " + detail,
        [page](const AskedCall&, std::int64_t j) { return j / page == 1 ? j - page : j; });
    add("page_repeated", "the last is the one before, " + detail, [page](const AskedCall& c, std::int64_t j) {
      return j >= page && j / page == (c.keys - 1) / page ? j - page : j;
    });
    add("pages_swapped", "the first two, " + detail, [page](const AskedCall& c, std::int64_t j) {
      if (c.keys < 2 * page || j >= 2 * page) return j;
      return j < page ? j + page : j - page;
    });
    add("pages_swapped", "in reverse, " + detail, [page](const AskedCall& c, std::int64_t j) {
      const std::int64_t full = c.keys / page;
      return j / page < full ? (full - 1 - j / page) * page + j % page : j;
    });
    add("pages_swapped", "in pairs, " + detail, [page](const AskedCall& c, std::int64_t j) {
      const std::int64_t other = (j / page ^ 1) * page + j % page;
      return (other / page + 1) * page <= c.keys && (j / page + 1) * page <= c.keys ? other : j;
    });
    add("page_shifted", detail, [page](const AskedCall&, std::int64_t j) { return j >= page ? j - 1 : j; });
    add("page_shifted", detail, [page](const AskedCall&, std::int64_t j) { return j % page == 0 ? j : j - 1; });
    add("page_shifted", detail, [page](const AskedCall&, std::int64_t j) {
      return j > page ? j - 1 : j == page ? -1 : j;
    });
    all.push_back({.fault = "forked_cache_shared", .detail = detail, .shared_page = page});
    add("page_shifted", detail,
        [page](const AskedCall& c, std::int64_t j) { return j >= page ? std::min(j + 1, c.keys - 1) : j; });
    add("page_zero", "from the second on, " + detail,
        [page](const AskedCall&, std::int64_t j) { return j >= page ? -1 : j; });
    add("page_zero", "the last where it is not full, " + detail,
        [page](const AskedCall& c, std::int64_t j) { return j >= c.keys / page * page ? -1 : j; });
    add("page_zero", "the second, " + detail,
        [page](const AskedCall&, std::int64_t j) { return j / page == 1 ? -1 : j; });
    // The slots of a page after the last token are zero, but visible.
    all.push_back(
        {.fault = "page_rest_seen",
         .detail = detail,
         .weights = [page](const AskedCall& c, std::span<const double> scores, std::span<const std::int64_t>) {
           const double rest = static_cast<double>((page - c.keys % page) % page);
           double top = rest > 0 ? 0 : -HUGE_VAL, total = 0;
           for (const double s : scores) top = std::max(top, s);
           std::vector<double> weights;
           for (const double s : scores) weights.push_back(std::exp(s - top)), total += weights.back();
           total += rest * std::exp(-top);
           for (double& w : weights) w /= total;
           return weights;
         }});
  }
  // Returns the newest token with the same slot.
  for (std::int64_t size = 16; size <= 4096; size *= 2) {
    add("ring_overwritten", "a ring " + of_tokens(size),
        [size](const AskedCall& c, std::int64_t j) { return j + (c.keys - 1 - j) / size * size; });
  }
  all.push_back({.fault = "bfloat16_keys", .stored = ElementType::bfloat16});
  all.push_back({.fault = "float16_keys", .stored = ElementType::float16});
  add("values_shifted", "the token before",
      [](const AskedCall&, std::int64_t j) { return std::max<std::int64_t>(j - 1, 0); });
  add("values_shifted", "the token after",
      [](const AskedCall& c, std::int64_t j) { return std::min(j + 1, c.keys - 1); });
  add("parent_zero", "", [](const AskedCall& c, std::int64_t j) { return c.forked && j < c.shared ? -1 : j; });
  add("keys_reversed", "", [](const AskedCall& c, std::int64_t j) { return c.keys - 1 - j; });
  add("new_key_lost", "the one before in its place", [](const AskedCall& c, std::int64_t j) {
    return c.one_token() && j == c.keys - 1 ? std::max<std::int64_t>(j - 1, 0) : j;
  });
  add("new_key_lost", "zero in its place",
      [](const AskedCall& c, std::int64_t j) { return c.one_token() && j == c.keys - 1 && j > 0 ? -1 : j; });
  add("new_key_lost", "written over the one before",
      [](const AskedCall& c, std::int64_t j) { return c.one_token() && j == c.keys - 2 ? j + 1 : j; });
  return all;
}

}  // namespace locus::doctor
