/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file locus.h
 * Locus for C: positional encodings of transformers, exact at any position.
 *
 * Every function that can fail returns LOCUS_OK or an error code; locus_last_error() then says, for the calling thread,
 * which thing, which value and which rule. On an error nothing was written. No C++ exception leaves this library, and
 * it never aborts or prints. Handles are opaque; a NULL handle or one of another kind is an error, freeing NULL is not,
 * and using a handle after it was freed is undefined, as with free(). A struct set to zero asks for the defaults.
 *
 * Encodings and pools may be used by several threads at once; a cache by one at a time.
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

/** What functions return. */
enum locus_status {
  LOCUS_OK = 0,
  LOCUS_BAD_INPUT = 1, /**< a value breaks a rule, or a file cannot be read */
  LOCUS_NO_MEMORY = 2,
  LOCUS_UNEXPECTED = 3 /**< a fault of the library: please report it */
};

/** Element types. Arithmetic is in float32, for float64 in double. */
enum locus_type { LOCUS_FLOAT32 = 0, LOCUS_FLOAT64 = 1, LOCUS_BFLOAT16 = 2, LOCUS_FLOAT16 = 3 };

/** Where an encoding enters the transformer. */
enum locus_site {
  LOCUS_SITE_NONE = 0,
  LOCUS_SITE_HIDDEN = 1,      /**< a row is added to the token's vector: locus_add */
  LOCUS_SITE_QUERY_KEY = 2,   /**< pairs of coordinates are rotated: locus_rotate */
  LOCUS_SITE_SCORE = 3,       /**< a number is added to the score: locus_attend, locus_bias */
  LOCUS_SITE_RELATIVE_KEY = 4 /**< a vector chosen by the offset meets the query: locus_attend */
};

/** Whether vectors are queries or keys; only xPos treats them differently. Values, which no position may touch, are a
 * role of locus_dump alone. */
enum locus_role { LOCUS_QUERY = 0, LOCUS_KEY = 1, LOCUS_VALUE = 2 };

/** LOCUS_INVERSE undoes the turn: the backward pass of LOCUS_FORWARD. */
enum locus_direction { LOCUS_FORWARD = 0, LOCUS_INVERSE = 1 };

/** How one sequence is spread over ranks: see locus_plan_shard. */
enum locus_shard { LOCUS_CONTIGUOUS = 0, LOCUS_STRIPED = 1, LOCUS_ZIGZAG = 2 };

/** A scheme bound to its parameters; immutable. */
typedef struct locus_encoding locus_encoding;
/** Threads that large calls are spread over. Results never depend on their number. */
typedef struct locus_pool locus_pool;
/** Position ids for a batch. */
typedef struct locus_plan locus_plan;
/** A KV cache that knows where its keys are. */
typedef struct locus_cache locus_cache;
/** Keys and values of one cached sequence, in order. */
typedef struct locus_cached locus_cached;
/** What a dump really did. */
typedef struct locus_diagnosis locus_diagnosis;

/** Values in memory and how many there are; NULL and 0 for none. */
typedef struct locus_span_u8 {
  const uint8_t* data;
  int64_t count;
} locus_span_u8;
/** The same of positions, slots and lengths. */
typedef struct locus_span_i64 {
  const int64_t* data;
  int64_t count;
} locus_span_i64;
/** The same of float32. */
typedef struct locus_span_f32 {
  const float* data;
  int64_t count;
} locus_span_f32;
/** Room for doubles that a function fills. */
typedef struct locus_out_f64 {
  double* data;
  int64_t count;
} locus_out_f64;

/** @name The library
 * @{ */
/** The version of the library that is linked, e.g. "0.1.0". */
LOCUS_API const char* locus_version(void);
/** The message of the last call that failed in this thread; "" if none has. Never NULL, and at most 1023
 * bytes long. */
LOCUS_API const char* locus_last_error(void);
/** The SIMD instructions that the kernels chose on this machine, e.g. "AVX2". */
LOCUS_API const char* locus_simd_target(void);
/** A pool of 1 to 1024 threads, the calling one included. Every `pool` argument below may be NULL: one thread. */
LOCUS_API int locus_pool_new(int threads, locus_pool** out);
LOCUS_API void locus_pool_free(locus_pool* pool); /**< NULL is allowed. */
/** @} */

