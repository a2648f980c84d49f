/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file locus.h
 * Locus for C: positional encodings of transformers, exact at any position.
 *
 * Functions that can fail return LOCUS_OK or an error code. After an error, locus_last_error() returns the message of
 * the calling thread: thing, value and rule. Nothing is written on an error. The library lets no C++ exception escape,
 * and never aborts or prints. Handles are opaque. A NULL handle, or one of another type, is an error; freeing NULL is
 * not. Using a freed handle is undefined, as with free().
 *
 * A struct that starts with `size` must have its sizeof there, also if a function fills it; all else set to zero means the
 * defaults: `locus_attention call = {.size = sizeof call};`. Programs compiled with another version of this header
 * work: members that one side does not have count as zero (docs/versions.md).
 *
 * Several threads may use encodings and pools at the same time, but only one a cache.
 */
#ifndef LOCUS_H
#define LOCUS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define LOCUS_API __attribute__((visibility("default")))
#else
#define LOCUS_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** Return values of functions. */
enum locus_status {
  LOCUS_OK = 0,
  LOCUS_BAD_INPUT = 1, /**< a value breaks a rule, or a file cannot be read */
  LOCUS_NO_MEMORY = 2,
  LOCUS_UNEXPECTED = 3 /**< an error in the library: please report it */
};

/** Element types. Arithmetic is in float32; for float64 it is in double. */
enum locus_type { LOCUS_FLOAT32 = 0, LOCUS_FLOAT64 = 1, LOCUS_BFLOAT16 = 2, LOCUS_FLOAT16 = 3 };

/** Where position enters the transformer. */
enum locus_site {
  LOCUS_SITE_NONE = 0,
  LOCUS_SITE_HIDDEN = 1,      /**< a row is added to the token's vector: locus_add */
  LOCUS_SITE_QUERY_KEY = 2,   /**< pairs of coordinates are rotated: locus_rotate */
  LOCUS_SITE_SCORE = 3,       /**< a number is added to the score: locus_attend, locus_bias */
  LOCUS_SITE_RELATIVE_KEY = 4 /**< a vector chosen by the offset is multiplied with the query: locus_attend */
};

/** Whether vectors are queries or keys; xPos, polar heads and a query temperature treat them differently. Values, which
 * positions must not change unless the output is turned back, and outputs of attention occur only in locus_dump. */
enum locus_role { LOCUS_QUERY = 0, LOCUS_KEY = 1, LOCUS_VALUE = 2, LOCUS_OUTPUT = 3 };

/** LOCUS_INVERSE rotates back: the backward pass of LOCUS_FORWARD. */
enum locus_direction { LOCUS_FORWARD = 0, LOCUS_INVERSE = 1 };

/** How a sequence is split over ranks: see locus_plan_shard. */
enum locus_shard { LOCUS_CONTIGUOUS = 0, LOCUS_STRIPED = 1, LOCUS_ZIGZAG = 2 };

/** A scheme bound to its parameters; immutable. */
typedef struct locus_encoding locus_encoding;
/** Threads for large calls. Results do not depend on their number. */
typedef struct locus_pool locus_pool;
/** Position ids for a batch. */
typedef struct locus_plan locus_plan;
/** A KV cache that knows the positions of its keys. */
typedef struct locus_cache locus_cache;
/** Keys and values of one cached sequence, in order. */
typedef struct locus_cached locus_cached;
/** The result of a diagnosis. */
typedef struct locus_diagnosis locus_diagnosis;

/** A pointer to values and their number; NULL and 0 for none. */
typedef struct locus_span_u8 {
  const uint8_t* data;
  int64_t count;
} locus_span_u8;
/** The same for positions, slots and lengths. */
typedef struct locus_span_i64 {
  const int64_t* data;
  int64_t count;
} locus_span_i64;
/** The same for float32. */
typedef struct locus_span_f32 {
  const float* data;
  int64_t count;
} locus_span_f32;
/** The same for float64. */
typedef struct locus_span_f64 {
  const double* data;
  int64_t count;
} locus_span_f64;
/** Memory for doubles that a function writes. */
typedef struct locus_out_f64 {
  double* data;
  int64_t count;
} locus_out_f64;

