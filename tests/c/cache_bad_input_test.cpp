// SPDX-License-Identifier: Apache-2.0
// Bad input for the cache.
#include "c/bad_input.h"

namespace locus {
namespace {

using namespace locus::testing;

// The cache has one page, of 16 tokens, two of which are used: what needs another one is refused.
void add_full_cache_cases(Cases& all) {
  static std::vector<float> numbers(15 * 2 * 8, 1.0f);
  static const std::vector<std::int64_t> rising = [] {
    std::vector<std::int64_t> ids;
    for (std::int64_t t = 0; t < 15; ++t) ids.push_back(10 + t);
    return ids;
  }();
  static const locus_heads many = {numbers.data(), LOCUS_FLOAT32, 1, 15, 2, 8, 0, 16, 8};
  all.emplace("locus_cache_append", [](World& w) {
    return locus_cache_append(w.cache.get(), w.sequence, &many, &many, c_span(rising), nullptr);
  });
  all.emplace("locus_cache_append_tree", [](World& w) {
    return locus_cache_append_tree(w.cache.get(), w.sequence, &many, &many, c_span(rising), nullptr);
  });
  all.emplace("locus_cache_append_tokens", [](World& w) {
    const locus_new_tokens tokens = {sizeof(locus_new_tokens), many, many, c_span(rising), 0, {}};
    return locus_cache_append_tokens(w.cache.get(), w.sequence, &tokens, nullptr);
  });
  // A fork that moves or drops tokens in the middle copies the page that it shares.
  const auto of_fork = [](const std::function<int(locus_cache*, std::int64_t)>& change) {
    return [change](World& w) {
      std::int64_t fork = -1;
      EXPECT_OK(locus_cache_fork(w.cache.get(), w.sequence, &fork));
      const int status = change(w.cache.get(), fork);
      EXPECT_OK(locus_cache_drop(w.cache.get(), fork));
      return status;
    };
  };
  all.emplace("locus_cache_settle", of_fork([](locus_cache* cache, std::int64_t fork) {
                EXPECT_OK(locus_cache_shift(cache, fork, 1));
                return locus_cache_settle(cache, fork);
              }));
  all.emplace("locus_cache_keep", of_fork([](locus_cache* cache, std::int64_t fork) {
                static const std::int64_t second = 1;
                return locus_cache_keep(cache, fork, 0, {&second, 1});
              }));
  // Ids out of range, another element type, another table.
  static const std::int64_t beyond[2] = {max_position, max_position + 1};
  all.emplace("locus_cache_append", [](World& w) {
    return locus_cache_append(w.cache.get(), w.sequence, &w.view, &w.out, {beyond, 2}, nullptr);
  });
  all.emplace("locus_cache_append_tree", [](World& w) {
    return locus_cache_append_tree(w.cache.get(), w.sequence, &w.view, &w.out, {beyond, 2}, nullptr);
  });
  static const std::int64_t next[2] = {10, 11};
  all.emplace("locus_cache_append", [](World& w) {
    const locus_heads half = changed(w.view, [](locus_heads& v) { v.type = LOCUS_FLOAT16; });
    return locus_cache_append(w.cache.get(), w.sequence, &half, &half, {next, 2}, nullptr);
  });
  all.emplace("locus_cache_set_encoding", [](World& w) {
    const OwnedEncoding other = c_encoding("rope", {{"head_dim", 8}, {"pairing", "half"}, {"base", 500}});
    return locus_cache_set_encoding(w.cache.get(), other.get(), 0);
  });
  all.emplace("locus_cache_set_encoding", [](World& w) {
    const OwnedEncoding wider = c_encoding("rope", {{"head_dim", 16}, {"pairing", "half"}});
    return locus_cache_set_encoding(w.cache.get(), wider.get(), 1);
  });
  // Ranges beyond the two tokens.
  all.emplace("locus_cache_truncate", [](World& w) { return locus_cache_truncate(w.cache.get(), w.sequence, -1); });
  all.emplace("locus_cache_keep", [](World& w) {
    static const std::int64_t third = 2;
    return locus_cache_keep(w.cache.get(), w.sequence, 0, {&third, 1});
  });
  all.emplace("locus_cache_shift_range", [](World& w) {
    static const std::int64_t delta = 1;
    return locus_cache_shift_range(w.cache.get(), w.sequence, 1, 3, {&delta, 1});
  });
  all.emplace("locus_cache_shift", [](World& w) { return locus_cache_shift(w.cache.get(), w.sequence, max_position); });
  all.emplace("locus_cache_divide", [](World& w) { return locus_cache_divide(w.cache.get(), w.sequence, 0, 3, 2); });
}

void add_cache_cases(Cases& all) {
  static locus_cache* c = nullptr;
  static locus_cached* gathered = nullptr;
  static std::int64_t number = 0;
  all.emplace("locus_cache_new", [](World& w) { return locus_cache_new(nullptr, &w.shape, &c); });
  all.emplace("locus_cache_new", [](World& w) { return locus_cache_new(w.rope.get(), &w.shape, nullptr); });
  all.emplace("locus_cache_new", [](World& w) {
    const std::vector<locus_cache_shape> bad = {changed(w.shape, [](locus_cache_shape& s) { s.capacity = 0; }),
                                                changed(w.shape, [](locus_cache_shape& s) { s.capacity = INT64_MAX; }),
                                                changed(w.shape, [](locus_cache_shape& s) { s.heads = INT64_MAX; }),
                                                changed(w.shape, [](locus_cache_shape& s) { s.heads = 0; }),
                                                changed(w.shape, [](locus_cache_shape& s) { s.type = LOCUS_FLOAT64; }),
                                                changed(w.shape, [](locus_cache_shape& s) { s.type = 12; }),
                                                changed(w.shape, [](locus_cache_shape& s) { s.page_size = 15; }),
                                                changed(w.shape, [](locus_cache_shape& s) { s.page_size = 257; }),
                                                changed(w.shape, [](locus_cache_shape& s) { s.head_dim = 6; })};
    return each(bad, [&](const locus_cache_shape* s) { return locus_cache_new(w.rope.get(), s, &c); });
  });
  // Every function of a cache: no cache, a handle of another kind, an unknown sequence, a freed one.
  const auto add = [&](const char* name, const std::function<int(World&, locus_cache*, std::int64_t)>& call) {
    all.emplace(name, [call](World& w) { return call(w, nullptr, w.sequence); });
    all.emplace(name, [call](World& w) { return call(w, as<locus_cache>(w.plan.get()), w.sequence); });
    if (std::set<std::string>{"locus_cache_create", "locus_cache_free_pages", "locus_cache_set_encoding"}.contains(
            name)) {
      return;
    }
    all.emplace(name, [call](World& w) { return call(w, w.cache.get(), -1); });
    all.emplace(name, [call](World& w) { return call(w, w.cache.get(), 77); });
    all.emplace(name, [call](World& w) {
      std::int64_t freed = -1;
      EXPECT_OK(locus_cache_create(w.cache.get(), &freed));
      EXPECT_OK(locus_cache_drop(w.cache.get(), freed));
      return call(w, w.cache.get(), freed);
    });
  };
  using Sequence = std::int64_t;
  add("locus_cache_create", [](World&, locus_cache* h, Sequence) { return locus_cache_create(h, &number); });
  add("locus_cache_fork", [](World&, locus_cache* h, Sequence s) { return locus_cache_fork(h, s, &number); });
  add("locus_cache_drop", [](World&, locus_cache* h, Sequence s) { return locus_cache_drop(h, s); });
  add("locus_cache_length", [](World&, locus_cache* h, Sequence s) { return locus_cache_length(h, s, &number); });
  add("locus_cache_free_pages", [](World&, locus_cache* h, Sequence) { return locus_cache_free_pages(h, &number); });
  add("locus_cache_pages_for",
      [](World&, locus_cache* h, Sequence s) { return locus_cache_pages_for(h, s, 1, &number); });
  add("locus_cache_keep", [](World&, locus_cache* h, Sequence s) { return locus_cache_keep(h, s, 0, {nullptr, 0}); });
  add("locus_cache_shift_range", [](World&, locus_cache* h, Sequence s) {
    static const std::int64_t delta = 1;
    return locus_cache_shift_range(h, s, 0, 1, {&delta, 1});
  });
  add("locus_cache_attend", [](World& w, locus_cache* h, Sequence s) {
    const locus_cache_queries one = {sizeof one, s, w.view, w.out, {}, {}, nullptr, {}, {}};
    auto call = sized<locus_cache_attention>();
    call.queries = &one;
    call.count = 1;
    return locus_cache_attend(h, &call);
  });
  add("locus_cache_append", [](World& w, locus_cache* h, Sequence s) {
    static const std::int64_t next[2] = {10, 11};
    return locus_cache_append(h, s, &w.view, &w.out, {next, 2}, nullptr);
  });
  add("locus_cache_append_tree", [](World& w, locus_cache* h, Sequence s) {
    static const std::int64_t drafts[2] = {10, 10};
    return locus_cache_append_tree(h, s, &w.view, &w.out, {drafts, 2}, nullptr);
  });
  add("locus_cache_set_encoding",
      [](World& w, locus_cache* h, Sequence) { return locus_cache_set_encoding(h, w.rope.get(), 0); });
  add("locus_cache_truncate", [](World&, locus_cache* h, Sequence s) { return locus_cache_truncate(h, s, 1); });
  add("locus_cache_slide", [](World&, locus_cache* h, Sequence s) { return locus_cache_slide(h, s, 0, 1, 1); });
  add("locus_cache_shift", [](World&, locus_cache* h, Sequence s) { return locus_cache_shift(h, s, 1); });
  add("locus_cache_relocate", [](World&, locus_cache* h, Sequence s) { return locus_cache_relocate(h, s, 0, 1, 0); });
  add("locus_cache_divide", [](World&, locus_cache* h, Sequence s) { return locus_cache_divide(h, s, 0, 1, 2); });
  add("locus_cache_settle", [](World&, locus_cache* h, Sequence s) { return locus_cache_settle(h, s); });
  add("locus_cache_gather", [](World&, locus_cache* h, Sequence s) { return locus_cache_gather(h, s, &gathered); });
  // Bad arguments of single functions.
  all.emplace("locus_cache_create", [](World& w) { return locus_cache_create(w.cache.get(), nullptr); });
  all.emplace("locus_cache_fork", [](World& w) { return locus_cache_fork(w.cache.get(), w.sequence, nullptr); });
  all.emplace("locus_cache_length", [](World& w) { return locus_cache_length(w.cache.get(), w.sequence, nullptr); });
  all.emplace("locus_cache_free_pages", [](World& w) { return locus_cache_free_pages(w.cache.get(), nullptr); });
  all.emplace("locus_cache_pages_for",
              [](World& w) { return locus_cache_pages_for(w.cache.get(), w.sequence, 1, nullptr); });
  all.emplace("locus_cache_pages_for",
              [](World& w) { return locus_cache_pages_for(w.cache.get(), w.sequence, -1, &number); });
  all.emplace("locus_cache_keep", [](World& w) {
    static const std::int64_t indices[2] = {1, 1};
    return locus_cache_keep(w.cache.get(), w.sequence, 0, {indices, 2});
  });
  all.emplace("locus_cache_shift_range", [](World& w) {
    static const std::int64_t deltas[2] = {1, 1};
    return locus_cache_shift_range(w.cache.get(), w.sequence, 0, 1, {deltas, 2});
  });
  const auto attend = [](World& w, const std::function<void(locus_cache_queries&, locus_cache_attention&)>& spoil) {
    locus_cache_queries one = {sizeof one, w.sequence, w.view, w.out, {}, {}, nullptr, {}, {}};
    auto call = sized<locus_cache_attention>();
    call.queries = &one;
    call.count = 1;
    spoil(one, call);
    return locus_cache_attend(w.cache.get(), &call);
  };
  all.emplace("locus_cache_attend", [](World& w) { return locus_cache_attend(w.cache.get(), nullptr); });
  all.emplace("locus_cache_attend", [attend](World& w) {
    return attend(w, [](locus_cache_queries&, locus_cache_attention& call) { call.queries = nullptr; });
  });
  all.emplace("locus_cache_attend", [attend](World& w) {
    return attend(w, [](locus_cache_queries&, locus_cache_attention& call) { call.count = -1; });
  });
  all.emplace("locus_cache_attend", [attend](World& w) {
    return attend(w, [](locus_cache_queries& one, locus_cache_attention&) { one.query.type = LOCUS_BFLOAT16; });
  });
  all.emplace("locus_cache_attend", [attend](World& w) {
    static const std::uint8_t tree[1] = {1};
    return attend(w, [](locus_cache_queries& one, locus_cache_attention&) { one.tree = {tree, 1}; });
  });
  all.emplace("locus_cache_attend", [attend](World& w) {
    return attend(w, [](locus_cache_queries&, locus_cache_attention& call) { call.window = -1; });
  });
  all.emplace("locus_cache_gather", [](World& w) { return locus_cache_gather(w.cache.get(), w.sequence, nullptr); });
  all.emplace("locus_cache_set_encoding", [](World& w) { return locus_cache_set_encoding(w.cache.get(), nullptr, 1); });
  all.emplace("locus_cache_set_encoding",
              [](World& w) { return locus_cache_set_encoding(w.cache.get(), w.alibi.get(), 1); });
  all.emplace("locus_cache_truncate", [](World& w) { return locus_cache_truncate(w.cache.get(), w.sequence, 3); });
  all.emplace("locus_cache_slide", [](World& w) { return locus_cache_slide(w.cache.get(), w.sequence, -1, 1, 1); });
  all.emplace("locus_cache_shift", [](World& w) { return locus_cache_shift(w.cache.get(), w.sequence, INT64_MIN); });
  all.emplace("locus_cache_relocate",
              [](World& w) { return locus_cache_relocate(w.cache.get(), w.sequence, 1, 3, 0); });
  all.emplace("locus_cache_relocate",
              [](World& w) { return locus_cache_relocate(w.cache.get(), w.sequence, 0, 2, INT64_MAX); });
  all.emplace("locus_cache_divide", [](World& w) { return locus_cache_divide(w.cache.get(), w.sequence, 0, 1, 0); });
  const auto append = [](World& w, const locus_heads* k, const locus_heads* v, locus_span_i64 ids) {
    return locus_cache_append(w.cache.get(), w.sequence, k, v, ids, nullptr);
  };
  static const std::int64_t next[2] = {10, 11};
  all.emplace("locus_cache_append", [append](World& w) {
    return each(bad_views(w), [&](const locus_heads* v) { return append(w, v, &w.out, {next, 2}); });
  });
  all.emplace("locus_cache_append", [append](World& w) {
    return each(bad_views(w), [&](const locus_heads* v) { return append(w, &w.view, v, {next, 2}); });
  });
  for (const locus_span_i64 ids : {locus_span_i64{nullptr, 2}, {next, 1}, {next, -2}}) {
    all.emplace("locus_cache_append", [append, ids](World& w) { return append(w, &w.view, &w.out, ids); });
  }
  all.emplace("locus_cache_append", [append](World& w) { return append(w, &w.view, &w.out, c_span(w.positions)); });
  all.emplace("locus_cache_append_tree", [](World& w) {
    return locus_cache_append_tree(w.cache.get(), w.sequence, &w.view, &w.out, {next, 1}, nullptr);
  });
  add("locus_cache_append_tokens", [](World& w, locus_cache* h, Sequence s) {
    const locus_new_tokens tokens = {sizeof tokens, w.view, w.out, {next, 2}, 0, {}};
    return locus_cache_append_tokens(h, s, &tokens, nullptr);
  });
  all.emplace("locus_cache_append_tokens",
              [](World& w) { return locus_cache_append_tokens(w.cache.get(), w.sequence, nullptr, nullptr); });
  all.emplace("locus_cache_append_tokens", [](World& w) {  // RoPE takes no numbers from tokens
    const locus_new_tokens tokens = {sizeof tokens, w.view, w.out, {next, 2}, 0, w.view};
    return locus_cache_append_tokens(w.cache.get(), w.sequence, &tokens, nullptr);
  });
  all.emplace("locus_cache_attend", [attend](World& w) {
    return attend(w, [&](locus_cache_queries& one, locus_cache_attention&) { one.key_numbers = w.view; });
  });
  static double last[2];
  add("locus_cache_last_numbers", [](World&, locus_cache* h, Sequence s) {
    return locus_cache_last_numbers(h, s, {last, 2});
  });
  all.emplace("locus_cache_last_numbers", [](World& w) {
    return locus_cache_last_numbers(w.cache.get(), w.sequence, {last, 2});
  });
  static auto view = sized<locus_cached_view>();
  all.emplace("locus_cached_get", [](World&) { return locus_cached_get(nullptr, &view); });
  all.emplace("locus_cached_get", [](World& w) { return locus_cached_get(w.cached.get(), nullptr); });
  all.emplace("locus_cached_get", [](World& w) { return locus_cached_get(as<locus_cached>(w.cache.get()), &view); });
  add_full_cache_cases(all);
}
const AddedCases added_cache_cases(add_cache_cases);

}  // namespace
}  // namespace locus