/** @name Encodings
 * @{ */
/** One parameter of a scheme, by its name in `locus list --long`: a text, `{"base", "5e5"}`, or for learned weights
 * float32 values in C order with their shape. A text for weights is the path of a .npy file. */
typedef struct locus_setting {
  const char* name;
  const char* text; /**< "128", "5e5", "half", "true" or "16,24,24"; NULL where `weights` are given */
  locus_span_f32 weights;
  locus_span_i64 shape; /**< of the weights */
} locus_setting;

/** Makes an encoding of `scheme`, e.g. "rope", from `count` settings. */
LOCUS_API int locus_encoding_new(const char* scheme, const locus_setting* settings, int64_t count,
                                 locus_encoding** out);

/** What the caller knows better than a model's file. */
typedef struct locus_config_options {
  const char* layer_type; /**< one kind of layer, where there are several, e.g. "sliding_attention" */
  const char* pairing;    /**< "half" or "interleaved", in place of what the model type implies */
  const char* profile;    /**< whose float32 arithmetic to reproduce: "exact" (as NULL), "hf", "ggml" or "vllm" */
  int64_t length;         /**< of the sequence, for rules that depend on it; 0: not known */
} locus_config_options;

/** Makes the encoding that a Hugging Face config.json or a .gguf file describes. `options` may be NULL.
 * locus_encoding_describe() says what was defaulted and which keys were not understood. */
LOCUS_API int locus_encoding_from_config(const char* path, const locus_config_options* options, locus_encoding** out);

/** The same encoding for a sequence of `length` tokens (dynamic NTK, LongRoPE); equal where the length is no matter. */
LOCUS_API int locus_encoding_at_length(const locus_encoding* encoding, int64_t length, locus_encoding** out);
LOCUS_API void locus_encoding_free(locus_encoding* encoding); /**< NULL is allowed. */

/** What an encoding is. Numbers that do not apply to its site are 0. */
typedef struct locus_info {
  const char* scheme; /**< lives as long as the library */
  int32_t site;       /**< enum locus_site */
  int32_t axes;       /**< rows of position ids: 1 for text, 3 for M-RoPE, 2 for grids */
  int64_t heads;      /**< score, relative_key */
  int64_t width;      /**< of the vectors: head_dim (query_key, relative_key) or the hidden state's (hidden) */
  int64_t row_width;  /**< of a row of locus_rows: 2 x pairs (query_key) or `width` (hidden) */
  int64_t first_position, last_position; /**< the ids it accepts */
  int32_t length_dependent;              /**< 1: the numbers depend on the length of the sequence */
  double magnitude;                      /**< on cos and sin, in the rows already (query_key; 1 mostly) */
  double softmax_scale_factor;           /**< on the softmax scale; locus_attend applies it (query_key; 1 mostly) */
} locus_info;
/** Fills `info`. */
LOCUS_API int locus_encoding_info(const locus_encoding* encoding, locus_info* info);
/** A line per parameter, `head_dim = 128`; then, from a config, what was `defaulted: ` and what is `unknown: `. The
 * text lives as long as the encoding. */
LOCUS_API int locus_encoding_describe(const locus_encoding* encoding, const char** text);

/** A weight that training changes. What is pointed to lives as long as the encoding. */
typedef struct locus_learned_weight {
  const char* name;     /**< the parameter that takes the trained values */
  const int64_t* shape; /**< `rank` extents; [heads] for a list of numbers per head */
  int64_t rank;
  int64_t count;     /**< the product of the extents */
  double deviation;  /**< standard deviation of the initial values in training, around 0 */
  int32_t positive;  /**< 1: must stay above 0, training changes its logarithm */
  int32_t in_hidden; /**< 1: rows added to the hidden state, which have no gradient in locus_attend_backward */
} locus_learned_weight;
/** How many weights the encoding learns; 0 where nothing is learned. */
LOCUS_API int locus_encoding_learned_count(const locus_encoding* encoding, int64_t* count);
/** Weight `index`, from 0. */
LOCUS_API int locus_encoding_learned(const locus_encoding* encoding, int64_t index, locus_learned_weight* weight);
/** @} */

