// SPDX-License-Identifier: Apache-2.0
// The KV cache.
#include "locus/cache.h"

#include <algorithm>
#include <vector>

#include "convert.h"
#include "handles.h"
#include "sized.h"

namespace locus::c {
namespace {

HeadsView numbers_of(const locus_heads& numbers, const char* name) {  // data NULL: none
  return numbers.data == nullptr ? HeadsView{} : heads_of(numbers, name);
}

KvCache& cache_of(locus_cache* handle) { return valid(handle, "cache").cache; }
const KvCache& cache_of(const locus_cache* handle) { return valid(handle, "cache").cache; }

}  // namespace
}  // namespace locus::c

using namespace locus::c;

extern "C" {

int locus_cache_new(const locus_encoding* encoding, const locus_cache_shape* shape, locus_cache** out) {
  return give(out, [&] {
    const locus_cache_shape given = read_sized(shape, "shape");
    return new locus_cache{
        .cache = locus::KvCache(encoding_of(encoding),
                                {.capacity = given.capacity,
                                 .heads = given.heads,
                                 .head_dim = given.head_dim,
                                 .type = type_of("shape", given.type),
                                 .form = given.raw_keys != 0 ? locus::KeyForm::raw : locus::KeyForm::rotated,
                                 .storage = given.int8 != 0 ? locus::KvStorage::int8 : locus::KvStorage::elements,
                                 .page_size = given.page_size == 0 ? 64 : given.page_size,
                                 .share_equal_pages = given.share_equal_pages != 0})};
  });
}

void locus_cache_free(locus_cache* cache) { release(cache); }

int locus_cache_create(locus_cache* cache, int64_t* sequence) {
  return guarded([&] {
    int64_t& place = at(sequence, "sequence");
    place = cache_of(cache).create();
  });
}

int locus_cache_fork(locus_cache* cache, int64_t sequence, int64_t* forked) {
  return guarded([&] {
    int64_t& place = at(forked, "forked");
    place = cache_of(cache).fork(sequence);
  });
}

int locus_cache_drop(locus_cache* cache, int64_t sequence) {
  return guarded([&] { cache_of(cache).free(sequence); });
}

int locus_cache_length(const locus_cache* cache, int64_t sequence, int64_t* length) {
  return guarded([&] { at(length, "length") = cache_of(cache).length(sequence); });
}

int locus_cache_free_pages(const locus_cache* cache, int64_t* pages) {
  return guarded([&] { at(pages, "pages") = cache_of(cache).free_pages(); });
}

int locus_cache_pages_for(const locus_cache* cache, int64_t sequence, int64_t tokens, int64_t* pages) {
  return guarded([&] { at(pages, "pages") = cache_of(cache).pages_for(sequence, tokens); });
}

int locus_cache_append(locus_cache* cache, int64_t sequence, const locus_heads* keys, const locus_heads* values,
                       locus_span_i64 ids, locus_pool* pool) {
  return guarded([&] {
    cache_of(cache).append(
        sequence, {.keys = heads_of(keys, "keys"), .values = heads_of(values, "values"), .ids = span_of(ids, "ids")},
        executor_of(pool));
  });
}

int locus_cache_append_tree(locus_cache* cache, int64_t sequence, const locus_heads* keys, const locus_heads* values,
                            locus_span_i64 ids, locus_pool* pool) {
  return guarded([&] {
    cache_of(cache).append(sequence,
                           {.keys = heads_of(keys, "keys"),
                            .values = heads_of(values, "values"),
                            .ids = span_of(ids, "ids"),
                            .any_order = true},
                           executor_of(pool));
  });
}

int locus_cache_append_tokens(locus_cache* cache, int64_t sequence, const locus_new_tokens* tokens, locus_pool* pool) {
  return guarded([&] {
    const locus_new_tokens given = read_sized(tokens, "tokens");
    cache_of(cache).append(sequence,
                           {.keys = heads_of(given.keys, "keys"),
                            .values = heads_of(given.values, "values"),
                            .ids = span_of(given.ids, "ids"),
                            .any_order = given.any_order != 0,
                            .numbers = numbers_of(given.numbers, "numbers")},
                           executor_of(pool));
  });
}

int locus_cache_last_numbers(const locus_cache* cache, int64_t sequence, locus_out_f64 numbers) {
  return guarded([&] {
    const auto place = span_of(numbers, "numbers");
    const std::vector<double> last = cache_of(cache).last_numbers(sequence);
    locus::require(!last.empty(), "sequence ", sequence, " has no last numbers: it is empty, or its encoding (",
                   cache_of(cache).encoding().scheme().name, ") takes none from tokens");
    locus::require(place.size() == last.size(), "numbers.count must be ", last.size(), " (query heads x numbers), got ",
                   place.size());
    std::copy(last.begin(), last.end(), place.begin());
  });
}

int locus_cache_set_encoding(locus_cache* cache, const locus_encoding* encoding, int rerotate) {
  return guarded([&] { cache_of(cache).set_encoding(encoding_of(encoding), rerotate != 0); });
}

int locus_cache_truncate(locus_cache* cache, int64_t sequence, int64_t length) {
  return guarded([&] { cache_of(cache).truncate(sequence, length); });
}

int locus_cache_keep(locus_cache* cache, int64_t sequence, int64_t begin, locus_span_i64 indices) {
  return guarded([&] { cache_of(cache).keep(sequence, begin, span_of(indices, "indices")); });
}

int locus_cache_slide(locus_cache* cache, int64_t sequence, int64_t sinks, int64_t window, int renumber) {
  return guarded([&] { cache_of(cache).slide(sequence, sinks, window, renumber != 0); });
}

int locus_cache_shift(locus_cache* cache, int64_t sequence, int64_t delta) {
  return guarded([&] { cache_of(cache).shift(sequence, delta); });
}

int locus_cache_shift_range(locus_cache* cache, int64_t sequence, int64_t begin, int64_t end, locus_span_i64 deltas) {
  return guarded([&] { cache_of(cache).shift(sequence, begin, end, span_of(deltas, "deltas")); });
}

int locus_cache_relocate(locus_cache* cache, int64_t sequence, int64_t begin, int64_t end, int64_t position) {
  return guarded([&] { cache_of(cache).relocate(sequence, begin, end, position); });
}

int locus_cache_divide(locus_cache* cache, int64_t sequence, int64_t begin, int64_t end, int64_t group) {
  return guarded([&] { cache_of(cache).divide(sequence, begin, end, group); });
}

int locus_cache_settle(locus_cache* cache, int64_t sequence) {
  return guarded([&] { cache_of(cache).settle(sequence); });
}

int locus_cache_attend(const locus_cache* cache, const locus_cache_attention* call) {
  return guarded([&] {
    const locus_cache_attention given = read_sized(call, "call");
    std::vector<locus::CachedQueries> queries;
    for (const locus_cache_queries& one : read_all_sized(given.queries, given.count, "queries")) {
      queries.push_back({.sequence = one.sequence,
                         .query = heads_of(one.query, "query"),
                         .output = heads_of(one.output, "output"),
                         .ids = span_of(one.ids, "ids"),
                         .tree = span_of(one.tree, "tree"),
                         .query_numbers = numbers_of(one.query_numbers, "query_numbers"),
                         .key_numbers = numbers_of(one.key_numbers, "key_numbers"),
                         .log_sum_exp = one.log_sum_exp});
    }
    locus::CachedAttention batch{.queries = queries};
    batch.mask.window = given.window;
    batch.mask.sinks = given.sinks;
    if (given.scale != 0) batch.scale = given.scale;
    if (given.scale_factor != 0) batch.scale_factor = given.scale_factor;
    batch.soft_cap = given.soft_cap;
    batch.sink_logits = span_of(given.sink_logits, "sink_logits");
    batch.executor = executor_of(given.pool);
    cache_of(cache).attend(batch);
  });
}

int locus_cache_gather(const locus_cache* cache, int64_t sequence, locus_cached** out) {
  return give(out, [&] { return new locus_cached{.sequence = cache_of(cache).gather(sequence)}; });
}

int locus_cached_get(const locus_cached* cached, locus_cached_view* view) {
  return guarded([&] {
    const locus::CachedSequence& from = valid(cached, "cached").sequence;
    const locus_cached_view found = {.size = sizeof found,
                                     .keys = to_c(from.keys),
                                     .values = to_c(from.values),
                                     .ids = {from.ids.data(), std::ssize(from.ids)},
                                     .numbers = {from.numbers.data(), std::ssize(from.numbers)}};
    write_sized(view, found, "view");
  });
}

void locus_cached_free(locus_cached* cached) { release(cached); }

}  // extern "C"
