// SPDX-License-Identifier: Apache-2.0
// Faults of masks, packing, paging, groups of heads, merging and the softmax.
#include "doctor/mutants/lists.h"

namespace mutants {
namespace {

using locus::AttendRequest;
using std::int64_t;
using Strings = std::vector<std::string>;
using Mask = std::function<bool(const AttendRequest&, int64_t, int64_t, bool)>;

std::size_t u(int64_t i) { return static_cast<std::size_t>(i); }

bool sees_without(const AttendRequest& r, int64_t i, int64_t j, bool causal, bool documents, bool padding) {
  AttendRequest other = r;
  if (!causal) other.causal = false;
  if (!documents) other.query_boundaries = other.key_boundaries = {};
  if (!padding) other.key_mask = {};
  return Attention::sees(other, i, j);
}

void masks(List& list) {
  const auto add = [&](const std::string& site, const std::string& name, const Mask& mask, const Strings& faults) {
    for (const Pair& pair : {half(), none(), alibi(8)}) {
      if (site == "packing" && pair.name == "none") continue;
      Attention plain = pair.plain;
      plain.mask = mask;
      list.attend(site, name, pair, plain, faults);
    }
  };
  add("masks", "not causal",
      [](const AttendRequest& r, int64_t i, int64_t j, bool) { return sees_without(r, i, j, false, true, true); },
      {"mask_not_causal"});
  add("masks", "not itself",
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return seen && r.key_ids[u(j)] != r.query_ids[u(i)];
      },
      {"mask_off_by_one"});
  add("masks", "the next one too",
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return seen || (sees_without(r, i, j, false, true, true) && r.key_ids[u(j)] == r.query_ids[u(i)] + 1);
      },
      {"mask_off_by_one"});
  add("masks", "queries at the first keys",
      [](const AttendRequest& r, int64_t i, int64_t j, bool) {
        return sees_without(r, i, j, false, true, true) && j <= i;
      },
      {"mask_from_the_first_key"});
  add("masks", "transposed",
      [](const AttendRequest& r, int64_t i, int64_t j, bool) {
        return sees_without(r, i, j, false, true, true) && r.key_ids[u(j)] >= r.query_ids[u(i)];
      },
      {"mask_transposed"});
  add("masks", "not causal in chunks",
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return r.cached > 0 ? sees_without(r, i, j, false, true, true) : seen;
      },
      {"mask_not_causal"});
  for (const int window : {16, 32, 64, 128, 256, 512, 1024, 2048, 4096}) {
    add("masks", "window of " + std::to_string(window),
        [=](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
          return seen && r.query_ids[u(i)] - r.key_ids[u(j)] < window;
        },
        {"window_applied"});
    if (window < 300)
      add("masks", "window of " + std::to_string(window) + " by index",
          [=](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
            return seen && i + r.keys - r.queries - j < window;
          },
          {"window_applied"});
    add("masks", "keys beyond " + std::to_string(window),
        [=](const AttendRequest&, int64_t, int64_t j, bool seen) { return seen && j < window; }, {"keys_lost"});
  }
  add("masks", "padding seen",
      [](const AttendRequest& r, int64_t i, int64_t j, bool) { return sees_without(r, i, j, true, true, false); },
      {"padding_seen"});
  add("masks", "padding seen in decode",
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return r.queries == 1 ? sees_without(r, i, j, true, true, false) : seen;
      },
      {"padding_seen"});
  add("masks", "padding inverted",
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return r.key_mask.empty() ? seen : sees_without(r, i, j, true, true, false) && r.key_mask[u(j)] == 0;
      },
      {"padding_mask_inverted"});
  add("masks", "padding off by one",
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return r.key_mask.empty()
                   ? seen
                   : sees_without(r, i, j, true, true, false) && r.key_mask[u(std::min(j + 1, r.keys - 1))] != 0;
      },
      {"padding_off_by_one"});
  add("masks", "first key lost", [](const AttendRequest&, int64_t, int64_t j, bool seen) { return seen && j > 0; },
      {"keys_lost"});
  add("masks", "last key lost",
      [](const AttendRequest& r, int64_t, int64_t j, bool seen) { return seen && (j < r.keys - 1 || r.keys == 1); },
      {"keys_lost"});
  add("masks", "cached keys lost",
      [](const AttendRequest& r, int64_t, int64_t j, bool seen) { return seen && j >= r.cached; }, {"keys_lost"});
  add("masks", "negative keys lost",
      [](const AttendRequest& r, int64_t, int64_t j, bool seen) { return seen && r.key_ids[u(j)] >= 0; },
      {"keys_lost"});
  add("masks", "negative future seen",
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return seen || (r.key_ids[u(j)] < 0 && sees_without(r, i, j, false, true, true));
      },
      {"future_seen_below_zero"});
  add("masks", "blocks of 16 whole",
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return seen || (sees_without(r, i, j, false, true, true) && j / 16 <= (i + r.keys - r.queries) / 16);
      },
      {"mask_by_blocks"});
  add("masks", "own block of 64 alone",
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return seen && j / 64 == (i + r.keys - r.queries) / 64;
      },
      {"mask_by_blocks"});
  add("packing", "documents seen",
      [](const AttendRequest& r, int64_t i, int64_t j, bool) { return sees_without(r, i, j, true, false, true); },
      {"documents_seen"});
  add("packing", "documents seen, by index",
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return r.key_boundaries.empty() ? seen : j <= i + r.keys - r.queries;
      },
      {"documents_seen"});
  add("packing", "not causal in documents",
      [](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return r.key_boundaries.empty() ? seen : sees_without(r, i, j, false, true, true);
      },
      {"mask_not_causal"});
  const auto document = [](std::span<const int64_t> b, int64_t token, int64_t step) {
    int64_t n = 0;
    for (std::size_t d = 1; d + 1 < b.size(); ++d) n += token >= b[d] + step ? 1 : 0;
    return n;
  };
  for (const int64_t step : {1, -1}) {
    add("packing", "boundaries of keys " + std::to_string(step),
        [=](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
          return r.key_boundaries.empty()
                     ? seen
                     : sees_without(r, i, j, true, false, true) &&
                           document(r.query_boundaries, i, 0) == document(r.key_boundaries, j, step);
        },
        {"document_boundary_off_by_one"});
    add("packing", "boundaries " + std::to_string(step),
        [=](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
          return r.key_boundaries.empty()
                     ? seen
                     : sees_without(r, i, j, true, false, true) &&
                           document(r.query_boundaries, i, step) == document(r.key_boundaries, j, step);
        },
        {"document_boundary_off_by_one"});
  }
  add("packing", "last boundary lost",
      [=](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        if (r.key_boundaries.size() < 3) return seen;
        return sees_without(r, i, j, true, false, true) &&
               document(r.query_boundaries.first(r.query_boundaries.size() - 1), i, 0) ==
                   document(r.key_boundaries.first(r.key_boundaries.size() - 1), j, 0);
      },
      {"document_boundary_lost"});
  add("packing", "earlier documents seen",
      [=](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
        return seen || (sees_without(r, i, j, true, false, true) &&
                        document(r.key_boundaries, j, 0) < document(r.query_boundaries, i, 0));
      },
      {"documents_seen"});
}

