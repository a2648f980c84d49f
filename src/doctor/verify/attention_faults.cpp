// SPDX-License-Identifier: Apache-2.0
// Faults of attention itself: masks, heads, pages of a cache, scales, partial softmaxes.
#include <algorithm>
#include <cmath>

#include "doctor/verify/fault_model.h"
#include "doctor/verify/index.h"

namespace locus::doctor {
namespace {

using Models = std::vector<FaultModel>;
constexpr std::int64_t page_sizes[] = {4, 8, 16, 32, 64, 128, 256, 512};

std::string of_tokens(std::int64_t count) { return "of " + std::to_string(count) + " tokens"; }

// The place of a query among the keys, where the last query is the last key.
std::int64_t place(const AskedCall& c, std::int64_t query) { return query + c.keys - c.queries; }

bool right_but_for_causality(const AskedCall& call, std::int64_t query, std::int64_t key) {
  AskedCall other = call;
  other.causal = false;
  return visible(other, query, key);
}

bool right_but_for_documents(const AskedCall& call, std::int64_t query, std::int64_t key) {
  AskedCall other = call;
  other.query_boundaries = other.key_boundaries = {};
  return visible(other, query, key);
}

class MaskFaults {
 public:
  Models all() {
    causality();
    padding_and_documents();
    windows();
    lost_keys();
    return std::move(models_);
  }

 private:
  using Sees = std::function<bool(const AskedCall& call, std::int64_t query, std::int64_t key, bool visible)>;
  void add(std::string_view fault, std::string detail, Sees sees) {
    models_.push_back({.fault = fault, .detail = std::move(detail), .sees = std::move(sees)});
  }