/** @name Positions and tensors
 * @{ */
/** Position ids of a batch: `ids[(axis * batch + row) * tokens + token]`. One batch row serves all rows of a tensor. */
typedef struct locus_ids {
  const int64_t* ids;
  int64_t axes;  /**< 0 counts as 1 */
  int64_t batch; /**< 0 counts as 1 */
  int64_t tokens;
} locus_ids;

/** Where the heads of queries or keys lie. Element (b, t, h, j) is at
 * `data + b * batch_stride + t * token_stride + h * head_stride + j`, strides counted in elements.
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

/** The view of a contiguous array by its axes: "bthd", "bhtd", "thd", "htd" or "td", with as many extents. */
LOCUS_API int locus_heads_view(void* data, int type, const char* axes, const int64_t* extents, locus_heads* out);

/** Where hidden states lie: element (b, t, j) is at `data + b * batch_stride + t * token_stride + j`. */
typedef struct locus_hidden {
  void* data;
  int32_t type; /**< enum locus_type */
  int64_t batch, tokens, dim;
  int64_t batch_stride, token_stride;
} locus_hidden;
/** @} */

/** @name Applying an encoding
 * @{ */
/** Rows [tokens, row_width] for tables of your own: [cos | sin] of the pairs at site query_key, what is added at site
 * hidden. Of the exact profile each is within 3.1e-8 (times the magnitude) of the truth, anywhere. One batch row. */
LOCUS_API int locus_rows(const locus_encoding* encoding, int role, const locus_ids* ids, float* rows);
/** The same in double. */
LOCUS_API int locus_rows_f64(const locus_encoding* encoding, int role, const locus_ids* ids, double* rows);

/** How vectors are rotated. Where it is NULL: as queries (locus_rotate_into: as keys), forward, on this thread. */
typedef struct locus_rotation {
  int32_t role;      /**< enum locus_role */
  int32_t direction; /**< enum locus_direction */
  locus_pool* pool;  /**< NULL: this thread alone */
} locus_rotation;
/** Rotates `input` into `output`; NULL rotates in place, else the two must not overlap. */
LOCUS_API int locus_rotate(const locus_encoding* encoding, const locus_heads* input, const locus_heads* output,
                           const locus_ids* ids, const locus_rotation* how);
/** Queries and keys in one call, in place; their head counts may differ. */
LOCUS_API int locus_rotate_query_key(const locus_encoding* encoding, const locus_heads* query, const locus_heads* key,
                                     const locus_ids* ids, int direction, locus_pool* pool);
/** Rotates keys into a cache of your own: token t lands in token `slots[t]`; slots are distinct and inside. */
LOCUS_API int locus_rotate_into(const locus_encoding* encoding, const locus_heads* input, const locus_heads* cache,
                                locus_span_i64 slots, const locus_ids* ids, const locus_rotation* how);
/** Moves vectors that are rotated already by `deltas` positions, in place. */
LOCUS_API int locus_shift(const locus_encoding* encoding, const locus_heads* view, const locus_ids* deltas, int role,
                          locus_pool* pool);
/** Adds the row of each token's id to hidden states, in place. */
LOCUS_API int locus_add(const locus_encoding* encoding, const locus_hidden* view, const locus_ids* ids,
                        locus_pool* pool);
/** Fills `bias` [heads, queries, keys] of a score encoding; its count must be the product. */
LOCUS_API int locus_bias(const locus_encoding* encoding, locus_span_i64 queries, locus_span_i64 keys,
                         locus_out_f64 bias);
/** @} */

/** @name Attention
 * @{ */
