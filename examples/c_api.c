/* SPDX-License-Identifier: Apache-2.0 */
/* Locus from C99: make an encoding, rotate queries in place, attend with a cache, read an error. */
#include <locus.h>
#include <stdio.h>
#include <stdlib.h>

static void check(int status) {
  if (status == LOCUS_OK) return;
  fprintf(stderr, "%s\n", locus_last_error());
  exit(1);
}

int main(void) {
  enum { TOKENS = 4, HEADS = 2, DIM = 64, SIZE = TOKENS * HEADS * DIM };
  static float q[SIZE], k[SIZE], v[SIZE], out[SIZE];
  const int64_t extents[] = {TOKENS, HEADS, DIM};
  const int64_t positions[TOKENS] = {1000000, 1000001, 1000002, 1000003};
  const locus_ids ids = {.ids = positions, .tokens = TOKENS};
  const locus_setting settings[] = {
      {.name = "head_dim", .text = "64"}, {.name = "pairing", .text = "half"}, {.name = "base", .text = "5e5"}};
  const locus_cache_shape shape = {
      .size = sizeof shape, .capacity = 16, .heads = HEADS, .head_dim = DIM, .type = LOCUS_FLOAT32};
  locus_encoding* rope = NULL;
  locus_cache* cache = NULL;
  locus_cached* cached = NULL;
  locus_cached_view stored = {.size = sizeof stored};
  locus_attention call = {.size = sizeof call};
  locus_heads key, value;
  int64_t sequence;
  int i;

  for (i = 0; i < SIZE; ++i) q[i] = k[i] = v[i] = (float)(i % 13) - 6;
  check(locus_encoding_new("rope", settings, 3, &rope));
  check(locus_heads_view(q, LOCUS_FLOAT32, "thd", extents, &call.query));
  check(locus_heads_view(k, LOCUS_FLOAT32, "thd", extents, &key));
  check(locus_heads_view(v, LOCUS_FLOAT32, "thd", extents, &value));
  check(locus_heads_view(out, LOCUS_FLOAT32, "thd", extents, &call.output));
  check(locus_rotate(rope, &call.query, NULL, &ids, NULL));

  check(locus_cache_new(rope, &shape, &cache)); /* rotates keys as they are appended */
  check(locus_cache_create(cache, &sequence));
  check(locus_cache_append(cache, sequence, &key, &value, (locus_span_i64){positions, TOKENS}, NULL));
  check(locus_cache_gather(cache, sequence, &cached));
  check(locus_cached_get(cached, &stored));
  call.key = stored.keys;
  call.value = stored.values;
  call.mask.causal = 1;
  check(locus_attend(&call));
  printf("locus %s on %s: %g\n", locus_version(), locus_simd_target(), out[0]);

  if (locus_encoding_new("rope", settings, 1, &rope) == LOCUS_OK) return 1; /* no pairing: refused */
  printf("as expected: %s\n", locus_last_error());
  locus_cached_free(cached);
  locus_cache_free(cache);
  locus_encoding_free(rope);
  return out[0] == v[0] ? 0 : 1; /* the first token sees only itself */
}
