/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file locus_cache.h
 * Locus for C: a KV cache that knows the positions of its keys. Include locus.h, which includes this.
 */
#ifndef LOCUS_CACHE_H
#define LOCUS_CACHE_H

#include "locus.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name A KV cache
 * Shifts are lazy: a key keeps the position it was stored at, and is rotated once by the difference when it is used, so
 * 10,000 shifts cost one rounding. An error leaves the cache unchanged.
 * @{ */
/** The shape of a cache. */
typedef struct locus_cache_shape {
  size_t size;      /**< sizeof(locus_cache_shape) */
  int64_t capacity; /**< tokens over all sequences, rounded up to whole pages; shared pages count once */
  int64_t heads;    /**< key/value heads */
  int64_t head_dim;
  int32_t type;              /**< enum locus_type of tokens, queries and outputs, not float64 */
  int32_t raw_keys;          /**< 1: keys are stored unrotated and rotated when used */
  int64_t page_size;         /**< tokens per page, 16 to 256; 0: 64 */
  int32_t int8;              /**< 1: stored as 8-bit integers with a scale per token and head */
  int32_t share_equal_pages; /**< 1: a page that becomes full is dropped for an equal one, found by content hash */
} locus_cache_shape;
/** Makes a cache. `encoding` rotates keys as they are appended; encodings of other sites store them unchanged. */
LOCUS_API int locus_cache_new(const locus_encoding* encoding, const locus_cache_shape* shape, locus_cache** out);
LOCUS_API void locus_cache_free(locus_cache* cache);                     /**< NULL is allowed. */
LOCUS_API int locus_cache_create(locus_cache* cache, int64_t* sequence); /**< Makes an empty sequence. */
/** Makes a new sequence that shares all tokens so far. */
LOCUS_API int locus_cache_fork(locus_cache* cache, int64_t sequence, int64_t* forked);
LOCUS_API int locus_cache_drop(locus_cache* cache, int64_t sequence); /**< Removes a sequence. */
/** Returns the number of tokens of a sequence. */
LOCUS_API int locus_cache_length(const locus_cache* cache, int64_t sequence, int64_t* length);
/** Returns the number of free pages. */
LOCUS_API int locus_cache_free_pages(const locus_cache* cache, int64_t* pages);
/** Returns the number of free pages that `tokens` more tokens need. */
LOCUS_API int locus_cache_pages_for(const locus_cache* cache, int64_t sequence, int64_t tokens, int64_t* pages);
/** Appends tokens (batch 1) and rotates their keys. `ids` is [axes, tokens]; positions of one axis must increase. */
LOCUS_API int locus_cache_append(locus_cache* cache, int64_t sequence, const locus_heads* keys,
                                 const locus_heads* values, locus_span_i64 ids, locus_pool* pool);
/** The same for the drafts of a tree, whose positions may have any order. */
LOCUS_API int locus_cache_append_tree(locus_cache* cache, int64_t sequence, const locus_heads* keys,
                                      const locus_heads* values, locus_span_i64 ids, locus_pool* pool);
/** Tokens for locus_cache_append_tokens. */
typedef struct locus_new_tokens {
  size_t size;              /**< sizeof(locus_new_tokens) */
  locus_heads keys, values; /**< batch 1; keys are not rotated yet */
  locus_span_i64 ids;       /**< [axes, tokens] */
  int32_t any_order;        /**< 1: positions may have any order (drafts of a tree) */
  locus_heads numbers; /**< what the tokens bring (key_numbers of locus_attention), kept for locus_cache_attend: [1,
                                 tokens, query heads, numbers], float32 or float64; data NULL: none */
} locus_new_tokens;
/** Appends tokens with all that belongs to them. */
LOCUS_API int locus_cache_append_tokens(locus_cache* cache, int64_t sequence, const locus_new_tokens* tokens,
                                        locus_pool* pool);
/** Writes the numbers that the last token brought, [query heads, numbers]: `before` of locus_running_sums() for the
 * next tokens. Error: an empty sequence, an encoding whose tokens bring none. */
LOCUS_API int locus_cache_last_numbers(const locus_cache* cache, int64_t sequence, locus_out_f64 numbers);
/** Replaces the encoding. Error: keys rotated with another table, unless `rerotate` is 1. */
LOCUS_API int locus_cache_set_encoding(locus_cache* cache, const locus_encoding* encoding, int rerotate);
/** Removes the newest tokens. */
LOCUS_API int locus_cache_truncate(locus_cache* cache, int64_t sequence, int64_t length);
/** Keeps the tokens before `begin` and those at `indices`, which rise: the accepted path of a tree of drafts. */
LOCUS_API int locus_cache_keep(locus_cache* cache, int64_t sequence, int64_t begin, locus_span_i64 indices);
/** Keeps the first `sinks` and the last `window` tokens; `renumber` gives them the positions 0, 1, ... */
LOCUS_API int locus_cache_slide(locus_cache* cache, int64_t sequence, int64_t sinks, int64_t window, int renumber);
/** Shifts all positions by `delta`, on every axis. */
LOCUS_API int locus_cache_shift(locus_cache* cache, int64_t sequence, int64_t delta);
/** Shifts the positions of tokens [begin, end) by `deltas`, one per axis. */
LOCUS_API int locus_cache_shift_range(locus_cache* cache, int64_t sequence, int64_t begin, int64_t end,
                                      locus_span_i64 deltas);
/** Moves tokens [begin, end) to consecutive positions from `position`. */
LOCUS_API int locus_cache_relocate(locus_cache* cache, int64_t sequence, int64_t begin, int64_t end, int64_t position);
/** Divides the positions of tokens [begin, end) by `group`, rounded down (self-extend). */
LOCUS_API int locus_cache_divide(locus_cache* cache, int64_t sequence, int64_t begin, int64_t end, int64_t group);
/** Rotates shifted keys in memory to their current positions. */
LOCUS_API int locus_cache_settle(locus_cache* cache, int64_t sequence);
/** The queries of one sequence, which belong to its last tokens: append first. */
typedef struct locus_cache_queries {
  size_t size; /**< sizeof(locus_cache_queries) */
  int64_t sequence;
  locus_heads query, output; /**< batch 1, of the cache's type; queries are rotated already */
  locus_span_i64 ids;        /**< none: those of the last cached tokens */
  locus_span_u8 tree;        /**< [queries, queries]: 0 where query i does not see the token of query j; none: causal */
  float* log_sum_exp;        /**< [query heads, queries], or NULL */
  locus_heads query_numbers, key_numbers; /**< of the queries and of all tokens of the sequence, as in locus_attention;
                                               data NULL: what was appended */
} locus_cache_queries;
/** Attention of a batch of sequences over a cache. */
typedef struct locus_cache_attention {
  size_t size; /**< sizeof(locus_cache_attention) */
  const locus_cache_queries* queries;
  int64_t count;
  int64_t window, sinks;      /**< as in locus_mask, by index; every query sees the tokens up to its own */
  double scale;               /**< 0: the scheme's own, else 1 / sqrt(head_dim) */
  double scale_factor;        /**< times the above; 0 counts as 1 */
  double soft_cap;            /**< unless 0: a score s becomes cap tanh(s / cap) */
  locus_span_f32 sink_logits; /**< one per query head */
  locus_pool* pool;
} locus_cache_attention;
/** Runs the call on the pages of the cache, in place. The same bits for any page size, sharing or number of threads. */
LOCUS_API int locus_cache_attend(const locus_cache* cache, const locus_cache_attention* call);
/** Copies the keys, values and ids of a sequence, for locus_attend. */
LOCUS_API int locus_cache_gather(const locus_cache* cache, int64_t sequence, locus_cached** out);

/** Gathered keys, values and ids. */
typedef struct locus_cached_view {
  size_t size; /**< sizeof(locus_cached_view) */
  locus_heads keys, values;
  locus_span_i64 ids;
  locus_span_f64 numbers; /**< [tokens, query heads, numbers] that were appended; NaN where none were */
} locus_cached_view;
/** Fills `view`. */
LOCUS_API int locus_cached_get(const locus_cached* cached, locus_cached_view* view);
LOCUS_API void locus_cached_free(locus_cached* cached); /**< NULL is allowed. */
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* LOCUS_CACHE_H */