/** Which keys a query sees: those that every condition allows. A place is the id or, with by_index, the index. */
typedef struct locus_mask {
  int32_t causal;      /**< key place <= query place */
  int32_t by_index;    /**< places are indices, the last query at the last key */
  int64_t prefix;      /**< with causal: keys at places 0 to prefix - 1 are seen by all */
  int64_t window;      /**< unless 0: |query place - key place| < window */
  int64_t sinks;       /**< with window: keys at places 0 to sinks - 1 stay seen */
  locus_span_u8 keys;  /**< 0 for padding: [keys] or [batch, keys] */
  locus_span_u8 pairs; /**< 0 for unseen: [queries, keys] or [batch, queries, keys] */
} locus_mask;

/** One call: softmax(scale q.k + position term, over the visible keys) v. Queries and keys come rotated already;
 * encodings of the sites score and relative_key act in here. Views share batch, head_dim and type; query heads are a
 * multiple of key heads. */
typedef struct locus_attention {
  locus_heads query, key, value, output;
  const locus_encoding* encoding;    /**< NULL: none */
  locus_span_i64 query_ids, key_ids; /**< none: 0, 1, ... for keys, and the last query at the last key */
  locus_mask mask;
  locus_span_i64 query_boundaries, key_boundaries; /**< packed documents: 0, l0, l0 + l1, ..., tokens */
  double scale;                                    /**< 0: the scheme's own, else 1 / sqrt(head_dim) */
  double scale_factor;                             /**< times the above; 0 counts as 1 */
  double soft_cap;                                 /**< unless 0: a score s becomes cap tanh(s / cap) */
  locus_span_f32 sink_logits;                      /**< one per query head: takes part in the sum, has no value */
  float* log_sum_exp;                              /**< [batch, heads, queries], or NULL */
  locus_span_i64 rows_wanted;                      /**< queries whose probabilities are wanted */
  float* probabilities;                            /**< [batch, heads, rows_wanted, keys] */
  locus_pool* pool;
  locus_heads query_numbers, key_numbers; /**< what tokens bring (forget_gate: running sums of log gates), [batch,
                                               tokens, query heads, numbers], float32 or float64; data NULL: none */
} locus_attention;
/** Runs the call; a query that sees nothing gets zeros. The same bits for any number of threads. */
LOCUS_API int locus_attend(const locus_attention* call);

/** Where the gradient of a weight of locus_encoding_learned() goes. */
typedef struct locus_learned_gradient {
  const char* name;
  locus_out_f64 gradient; /**< of the weight's shape; its count must be the product */
} locus_learned_gradient;

/** Gradients of sum(output x output_gradient). Those of query, key and value are all written; learned ones are summed
 * in double where there is room for them. Queries' and keys' are those of the rotated vectors: locus_rotate them with
 * LOCUS_INVERSE. */
typedef struct locus_attention_gradient {
  const locus_attention* forward; /**< as locus_attend ran it, with its output and log_sum_exp */
  locus_heads output_gradient;
  locus_heads query_gradient, key_gradient, value_gradient;
  locus_out_f64 sink_logits;             /**< [heads] */
  const locus_learned_gradient* learned; /**< of the encoding's weights: those that are wanted, in any order */
  int64_t learned_count;
  locus_heads query_numbers_gradient, key_numbers_gradient; /**< float64; data NULL: not wanted */
} locus_attention_gradient;
/** Runs the backward pass. */
LOCUS_API int locus_attend_backward(const locus_attention_gradient* call);
/** @} */

/** @name Position plans: which id each token gets
 * @{ */
/** start, start + 1, ...; behind a prefix of cached tokens, start is its length. */
LOCUS_API int locus_plan_prefill(int64_t tokens, int64_t start, locus_plan** out);
/** Rows of `lengths` tokens in `width` slots (0: the longest), padding first (`left` = 1) or last, with id `pad_id`. */
LOCUS_API int locus_plan_padded(locus_span_i64 lengths, int64_t width, int left, int64_t pad_id, locus_plan** out);
/** From any mask [batch, tokens] of 0 and 1: ids = cumsum(mask) - 1 in each row, `pad_id` where masked. */
LOCUS_API int locus_plan_from_mask(locus_span_u8 mask, int64_t batch, int64_t tokens, int64_t pad_id, locus_plan** out);
/** Documents behind each other in one row; ids restart at 0 in each. */
LOCUS_API int locus_plan_packed(locus_span_i64 lengths, locus_plan** out);
/** What `rank` holds of `tokens`, a multiple of `ranks` (zigzag: of 2 ranks); `kind` is an enum locus_shard. */
LOCUS_API int locus_plan_shard(int kind, int64_t tokens, int64_t ranks, int64_t rank, locus_plan** out);
/** A speculative tree: node i hangs under parents[i] (-1: a root) and has id prefix + depth. The plan's mask is
 * [nodes, nodes]: 1 where the column is the row's node or one of its ancestors. */