  void causality() {
    add("mask_not_causal", "",
        [](const AskedCall& c, std::int64_t i, std::int64_t j, bool) { return right_but_for_causality(c, i, j); });
    add("mask_not_causal", "in chunks", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return c.first > 0 ? right_but_for_causality(c, i, j) : seen;
    });
    add("mask_not_causal", "after a cached prefix", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return c.cached > 0 ? right_but_for_causality(c, i, j) : seen;
    });
    add("mask_not_causal", "in packed documents", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return !c.key_boundaries.empty() ? right_but_for_causality(c, i, j) : seen;
    });
    add("mask_off_by_one", "a query does not see itself",
        [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
          return seen && c.key_ids[at(j)] < c.query_ids[at(i)];
        });
    add("mask_off_by_one", "a query does not see itself, but in decode",
        [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
          return seen && (c.one_token() || c.key_ids[at(j)] < c.query_ids[at(i)]);
        });
    for (const Position more : {1, 2, 4, 8, 16}) {
      add("mask_off_by_one", "the next " + std::to_string(more) + " are seen",
          [more](const AskedCall& c, std::int64_t i, std::int64_t j, bool) {
            return right_but_for_causality(c, i, j) && c.key_ids[at(j)] <= c.query_ids[at(i)] + more;
          });
    }
    add("mask_from_the_first_key", "", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool) {
      return right_but_for_causality(c, i, j) && j <= i;  // queries taken to stand at the first keys
    });
    add("mask_by_index", "", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool) {
      return right_but_for_causality(c, i, j) && j <= place(c, i);
    });
    add("mask_transposed", "", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool) {
      return right_but_for_causality(c, i, j) && c.key_ids[at(j)] >= c.query_ids[at(i)];
    });
    for (const std::int64_t size : page_sizes) {
      add("mask_by_blocks", of_tokens(size), [size](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        return seen || (right_but_for_causality(c, i, j) && j / size <= place(c, i) / size);
      });
      add("mask_by_blocks", of_tokens(size) + ", its own alone",
          [size](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
            return seen && j / size == place(c, i) / size;
          });
    }
  }

  void padding_and_documents() {
    const auto no_mask = [](const AskedCall& c, std::int64_t i, std::int64_t j, bool) {
      AskedCall other = c;
      other.key_mask = {};
      return visible(other, i, j);
    };
    add("padding_seen", "", no_mask);
    add("padding_seen", "in decode", [=](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return c.one_token() ? no_mask(c, i, j, seen) : seen;
    });
    add("padding_mask_inverted", "", [=](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return c.key_mask.empty() ? seen : no_mask(c, i, j, seen) && c.key_mask[at(j)] == 0;
    });
    for (const std::int64_t step : {1, -1}) {
      add("padding_off_by_one", "", [=](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        if (c.key_mask.empty()) return seen;
        const std::int64_t other = std::clamp<std::int64_t>(j + step, 0, c.keys - 1);
        return no_mask(c, i, j, seen) && c.key_mask[at(other)] != 0;
      });
    }
    add("documents_seen", "",
        [](const AskedCall& c, std::int64_t i, std::int64_t j, bool) { return right_but_for_documents(c, i, j); });
    add("documents_seen", "in decode", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return c.one_token() || c.queries < c.keys ? right_but_for_documents(c, i, j) : seen;
    });
    add("documents_seen", "the earlier ones", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return seen || (right_but_for_documents(c, i, j) &&
                      document_of(c.key_boundaries, j) < document_of(c.query_boundaries, i));
    });
    add("documents_seen", "by index", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return c.key_boundaries.empty() ? seen : j <= place(c, i);
    });
    add("documents_seen", "the one before", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return seen || (right_but_for_documents(c, i, j) &&
                      document_of(c.key_boundaries, j) == document_of(c.query_boundaries, i) - 1);
    });
    add("documents_seen", "the first one", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return seen ||
             (!c.key_boundaries.empty() && right_but_for_documents(c, i, j) && document_of(c.key_boundaries, j) == 1);
    });
    const auto moved = [](std::int64_t keys, std::int64_t queries) {
      return [=](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        if (c.key_boundaries.empty()) return seen;
        const auto document = [](std::span<const std::int64_t> boundaries, std::int64_t token, std::int64_t step) {
          std::int64_t count = 1;
          for (std::size_t b = 1; b + 1 < boundaries.size(); ++b) count += token >= boundaries[b] + step ? 1 : 0;
          return count;
        };
        return right_but_for_documents(c, i, j) &&
               document(c.query_boundaries, i, queries) == document(c.key_boundaries, j, keys);
      };
    };
    for (const std::int64_t step : {1, -1}) {
      add("document_boundary_off_by_one", "", moved(step, step));
      add("document_boundary_off_by_one", "of keys", moved(step, 0));
      add("document_boundary_off_by_one", "of queries", moved(0, step));
    }
    add("document_boundary_lost", "the last one", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      if (c.key_boundaries.size() < 3) return seen;
      const auto last = static_cast<std::int64_t>(c.key_boundaries.size()) - 1;
      const auto joined = [&](std::int64_t document) { return std::min(document, last - 1); };
      return right_but_for_documents(c, i, j) &&
             joined(document_of(c.query_boundaries, i)) == joined(document_of(c.key_boundaries, j));
    });
    add("document_boundary_lost", "the first one", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      if (c.key_boundaries.size() < 3) return seen;
      const auto joined = [&](std::int64_t document) { return std::max<std::int64_t>(document, 2); };
      return right_but_for_documents(c, i, j) &&
             joined(document_of(c.query_boundaries, i)) == joined(document_of(c.key_boundaries, j));
    });
  }

  void windows() {
    std::vector<std::int64_t> sizes;
    for (std::int64_t size = 8; size <= 4096; size *= 2) {
      for (const std::int64_t step : {0, 1, -1}) sizes.push_back(size + step);
    }
    for (const std::int64_t size : {10, 20, 48, 50, 96, 100, 200, 384, 500, 768, 1000, 1536, 2000, 3000, 4000}) {
      sizes.push_back(size);
    }
    for (const std::int64_t size : sizes) {
      const std::string detail = of_tokens(size);
      add("window_applied", detail, [size](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        return seen && std::abs(c.query_ids[at(i)] - c.key_ids[at(j)]) < size;
      });
      add("window_applied", detail + ", by index",
          [size](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
            return seen && std::abs(place(c, i) - j) < size;
          });
      add("window_applied", detail + ", in decode",
          [size](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
            return seen && (!c.one_token() || std::abs(place(c, i) - j) < size);
          });
      add("keys_lost", "beyond the first " + std::to_string(size),
          [size](const AskedCall&, std::int64_t, std::int64_t j, bool seen) { return seen && j < size; });
    }
    // A window that is asked for.
    add("window_missing", "", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      AskedCall other = c;
      other.window = 0;
      return c.window > 0 ? visible(other, i, j) : seen;
    });
    add("window_missing", "in decode", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      AskedCall other = c;
      other.window = 0;
      return c.window > 0 && c.one_token() ? visible(other, i, j) : seen;
    });
    add("window_by_index", "", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      AskedCall other = c;
      other.window = 0;
      return c.window > 0 ? visible(other, i, j) && std::abs(place(c, i) - j) < c.window : seen;
    });
    for (const std::int64_t step : {1, -1, 2, -2}) {
      add("window_off_by_one", "", [step](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        AskedCall other = c;
        other.window = std::max<std::int64_t>(c.window + step, 1);
        return c.window > 0 ? visible(other, i, j) : seen;
      });
    }
    for (const std::int64_t times : {2, 4}) {
      add("window_wrong", "", [times](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        AskedCall other = c;
        other.window *= times;
        return c.window > 0 ? visible(other, i, j) : seen;
      });
      add("window_wrong", "", [times](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
        AskedCall other = c;
        other.window = std::max<std::int64_t>(1, c.window / times);
        return c.window > 0 ? visible(other, i, j) : seen;
      });
    }
    for (const std::int64_t sinks : {1, 2, 4, 8}) {
      add("window_wrong", "the first " + std::to_string(sinks) + " stay seen",
          [sinks](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
            AskedCall other = c;
            other.window = 0;
            return c.window > 0 ? seen || (j < sinks && visible(other, i, j)) : seen;
          });
    }
  }

  void lost_keys() {
    add("keys_lost", "the first",
        [](const AskedCall&, std::int64_t, std::int64_t j, bool seen) { return seen && j > 0; });
    add("keys_lost", "the last",
        [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) { return seen && j < c.keys - 1; });
    add("keys_lost", "the last in decode", [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
      return seen && (!c.one_token() || j < c.keys - 1);
    });
    add("keys_lost", "those of the cache",
        [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) { return seen && j >= c.cached; });
    add("keys_lost", "the last of the cache",
        [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) { return seen && j != c.cached - 1; });
    add("keys_lost", "those of the parent", [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
      return seen && !(c.forked && j < c.shared);
    });
    add("keys_lost", "at positions below 0",
        [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) { return seen && c.key_ids[at(j)] >= 0; });
    add("keys_lost", "at position 0",
        [](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) { return seen && c.key_ids[at(j)] != 0; });
    add("future_seen_below_zero", "", [](const AskedCall& c, std::int64_t i, std::int64_t j, bool seen) {
      return seen || (c.key_ids[at(j)] < 0 && right_but_for_causality(c, i, j));
    });
    for (const std::int64_t page : page_sizes) {
      const std::string detail = of_tokens(page);
      add("page_lost", "the first " + detail, [page](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
        return seen && (c.keys <= page || j >= page);
      });
      add("page_lost", "the last " + detail + " where it is not full",
          [page](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
            return seen && j < c.keys / page * page;
          });
      add("page_lost", "the last " + detail + " where others are full",
          [page](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
            return seen && (c.keys < page || j < c.keys / page * page);
          });
      add("page_lost", "the last " + detail, [page](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
        return seen && (c.keys <= page || j < (c.keys - 1) / page * page);
      });
      add("page_lost", "all but the last " + detail,
          [page](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
            return seen && j >= (c.keys - 1) / page * page;
          });
      for (const std::int64_t slot : {std::int64_t{0}, page - 1}) {
        add("page_edge_lost", detail,
            [=](const AskedCall&, std::int64_t, std::int64_t j, bool seen) { return seen && j % page != slot; });
        add("page_edge_lost", detail, [=](const AskedCall&, std::int64_t, std::int64_t j, bool seen) {
          return seen && (j < page - 1 || j % page != slot);
        });
      }
      add("page_edge_lost", detail + ", when a page is full",
          [page](const AskedCall& c, std::int64_t, std::int64_t j, bool seen) {
            return seen && !(c.keys % page == 0 && j == c.keys - 1);
          });
    }
  }

  Models models_;
};

}  // namespace