void windows(List& list) {
  for (const int64_t window : {16, 64, 1024}) {
    const locus::VerifyOptions options{.window = window};
    const auto add = [&](const std::string& name, const Mask& mask, const Strings& faults) {
      const Pair pair = half();
      Attention plain = pair.plain;
      plain.mask = mask;
      list.attend("masks", name + ", window " + std::to_string(window), pair, plain, faults, options);
    };
    const auto with = [](AttendRequest r, int64_t i, int64_t j, int64_t size) {
      r.window = size;
      return Attention::sees(r, i, j);
    };
    add("window missing", [=](const AttendRequest& r, int64_t i, int64_t j, bool) { return with(r, i, j, 0); },
        {"window_missing"});
    add("window and one",
        [=](const AttendRequest& r, int64_t i, int64_t j, bool) { return with(r, i, j, r.window + 1); },
        {"window_off_by_one"});
    add("window less one",
        [=](const AttendRequest& r, int64_t i, int64_t j, bool) { return with(r, i, j, r.window - 1); },
        {"window_off_by_one"});
    add("window by index",
        [=](const AttendRequest& r, int64_t i, int64_t j, bool) {
          return with(r, i, j, 0) && i + r.keys - r.queries - j < r.window;
        },
        {"window_by_index"});
    add("sinks stay",
        [=](const AttendRequest& r, int64_t i, int64_t j, bool seen) { return seen || (j < 4 && with(r, i, j, 0)); },
        {"window_wrong"});
    add("window not in decode",
        [=](const AttendRequest& r, int64_t i, int64_t j, bool seen) {
          return r.queries == 1 ? with(r, i, j, 0) : seen;
        },
        {"window_missing"});
  }
}