LOCUS_API int locus_plan_tree(locus_span_i64 parents, int64_t prefix, locus_plan** out);
/** Attention sinks: of `seen` tokens the first `sinks` and the last `window` stay; `kept` says which. */
LOCUS_API int locus_plan_streaming(int64_t seen, int64_t sinks, int64_t window, locus_plan** out);
/** Patches of a picture: two axes (row, column), row-major, in blocks of merge x merge (1: none). */
LOCUS_API int locus_plan_grid(int64_t rows, int64_t cols, int64_t merge, locus_plan** out);

/** A piece of text (`tokens` > 0) or, with `tokens` 0, of vision: frames x rows x cols after spatial merging. */
typedef struct locus_segment {
  int64_t tokens;
  int64_t frames, rows, cols;
  double time_scale; /**< ids that a frame lasts; 0 counts as 1 */
} locus_segment;
/** Text with pictures, three axes (time, height, width), as Qwen2-VL counts. */
LOCUS_API int locus_plan_multimodal(const locus_segment* segments, int64_t count, locus_plan** out);

/** What a plan holds; all of it lives as long as the plan. */
typedef struct locus_plan_view {
  locus_ids ids;
  locus_span_u8 mask;   /**< padded: [batch, tokens]; tree: [nodes, nodes]; none elsewhere */
  locus_span_i64 kept;  /**< streaming: the tokens' indices in the text */
  int64_t decode_delta; /**< multimodal: token i, decoded later, has id i + this on each axis */
} locus_plan_view;
/** Fills `view`. */
LOCUS_API int locus_plan_get(const locus_plan* plan, locus_plan_view* view);
LOCUS_API void locus_plan_free(locus_plan* plan); /**< NULL is allowed. */
/** @} */

/** @name A KV cache
 * Moves of positions are lazy: a key keeps the position it was stored at, and the difference is turned once, when the
 * key is used, so that 10,000 shifts cost one rounding. Every error leaves the cache as it was.
 * @{ */
/** The shape of a cache. */
typedef struct locus_cache_shape {
  int64_t capacity; /**< tokens over all sequences; shared prefixes count once */
  int64_t heads;    /**< key/value heads */
  int64_t head_dim;
  int32_t type;     /**< enum locus_type, not float64 */
  int32_t raw_keys; /**< 1: keys are stored as they came and rotated when used */
} locus_cache_shape;
/** `encoding` rotates keys as they are appended; encodings of other sites store them as they come. */
LOCUS_API int locus_cache_new(const locus_encoding* encoding, const locus_cache_shape* shape, locus_cache** out);
LOCUS_API void locus_cache_free(locus_cache* cache);                     /**< NULL is allowed. */
LOCUS_API int locus_cache_create(locus_cache* cache, int64_t* sequence); /**< A new, empty sequence. */
/** A new sequence that shares all tokens so far. */
LOCUS_API int locus_cache_fork(locus_cache* cache, int64_t sequence, int64_t* forked);
LOCUS_API int locus_cache_drop(locus_cache* cache, int64_t sequence); /**< Ends a sequence. */
/** How many tokens a sequence has. */
LOCUS_API int locus_cache_length(const locus_cache* cache, int64_t sequence, int64_t* length);
/** How many tokens more there is room for. */
LOCUS_API int locus_cache_free_tokens(const locus_cache* cache, int64_t* tokens);
/** Appends tokens (batch 1), rotating keys on the way. Positions must go upwards. */
LOCUS_API int locus_cache_append(locus_cache* cache, int64_t sequence, const locus_heads* keys,
                                 const locus_heads* values, locus_span_i64 ids, locus_pool* pool);