/** @name The library
 * @{ */
/** Returns the version of the linked library, e.g. "0.1.0". */
LOCUS_API const char* locus_version(void);
/** Returns the message of the last failed call in this thread; "" if there is none. Never NULL; at most 1023 bytes. */
LOCUS_API const char* locus_last_error(void);
/** Returns the SIMD instructions that the kernels use on this machine, e.g. "AVX2". */
LOCUS_API const char* locus_simd_target(void);
/** Makes a pool of 1 to 1024 threads, including the calling one. Any `pool` argument below may be NULL: one thread. */
LOCUS_API int locus_pool_new(int threads, locus_pool** out);
LOCUS_API void locus_pool_free(locus_pool* pool); /**< NULL is allowed. */
/** @} */

/** @name Encodings
 * @{ */
/** One argument of a scheme, by its name in `locus list --long`: text, `{"base", "5e5"}`, or, for learned weights,
 * float32 values in C order with their shape. Text for weights is the path of a .npy file. */
typedef struct locus_setting {
  const char* name;
  const char* text; /**< "128", "5e5", "half", "true" or "16,24,24"; NULL if `weights` are given */
  locus_span_f32 weights;
  locus_span_i64 shape; /**< of the weights */
} locus_setting;

/** Makes an encoding of `scheme`, e.g. "rope", from `count` settings. */
LOCUS_API int locus_encoding_new(const char* scheme, const locus_setting* settings, int64_t count,
                                 locus_encoding** out);

/** Settings that override or complete a model's file. */
typedef struct locus_config_options {
  size_t size;            /**< sizeof(locus_config_options) */
  const char* layer_type; /**< required if there are several layer types, e.g. "sliding_attention" */
  const char* pairing;    /**< "half" or "interleaved", instead of what the model type implies */
  const char* profile;    /**< the arithmetic to reproduce: "exact" (or NULL), "hf", "ggml" or "vllm" */
  int64_t length;         /**< of the sequence, for rules that depend on it; 0: unknown */
} locus_config_options;

/** Makes the encoding that a Hugging Face config.json or a .gguf file describes. `options` may be NULL.
 * locus_encoding_describe() lists defaults and unknown keys. */
LOCUS_API int locus_encoding_from_config(const char* path, const locus_config_options* options, locus_encoding** out);

/** Makes the same encoding for `length` tokens (dynamic NTK, LongRoPE); equal if the length has no effect. */
LOCUS_API int locus_encoding_at_length(const locus_encoding* encoding, int64_t length, locus_encoding** out);
LOCUS_API void locus_encoding_free(locus_encoding* encoding); /**< NULL is allowed. */

/** Facts about an encoding. Numbers that do not apply to its site are 0. */
typedef struct locus_info {
  size_t size;        /**< sizeof(locus_info) */
  const char* scheme; /**< valid as long as the library is loaded */
  int32_t site;       /**< enum locus_site */
  int32_t axes;       /**< rows of position ids: 1 for text, 3 for M-RoPE, 2 for grids */
  int64_t heads;      /**< score, relative_key */
  int64_t width;      /**< of the vectors: head_dim (query_key, relative_key) or that of the hidden state (hidden) */
  int64_t row_width;  /**< of a row of locus_rows: 2 x pairs (query_key) or `width` (hidden) */
  int64_t first_position, last_position; /**< the valid ids */
  int32_t length_dependent;              /**< 1: the numbers depend on the length of the sequence */
  double magnitude;                      /**< factor on cos and sin, included in the rows (query_key; usually 1) */
  double softmax_scale_factor;           /**< on the softmax scale; locus_attend applies it (query_key; usually 1) */
  int32_t turned_output; /**< 1: values are rotated like keys, and locus_turn_output turns the output back */
  int32_t token_numbers; /**< numbers that a token brings per query head (forget_gate): see locus_attention */
  int64_t polar_width;   /**< of the heads that locus_to_polar takes (pope); 0: heads are not made polar */
} locus_info;
/** Fills `info`. */
LOCUS_API int locus_encoding_info(const locus_encoding* encoding, locus_info* info);
/** Returns one line per parameter, `head_dim = 128`; for a config also lines `defaulted: ` and `unknown: `. The text is
 * valid as long as the encoding. */