Models mask_faults() { return MaskFaults().all(); }

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

Models cache_faults() {
  Models all;
  using Slot = std::function<std::int64_t(const AskedCall&, std::int64_t)>;
  const auto add = [&](std::string_view fault, const std::string& detail, const Slot& slot) {
    all.push_back({.fault = fault, .detail = detail, .key_slot = slot, .value_slot = slot});
    all.push_back({.fault = fault, .detail = detail + ", keys alone", .key_slot = slot});
    all.push_back({.fault = fault, .detail = detail + ", values alone", .value_slot = slot});
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
    // What a page holds beyond the last token is zero, and seen.
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

namespace {

using Weights =
    std::function<std::vector<double>(const AskedCall&, std::span<const double>, std::span<const std::int64_t>)>;

// Scores cut into parts by index of the key: the parts' largest, their sums, and which part a score belongs to.
struct Parts {
  std::vector<std::size_t> part;
  std::vector<double> top, sum, count;
};

Parts cut(std::span<const double> scores, std::span<const std::int64_t> keys, std::int64_t size) {
  Parts parts;
  std::int64_t last = -1;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (parts.top.empty() || keys[i] / size != last) {
      parts.top.push_back(-HUGE_VAL);
      parts.sum.push_back(0);
      parts.count.push_back(0);
      last = keys[i] / size;
    }
    parts.part.push_back(parts.top.size() - 1);
    parts.top.back() = std::max(parts.top.back(), scores[i]);
    parts.count.back() += 1;
  }
  for (std::size_t i = 0; i < scores.size(); ++i) {
    parts.sum[parts.part[i]] += std::exp(scores[i] - parts.top[parts.part[i]]);
  }
  return parts;
}

// Each part's own softmax times what the parts get.
Weights merged(std::int64_t size, const std::function<std::vector<double>(const Parts&)>& shares) {
  return [=](const AskedCall&, std::span<const double> scores, std::span<const std::int64_t> keys) {
    const Parts parts = cut(scores, keys, size);
    const std::vector<double> share = shares(parts);
    std::vector<double> weights;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const std::size_t p = parts.part[i];
      weights.push_back(std::exp(scores[i] - parts.top[p]) / parts.sum[p] * share[p]);
    }
    return weights;
  };
}

std::vector<double> normalised(std::vector<double> shares) {
  double total = 0;
  for (const double s : shares) total += s;
  for (double& s : shares) s /= total;
  return shares;
}

template <class F>
std::vector<double> by_part(const Parts& parts, const F& f) {
  std::vector<double> all;
  for (std::size_t p = 0; p < parts.top.size(); ++p) all.push_back(f(p));
  return all;
}

}  // namespace