void groups(List& list) {
  using Map = std::function<int64_t(int64_t, int64_t, int64_t)>;
  const auto add = [&](const std::string& name, const Map& keys, const Map& values, const Strings& faults) {
    for (const Pair& pair : {half(), none(), t5(false)}) {
      Attention plain = pair.plain;
      plain.key_head = keys;
      plain.value_head = values;
      list.attend("GQA", name, pair, plain, faults);
    }
  };
  const Map tiled = [](int64_t h, int64_t, int64_t k) { return h % k; };
  const Map first = [](int64_t, int64_t, int64_t) { return int64_t{0}; };
  const Map reversed = [](int64_t h, int64_t n, int64_t k) { return k - 1 - h / (n / k); };
  const Map same = [](int64_t h, int64_t, int64_t k) { return std::min(h, k - 1); };
  const Map next = [](int64_t h, int64_t n, int64_t k) { return (h / (n / k) + 1) % k; };
  const Map bigger = [](int64_t h, int64_t n, int64_t k) { return h / (n / k + 1); };
  const Map fixed = [](int64_t h, int64_t, int64_t k) { return std::min<int64_t>(h / 2, k - 1); };
  const Map by_count = [](int64_t h, int64_t, int64_t k) { return h / k % k; };
  add("tiled", tiled, tiled, {"heads_tiled"});
  add("keys tiled", tiled, {}, {"heads_tiled"});
  add("values tiled", {}, tiled, {"heads_tiled"});
  add("first alone", first, first, {"one_key_head"});
  add("first value alone", {}, first, {"one_key_head"});
  add("reversed", reversed, reversed, {"wrong_heads"});
  add("not divided", same, same, {"group_size_wrong"});
  add("the next one", next, next, {"wrong_heads"});
  add("one more in a group", bigger, bigger, {"group_size_wrong"});
  add("groups of 2", fixed, fixed, {"group_size_wrong"});
  add("divided by the key heads", by_count, by_count, {"group_size_wrong"});
}

void pages(List& list) {
  using Slot = std::function<int64_t(const AttendRequest&, int64_t)>;
  const auto add = [&](const std::string& name, int64_t page, const Slot& keys, const Slot& values,
                       const Strings& faults) {
    for (const Pair& pair : {half(), alibi(8)}) {
      Attention plain = pair.plain;
      plain.key_slot = keys;
      plain.value_slot = values;
      list.attend("paging", name + ", pages of " + std::to_string(page), pair, plain, faults);
    }
  };
  const auto lost = [&](const std::string& name, int64_t page, const Mask& mask, const Strings& faults) {
    const Pair pair = half();
    Attention plain = pair.plain;
    plain.mask = mask;
    list.attend("paging", name + ", pages of " + std::to_string(page), pair, plain, faults);
  };
  for (const int64_t page : {16, 32, 64, 128, 256}) {
    const Slot first = [=](const AttendRequest&, int64_t j) { return j % page; };
    const Slot before = [=](const AttendRequest&, int64_t j) { return j < page ? j : j - page; };
    const Slot shifted = [=](const AttendRequest&, int64_t j) { return j >= page ? j - 1 : j; };
    const Slot zero = [=](const AttendRequest&, int64_t j) { return j >= page ? int64_t{-1} : j; };
    add("first page again", page, first, first, {"page_repeated"});
    add("page before", page, before, before, {"page_repeated"});
    add("values of the page before", page, {}, before, {"page_repeated"});
    add("one slot off", page, shifted, shifted, {"page_shifted"});
    add("zeros", page, zero, zero, {"page_zero"});
    lost("part of a page lost", page,
         [=](const AttendRequest& r, int64_t, int64_t j, bool seen) {
           return seen && (r.keys < page || j < r.keys / page * page);
         },
         {"page_lost"});
    lost("first page lost", page,
         [=](const AttendRequest& r, int64_t, int64_t j, bool seen) { return seen && (r.keys <= page || j >= page); },
         {"page_lost"});
    lost("last of a page lost", page,
         [=](const AttendRequest&, int64_t, int64_t j, bool seen) { return seen && j % page != page - 1; },
         {"page_edge_lost"});
    if (page < 256) {
      const Slot swapped = [=](const AttendRequest& r, int64_t j) {
        return r.keys < 2 * page || j >= 2 * page ? j : j < page ? j + page : j - page;
      };
      add("first two swapped", page, swapped, swapped, {"pages_swapped"});
    }
    const Pair pair = half();
    Attention rest = pair.plain;
    rest.zero_rest = static_cast<int>(page);
    list.attend("paging", "rest of the page seen, pages of " + std::to_string(page), pair, rest, {"page_rest_seen"});
    // Engines with their own cache.
    const auto engine = [&](const std::string& name, const Strings& faults,
                            const std::function<void(PagedEngine&)>& change) {
      PagedEngine one;
      one.attention = pair.plain;
      one.page = page;
      change(one);
      list.attend("paging", name + ", pages of " + std::to_string(page), pair, one, faults);
    };
    engine("cached keys rotated again", {"cached_rotated_twice"}, [](PagedEngine& e) { e.cached_turns = 1; });
    engine("off by one per page", {"off_by_one_per_page"}, [](PagedEngine& e) { e.id_offset_per_page = 1; });
    engine("appended one slot late", {"page_shifted"}, [](PagedEngine& e) { e.append_offset = 1; });
    if (page > 32) continue;
    engine("shared page written", {"forked_cache_shared"}, [](PagedEngine& e) { e.copies_shared_pages = false; });
    engine("off by one after a fork", {"off_by_one_after_a_fork"}, [](PagedEngine& e) { e.id_offset_after_fork = 1; });
    engine("parent lost", {"parent_zero"}, [](PagedEngine& e) { e.loses_parent = true; });
    engine("off by one in decode", {"off_by_one_in_decode"}, [](PagedEngine& e) { e.query_offset_in_decode = -1; });
    engine("ids from the length", {"ids_ignored"}, [](PagedEngine& e) { e.ids_from_length = true; });
  }
  const Slot late = [](const AttendRequest&, int64_t j) { return std::max<int64_t>(j - 1, 0); };
  const Slot back = [](const AttendRequest& r, int64_t j) { return r.keys - 1 - j; };
  const Slot stale = [](const AttendRequest& r, int64_t j) {
    return r.queries == 1 && j == r.keys - 1 ? std::max<int64_t>(j - 1, 0) : j;
  };
  add("values of the token before", 1, {}, late, {"values_shifted"});
  add("values backwards", 1, {}, back, {"keys_reversed"});
  add("new key not written", 1, stale, stale, {"new_key_lost"});
}