LOCUS_API int locus_encoding_describe(const locus_encoding* encoding, const char** text);

/** A learned weight. Its pointers are valid as long as the encoding. */
typedef struct locus_learned_weight {
  size_t size;          /**< sizeof(locus_learned_weight) */
  const char* name;     /**< the parameter that takes the trained values */
  const int64_t* shape; /**< `rank` extents; [heads] for a list of numbers per head */
  int64_t rank;
  int64_t count;     /**< the product of the extents */
  double deviation;  /**< standard deviation of the initial values in training, around 0 */
  int32_t positive;  /**< 1: must stay above 0; training changes its logarithm */
  int32_t in_hidden; /**< 1: rows added to the hidden state, which have no gradient in locus_attend_backward */
} locus_learned_weight;
/** Returns the number of learned weights; 0 if there are none. */
LOCUS_API int locus_encoding_learned_count(const locus_encoding* encoding, int64_t* count);
/** Returns weight `index`, counted from 0. */
LOCUS_API int locus_encoding_learned(const locus_encoding* encoding, int64_t index, locus_learned_weight* weight);
/** @} */

/** @name Positions and tensors
 * @{ */
/** Position ids of a batch: `ids[(axis * batch + row) * tokens + token]`. A single batch row applies to all rows. */
typedef struct locus_ids {
  const int64_t* ids;
  int64_t axes;  /**< 0 counts as 1 */
  int64_t batch; /**< 0 counts as 1 */
  int64_t tokens;
} locus_ids;

/** The memory layout of query or key heads. Element (b, t, h, j) is at
 * `data + b * batch_stride + t * token_stride + h * head_stride + j`, with strides in elements.
 *
 *     [tokens, heads, dim]   token_stride = heads * dim   head_stride = dim
 *     [heads, tokens, dim]   token_stride = dim           head_stride = tokens * dim
 */
typedef struct locus_heads {
  void* data;
  int32_t type; /**< enum locus_type */
  int64_t batch, tokens, heads, head_dim;
  int64_t batch_stride, token_stride, head_stride;
} locus_heads;

/** Makes the view of a contiguous array from its axes: "bthd", "bhtd", "thd", "htd" or "td", with one extent each. */
LOCUS_API int locus_heads_view(void* data, int type, const char* axes, const int64_t* extents, locus_heads* out);

/** The memory layout of hidden states. Element (b, t, j) is at `data + b * batch_stride + t * token_stride + j`. */
typedef struct locus_hidden {
  void* data;
  int32_t type; /**< enum locus_type */
  int64_t batch, tokens, dim;
  int64_t batch_stride, token_stride;
} locus_hidden;
/** @} */

/** @name Applying an encoding
 * @{ */
/** Writes rows [tokens, row_width] for your own tables: [cos | sin] of the pairs (query_key), or the rows to add
 * (hidden). Error of the exact profile: 3.1e-8 times the magnitude, at any position. One batch row. */
LOCUS_API int locus_rows(const locus_encoding* encoding, int role, const locus_ids* ids, float* rows);
/** The same in double. */
LOCUS_API int locus_rows_f64(const locus_encoding* encoding, int role, const locus_ids* ids, double* rows);

/** How vectors are rotated. NULL: as queries (locus_rotate_into: as keys), forward, on this thread. */
typedef struct locus_rotation {
  size_t size;       /**< sizeof(locus_rotation) */
  int32_t role;      /**< enum locus_role */
  int32_t direction; /**< enum locus_direction */
  locus_pool* pool;  /**< NULL: this thread only */
} locus_rotation;
/** Rotates `input` into `output`. With NULL it rotates in place; otherwise the two must not overlap. */
LOCUS_API int locus_rotate(const locus_encoding* encoding, const locus_heads* input, const locus_heads* output,
                           const locus_ids* ids, const locus_rotation* how);
/** Rotates queries and keys in one call, in place. Their numbers of heads may differ. */
LOCUS_API int locus_rotate_query_key(const locus_encoding* encoding, const locus_heads* query, const locus_heads* key,
                                     const locus_ids* ids, int direction, locus_pool* pool);