Models softmax_faults(const Encoding& encoding) {
  Models all;
  const auto scale = [&](const std::string& detail, double factor) {
    all.push_back({.fault = "softmax_scale", .detail = detail, .scale = factor});
  };
  double d = 16;
  if (const auto* rotation = std::get_if<Rotation>(&encoding.term())) d = static_cast<double>(rotation->head_dim);
  if (const auto* keys = std::get_if<RelativeKeys>(&encoding.term())) d = static_cast<double>(keys->head_dim);
  scale("missing", std::sqrt(d));
  scale("applied twice", 1 / std::sqrt(d));
  for (const double factor : {std::sqrt(2.0), std::sqrt(0.5), 2.0, 0.5, std::log(2.0), 1 / std::log(2.0)}) {
    scale("times " + std::to_string(factor), factor);
  }
  if (const auto* rotation = std::get_if<Rotation>(&encoding.term());
      rotation != nullptr && rotation->rotary_dim != rotation->head_dim) {
    scale("of rotary_dim", std::sqrt(d / static_cast<double>(rotation->rotary_dim)));
  }
  const auto with = [&](std::string_view fault, const std::string& detail, const Weights& weights) {
    all.push_back({.fault = fault, .detail = detail, .weights = weights});
  };
  const auto softmax_of = [](const std::function<double(double score, double top)>& f, double more) {
    return [=](const AskedCall&, std::span<const double> scores, std::span<const std::int64_t>) {
      double top = -HUGE_VAL, total = 0;
      for (const double s : scores) top = std::max(top, s);
      std::vector<double> weights;
      for (const double s : scores) weights.push_back(f(s, top)), total += weights.back();
      for (double& w : weights) w /= total + more * std::exp(-top);
      return weights;
    };
  };
  const auto e = [](double s, double top) { return std::exp(s - top); };
  with("softmax_sum", "one more in it", softmax_of(e, 1));
  with("softmax_base", "2", softmax_of([](double s, double top) { return std::exp2(s - top); }, 0));
  for (const double cap : {5.0, 10.0, 15.0, 20.0, 30.0, 50.0}) {
    with("soft_cap", std::to_string(static_cast<int>(cap)),
         softmax_of([cap](double s, double) { return std::exp(cap * std::tanh(s / cap)); }, 0));
  }
  with("softmax_missing", "not normalised",
       [](const AskedCall&, std::span<const double> scores, std::span<const std::int64_t>) {
         double top = -HUGE_VAL;
         for (const double s : scores) top = std::max(top, s);
         std::vector<double> weights;
         for (const double s : scores) weights.push_back(std::exp(s - top));
         return weights;
       });
  with("softmax_missing", "scores as they are",
       [](const AskedCall&, std::span<const double> scores, std::span<const std::int64_t>) {
         return std::vector<double>(scores.begin(), scores.end());
       });
  for (const std::int64_t size : page_sizes) {
    const std::string detail = "parts of " + std::to_string(size) + " keys";
    with("parts_averaged", detail,
         merged(size, [](const Parts& p) { return normalised(by_part(p, [](std::size_t) { return 1.0; })); }));
    with("parts_averaged", detail + ", by count", merged(size, [](const Parts& p) { return normalised(p.count); }));
    with("parts_added", detail,
         merged(size, [](const Parts& p) { return by_part(p, [](std::size_t) { return 1.0; }); }));
    with("parts_not_rescaled", detail, merged(size, [](const Parts& p) { return normalised(p.sum); }));
    with("parts_not_rescaled", detail + ", by the largest alone", merged(size, [](const Parts& p) {
           return normalised(by_part(p, [&](std::size_t i) { return std::exp(p.top[i] - p.top[0]); }));
         }));
    with("parts_lost", detail + ", all but the last", merged(size, [](const Parts& p) {
           return by_part(p, [&](std::size_t i) { return i + 1 == p.top.size() ? 1.0 : 0.0; });
         }));
    with("parts_lost", detail + ", all but the first",
         merged(size, [](const Parts& p) { return by_part(p, [&](std::size_t i) { return i == 0 ? 1.0 : 0.0; }); }));
    with("parts_lost", detail + ", the first", merged(size, [](const Parts& p) {
           if (p.top.size() == 1) return std::vector<double>{1.0};
           return normalised(
               by_part(p, [&](std::size_t i) { return i == 0 ? 0.0 : p.sum[i] * std::exp(p.top[i] - p.top[0]); }));
         }));
    with("parts_lost", detail + ", the last", merged(size, [](const Parts& p) {
           if (p.top.size() == 1) return std::vector<double>{1.0};
           return normalised(by_part(p, [&](std::size_t i) {
             return i + 1 == p.top.size() ? 0.0 : p.sum[i] * std::exp(p.top[i] - p.top[0]);
           }));
         }));
    // The running sum or the running output keeps its old scale when a larger score comes.
    const auto running = [&](const std::string& which, bool sum_rescaled, bool output_rescaled) {
      with("parts_not_rescaled", detail + ", " + which, merged(size, [=](const Parts& p) {
             double top = -HUGE_VAL, total = 0;
             std::vector<double> share(p.top.size(), 0.0);
             for (std::size_t i = 0; i < p.top.size(); ++i) {
               const double next = std::max(top, p.top[i]);
               const double old = top == -HUGE_VAL ? 0 : std::exp(top - next);
               total = total * (sum_rescaled ? old : 1) + p.sum[i] * std::exp(p.top[i] - next);
               for (std::size_t j = 0; j < i; ++j) share[j] *= output_rescaled ? old : 1;
               share[i] = p.sum[i] * std::exp(p.top[i] - next);
               top = next;
             }
             for (double& s : share) s /= total;
             return share;
           }));
    };
    running("the running sum", false, true);
    running("the running output", true, false);
    running("the running sum and output", false, false);
    with("parts_wrong_base", detail, merged(size, [](const Parts& p) {
           return normalised(
               by_part(p, [&](std::size_t i) { return std::exp2(p.top[i] - p.top[0] + std::log(p.sum[i])); }));
         }));
  }
  return all;
}

}  // namespace locus::doctor