/** The encoding from now on. Keys that another table rotated refuse, unless `rerotate` is 1. */
LOCUS_API int locus_cache_set_encoding(locus_cache* cache, const locus_encoding* encoding, int rerotate);
/** Drops the newest tokens. */
LOCUS_API int locus_cache_truncate(locus_cache* cache, int64_t sequence, int64_t length);
/** Keeps `sinks` first and `window` last tokens; `renumber` gives them the positions 0, 1, ... */
LOCUS_API int locus_cache_slide(locus_cache* cache, int64_t sequence, int64_t sinks, int64_t window, int renumber);
/** Moves all positions by `delta`. */
LOCUS_API int locus_cache_shift(locus_cache* cache, int64_t sequence, int64_t delta);
/** Tokens [begin, end) move to positions from `position` on, consecutive. */
LOCUS_API int locus_cache_relocate(locus_cache* cache, int64_t sequence, int64_t begin, int64_t end, int64_t position);
/** Positions of tokens [begin, end) are divided by `group`, rounded down (self-extend). */
LOCUS_API int locus_cache_divide(locus_cache* cache, int64_t sequence, int64_t begin, int64_t end, int64_t group);
/** Turns moved keys in place now. */
LOCUS_API int locus_cache_settle(locus_cache* cache, int64_t sequence);
/** Keys, values and ids of a sequence, ready for locus_attend; valid until the cache changes or is freed. */
LOCUS_API int locus_cache_gather(const locus_cache* cache, int64_t sequence, locus_cached** out);

/** What was gathered. */
typedef struct locus_cached_view {
  locus_heads keys, values;
  locus_span_i64 ids;
} locus_cached_view;
/** Fills `view`. */
LOCUS_API int locus_cached_get(const locus_cached* cached, locus_cached_view* view);
LOCUS_API void locus_cached_free(locus_cached* cached); /**< NULL is allowed. */
/** @} */

/** @name Diagnosis: what a dump really did
 * @{ */
/** Queries, keys or values before and after, of one shape, and what should have happened; all but the two may be left open. */
typedef struct locus_dump {
  locus_heads before, after;
  const locus_encoding* expected;
  const locus_ids* positions; /**< NULL: 0, 1, 2, ... are assumed */
  int32_t role;               /**< enum locus_role */
  int32_t both_rotated;       /**< 1: `before` was rotated too, by the expected encoding */
} locus_dump;
/** Finds which coordinates turned, by how much, and the fault against `expected`. */
LOCUS_API int locus_diagnose(const locus_dump* dump, locus_diagnosis** out);
/** The same of score biases, `bias[heads * queries * keys]`; `expected` may be NULL. */
LOCUS_API int locus_diagnose_bias(const double* bias, int64_t heads, int64_t queries, int64_t keys,
                                  const locus_encoding* expected, locus_diagnosis** out);

/** A judgement; verdicts come best first, and the first is "as_expected" where nothing is wrong. */
typedef struct locus_verdict {
  const char* name; /**< e.g. "position_offset"; stable, for programs */
  const char* text;
  const char* evidence;
  double confidence; /**< 0 to 1; from 0.9 on no rival fits */
  const char* about; /**< "dump", "slice", "heads", "magnitude", "angles", "coverage" or "precision" */
} locus_verdict;
/** How many verdicts there are; at least one. */
LOCUS_API int locus_diagnosis_count(const locus_diagnosis* diagnosis, int64_t* count);
/** Verdict `index`, whose texts live as long as the diagnosis. */
LOCUS_API int locus_diagnosis_verdict(const locus_diagnosis* diagnosis, int64_t index, locus_verdict* verdict);
/** All that was found, as one JSON object under the names of `locus diagnose --json`. The text lives as long as the
 * diagnosis. */
LOCUS_API int locus_diagnosis_json(const locus_diagnosis* diagnosis, const char** json);
LOCUS_API void locus_diagnosis_free(locus_diagnosis* diagnosis); /**< NULL is allowed. */
/** @} */

#ifdef __cplusplus
}
#endif

#endif /* LOCUS_H */