void merging(List& list) {
  using Merge = Attention::Merge;
  for (const int64_t part : {16, 32, 64, 128, 256}) {
    const auto add = [&](const std::string& name, Merge merge, const Strings& faults) {
      for (const Pair& pair : {half(), alibi(8)}) {
        Attention plain = pair.plain;
        plain.part = part;
        plain.merge = merge;
        list.attend("merging", name + ", parts of " + std::to_string(part), pair, plain, faults);
      }
    };
    add("averaged", Merge::averaged, {"parts_averaged"});
    add("averaged by count", Merge::averaged_by_count, {"parts_averaged"});
    add("added", Merge::added, {"parts_added"});
    add("sum not rescaled", Merge::sum_not_rescaled, {"parts_not_rescaled"});
    add("output not rescaled", Merge::output_not_rescaled, {"parts_not_rescaled"});
    add("own sums", Merge::by_own_sum, {"parts_not_rescaled"});
    add("largest alone", Merge::by_largest, {"parts_not_rescaled"});
    add("last alone", Merge::last_only, {"parts_lost", "mask_by_blocks"});
    add("first alone", Merge::first_only, {"parts_lost", "keys_lost"});
    add("base 2", Merge::base_two, {"parts_wrong_base"});
  }
  const auto softmax = [&](const std::string& name, const Strings& faults,
                           const std::function<void(Attention&)>& change) {
    for (const Pair& pair : {half(), none(), alibi(8)}) {
      Attention plain = pair.plain;
      change(plain);
      list.attend("merging", name, pair, plain, faults);
    }
  };
  // Equal to queries and keys of twice or half the length.
  softmax("scale missing", {"softmax_scale", "magnitude_wrong"}, [](Attention& a) { a.scale = 1; });
  softmax("scale twice", {"softmax_scale", "magnitude_wrong"}, [](Attention& a) { a.scale = 1.0 / 16; });
  softmax("one more in the sum", {"softmax_sum"}, [](Attention& a) { a.extra_in_sum = 1; });
  softmax("soft cap of 10", {"soft_cap"}, [](Attention& a) { a.cap = 10; });
  softmax("log-sum-exp off", {"uniform_score"}, [](Attention& a) {
    a.fills_lse = true;
    a.lse_shift = 0.5;
  });
}

}  // namespace

void plant_in_attention(List& list) {
  masks(list);
  windows(list);
  groups(list);
  pages(list);
  merging(list);
}

}  // namespace mutants