/** Rotates keys into your own cache: token t is written to token `slots[t]`. Slots must be distinct and in range. */
LOCUS_API int locus_rotate_into(const locus_encoding* encoding, const locus_heads* input, const locus_heads* cache,
                                locus_span_i64 slots, const locus_ids* ids, const locus_rotation* how);
/** Shifts rotated vectors by `deltas` positions, in place. */
LOCUS_API int locus_shift(const locus_encoding* encoding, const locus_heads* view, const locus_ids* deltas, int role,
                          locus_pool* pool);
/** Turns the output of attention back by the position of its query, in place, for encodings with turned_output; `ids`
 * are those of the queries. Values must have been rotated like keys: locus_rotate with LOCUS_KEY, also before
 * they are appended to a cache. */
LOCUS_API int locus_turn_output(const locus_encoding* encoding, const locus_heads* output, const locus_ids* ids,
                                locus_pool* pool);
/** Makes heads polar (pope): writes `input`, `polar_width` wide, to `output`, `width` wide, not rotated yet, as a cache
 * takes keys. `role` is LOCUS_QUERY or LOCUS_KEY. locus_rotate with views of these widths does both steps. */
LOCUS_API int locus_to_polar(const locus_encoding* encoding, const locus_heads* input, const locus_heads* output,
                             int role, locus_pool* pool);
/** Adds the row of each token's id to hidden states, in place. */
LOCUS_API int locus_add(const locus_encoding* encoding, const locus_hidden* view, const locus_ids* ids,
                        locus_pool* pool);
/** Writes `bias` [heads, queries, keys] of a score encoding. Its count must be the product of the extents. */
LOCUS_API int locus_bias(const locus_encoding* encoding, locus_span_i64 queries, locus_span_i64 keys,
                         locus_out_f64 bias);
/** @} */

/** @name Attention
 * @{ */
/** The keys that a query sees: those that satisfy all conditions. A place is the id or, with by_index, the index. */
typedef struct locus_mask {
  int32_t causal;      /**< key place <= query place */
  int32_t by_index;    /**< places are indices, the last query at the last key */
  int64_t prefix;      /**< with causal: all queries see keys at places 0 to prefix - 1 */
  int64_t window;      /**< if not 0: |query place - key place| < window */
  int64_t sinks;       /**< with window: keys at places 0 to sinks - 1 stay visible */
  locus_span_u8 keys;  /**< 0 for padding: [keys] or [batch, keys] */
  locus_span_u8 pairs; /**< 0 for masked: [queries, keys] or [batch, queries, keys] */
} locus_mask;

/** One call: softmax(scale q.k + position term, over the visible keys) v. Queries and keys must be rotated before;
 * encodings of the sites score and relative_key are applied here. All views have the same batch, head_dim and type. The
 * number of query heads is a multiple of the number of key heads. */
typedef struct locus_attention {
  size_t size; /**< sizeof(locus_attention) */
  locus_heads query, key, value, output;
  const locus_encoding* encoding;    /**< NULL: none */
  locus_span_i64 query_ids, key_ids; /**< none: 0, 1, ... for keys, and the last query at the last key */
  locus_mask mask;
  locus_span_i64 query_boundaries, key_boundaries; /**< packed documents: 0, l0, l0 + l1, ..., tokens */
  double scale;                                    /**< 0: that of the scheme, or else 1 / sqrt(head_dim) */
  double scale_factor;                             /**< multiplies the scale; 0 counts as 1 */
  double soft_cap;                                 /**< if not 0: a score s becomes cap tanh(s / cap) */
  locus_span_f32 sink_logits;                      /**< one per query head: added to the sum, without a value */
  float* log_sum_exp;                              /**< [batch, heads, queries], or NULL */
  locus_span_i64 rows_wanted;                      /**< queries whose probabilities to write */
  float* probabilities;                            /**< [batch, heads, rows_wanted, keys] */
  locus_pool* pool;
  locus_heads query_numbers, key_numbers; /**< what tokens bring (forget_gate: running sums of log gates), [batch,
                                               tokens, query heads, numbers], float32 or float64; data NULL: none */
} locus_attention;
/** Runs the call. A query that sees no key gets zeros. Results have the same bits for any number of threads. */
LOCUS_API int locus_attend(const locus_attention* call);

