/* SPDX-License-Identifier: Apache-2.0 */
/* A C program that uses Locus from outside. */
#include <locus.h>
#include <math.h>
#include <stdio.h>

int main(void) {
  const locus_setting settings[] = {{.name = "head_dim", .text = "8"}, {.name = "pairing", .text = "half"}};
  const int64_t position = 2;
  const locus_ids ids = {.ids = &position, .tokens = 1};
  float q[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  const int64_t extents[] = {1, 8};
  locus_heads view;
  locus_encoding* rope = NULL;
  const int failed = locus_encoding_new("rope", settings, 2, &rope) ||
                     locus_heads_view(q, LOCUS_FLOAT32, "td", extents, &view) ||
                     locus_rotate(rope, &view, NULL, &ids, NULL);
  const int right = !failed && fabs(q[0] - (cos(2.0) - sin(2.0))) < 1e-6; /* the first pair turns by 2 x 1 */
  printf("%s %s\n", right ? "ok" : "wrong", locus_last_error());
  locus_encoding_free(rope);
  return right ? 0 : 1;
}
