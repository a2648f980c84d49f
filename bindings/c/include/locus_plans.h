/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file locus_plans.h
 * Locus for C: position ids of batches, packed documents, shards, trees and pictures. Include locus.h, which includes this.
 */
#ifndef LOCUS_PLANS_H
#define LOCUS_PLANS_H

#include "locus.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name Position plans: the id of each token
 * @{ */
/** start, start + 1, ...; after a prefix of cached tokens, start is its length. */
LOCUS_API int locus_plan_prefill(int64_t tokens, int64_t start, locus_plan** out);
/** Rows of `lengths` tokens, padded to `width` (0: the longest) on the left (`left` = 1) or right, with id `pad_id`. */
LOCUS_API int locus_plan_padded(locus_span_i64 lengths, int64_t width, int left, int64_t pad_id, locus_plan** out);
/** Ids from a mask [batch, tokens] of 0 and 1: cumsum(mask) - 1 in each row, `pad_id` where masked. */
LOCUS_API int locus_plan_from_mask(locus_span_u8 mask, int64_t batch, int64_t tokens, int64_t pad_id, locus_plan** out);
/** Documents concatenated in one row; ids restart at 0 in each. */
LOCUS_API int locus_plan_packed(locus_span_i64 lengths, locus_plan** out);
/** The shard of `rank`. `tokens` is a multiple of `ranks` (zigzag: of 2 ranks); `kind` is an enum locus_shard. */
LOCUS_API int locus_plan_shard(int kind, int64_t tokens, int64_t ranks, int64_t rank, locus_plan** out);
/** A speculative tree: the parent of node i is parents[i] (-1: a root), its id is prefix + depth. The plan's mask is
 * [nodes, nodes]: 1 if the column is the row's node or one of its ancestors. */
LOCUS_API int locus_plan_tree(locus_span_i64 parents, int64_t prefix, locus_plan** out);
/** Attention sinks: keeps the first `sinks` and the last `window` of `seen` tokens; `kept` lists them. */
LOCUS_API int locus_plan_streaming(int64_t seen, int64_t sinks, int64_t window, locus_plan** out);
/** Patches of an image: two axes (row, column), row-major, in blocks of merge x merge (1: none). */
LOCUS_API int locus_plan_grid(int64_t rows, int64_t cols, int64_t merge, locus_plan** out);

/** A segment of text or sound (`tokens` > 0), or of an image or video (`tokens` 0): frames x rows x cols after
 * merging. */
typedef struct locus_segment {
  size_t size; /**< sizeof(locus_segment) */
  int64_t tokens;
  int64_t frames, rows, cols;
  double time_scale; /**< ids per frame, or per token of sound; 0 counts as 1 */
  int32_t sound;     /**< 1: the tokens are sound (Qwen2.5-Omni) */
} locus_segment;
/** Text with images, video and sound, three axes (time, height, width), with the ids of Qwen2-VL. */
LOCUS_API int locus_plan_multimodal(const locus_segment* segments, int64_t count, locus_plan** out);
/** What was planned so far: a number of tokens, and the decode_delta of their plan. */
typedef struct locus_multimodal_prefix {
  int64_t tokens;
  int64_t decode_delta;
} locus_multimodal_prefix;
/** More segments after a prefix, such as the next turn: the ids of the new tokens, and the delta of the whole. */
LOCUS_API int locus_plan_multimodal_after(locus_multimodal_prefix prefix, const locus_segment* segments, int64_t count,
                                          locus_plan** out);
/** `tokens` decoded tokens after the prefix, the same id on all three axes. */
LOCUS_API int locus_plan_multimodal_decode(locus_multimodal_prefix prefix, int64_t tokens, locus_plan** out);
/** A speculative tree after the prefix, the same id on all three axes; with the mask of locus_plan_tree. */
LOCUS_API int locus_plan_multimodal_tree(locus_span_i64 parents, locus_multimodal_prefix prefix, locus_plan** out);
/** Tokens [first, first + tokens) of a plan, for prefill in chunks; a chunk may end inside a picture. */
LOCUS_API int locus_plan_chunk(const locus_plan* plan, int64_t first, int64_t tokens, locus_plan** out);
/** What stays of a tree when verification accepts the path to node `last`: `kept` has its nodes from the root on,
 * for locus_cache_keep, and `ids` theirs, prefix, prefix + 1, ... */
LOCUS_API int locus_plan_accepted_path(locus_span_i64 parents, int64_t last, int64_t prefix, locus_plan** out);
/** Keys that stand for `rate` tokens each (DeepSeek V4): key i is at i x rate; see `visible_from`. */
LOCUS_API int locus_plan_compressed(int64_t entries, int64_t rate, locus_plan** out);
/** What `rank` holds of packed documents, each cut by itself as locus_plan_shard cuts a sequence. Documents that cannot
 * be cut evenly get padding (`uneven` 0), or their first pieces have one token more. `kept` has the tokens' indices
 * in the packed row, -1 for padding, and `slots` those in the padded row; the mask is 1 for tokens. */
LOCUS_API int locus_plan_document_shard(int kind, locus_span_i64 lengths, int64_t ranks, int64_t rank, int uneven,
                                        locus_plan** out);
/** The columns of a plan for the packed row that a document shard holds, on every axis (M-RoPE); padding gets id 0. */
LOCUS_API int locus_plan_cut(const locus_plan* plan, const locus_plan* shard, locus_plan** out);

/** The content of a plan, valid as long as the plan. */
typedef struct locus_plan_view {
  size_t size; /**< sizeof(locus_plan_view) */
  locus_ids ids;
  locus_span_u8 mask;   /**< padded: [batch, tokens]; tree: [nodes, nodes]; document shard: [tokens]; otherwise empty */
  locus_span_i64 kept;  /**< streaming, document shard: indices of the tokens in the text; accepted path: the nodes */
  int64_t decode_delta; /**< multimodal: a token decoded at index i has id i + decode_delta on each axis */
  locus_span_i64 visible_from; /**< compressed: the position from which on each key is visible */
  locus_span_i64 slots;        /**< document shard: indices in the row where each document is followed by its padding */
} locus_plan_view;
/** Fills `view`. */
LOCUS_API int locus_plan_get(const locus_plan* plan, locus_plan_view* view);
LOCUS_API void locus_plan_free(locus_plan* plan); /**< NULL is allowed. */
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* LOCUS_PLANS_H */