/** Writes the running sums of `numbers` [batch, tokens, heads, n] along the tokens, in that order: what query_numbers
 * and key_numbers hold if tokens bring log gates. `before` has the sums before the first token, [batch, heads, n]; none:
 * zeros. After cached tokens it is what locus_cache_last_numbers() returns. */
LOCUS_API int locus_running_sums(const locus_heads* numbers, locus_span_f64 before, locus_out_f64 sums);

/** Memory for the gradient of a weight of locus_encoding_learned(). */
typedef struct locus_learned_gradient {
  const char* name;
  locus_out_f64 gradient; /**< has the shape of the weight; its count must be the product of the extents */
} locus_learned_gradient;

/** Gradients of sum(output x output_gradient). Those of query, key and value are always written; learned ones are
 * summed in double if memory is given. Gradients of queries and keys are those of the rotated vectors: apply
 * locus_rotate with LOCUS_INVERSE to them. */
typedef struct locus_attention_gradient {
  size_t size;                    /**< sizeof(locus_attention_gradient) */
  const locus_attention* forward; /**< as passed to locus_attend, with its output and log_sum_exp */
  locus_heads output_gradient;
  locus_heads query_gradient, key_gradient, value_gradient;
  locus_out_f64 sink_logits;             /**< [heads] */
  const locus_learned_gradient* learned; /**< the requested weights of the encoding, in any order */
  int64_t learned_count;
  locus_heads query_numbers_gradient, key_numbers_gradient; /**< float64; data NULL: not wanted */
} locus_attention_gradient;
/** Runs the backward pass. */
LOCUS_API int locus_attend_backward(const locus_attention_gradient* call);
/** @} */

/** @name Diagnosis: what an engine did to its vectors
 * @{ */
/** Queries, keys or values before and after, with the same shape, and the expectation, all of which is optional. */
typedef struct locus_dump {
  size_t size; /**< sizeof(locus_dump) */
  locus_heads before, after;
  const locus_encoding* expected;
  const locus_ids* positions; /**< NULL: 0, 1, 2, ... are assumed */
  int32_t role;               /**< enum locus_role */
  int32_t both_rotated;       /**< 1: `before` was rotated too, by the expected encoding */
} locus_dump;
/** Finds which coordinates turned, by which angles, and the fault relative to `expected`. */
LOCUS_API int locus_diagnose(const locus_dump* dump, locus_diagnosis** out);
/** The same for score biases, `bias[heads * queries * keys]`; `expected` may be NULL. */
LOCUS_API int locus_diagnose_bias(const double* bias, int64_t heads, int64_t queries, int64_t keys,
                                  const locus_encoding* expected, locus_diagnosis** out);

/** A verdict. The best comes first; it is "as_expected" if nothing is wrong. */
typedef struct locus_verdict {
  size_t size;      /**< sizeof(locus_verdict) */
  const char* name; /**< e.g. "position_offset"; stable, for programs */
  const char* text;
  const char* evidence;
  double confidence; /**< 0 to 1; at 0.9 or more nothing else fits */
  const char* about; /**< "dump", "slice", "heads", "magnitude", "angles", "coverage" or "precision" */
} locus_verdict;
/** Returns the number of verdicts; at least one. */
LOCUS_API int locus_diagnosis_count(const locus_diagnosis* diagnosis, int64_t* count);
/** Returns verdict `index`. Its texts are valid as long as the diagnosis. */
LOCUS_API int locus_diagnosis_verdict(const locus_diagnosis* diagnosis, int64_t index, locus_verdict* verdict);
/** Returns all results as one JSON object with the names of `locus diagnose --json`. The text is valid as long as the
 * diagnosis. */
LOCUS_API int locus_diagnosis_json(const locus_diagnosis* diagnosis, const char** json);
LOCUS_API void locus_diagnosis_free(locus_diagnosis* diagnosis); /**< NULL is allowed. */
/** @} */

#ifdef __cplusplus
}
#endif

#include "locus_cache.h"
#include "locus_plans.h"

#endif /* LOCUS_H */
