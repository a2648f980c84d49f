# SPDX-License-Identifier: Apache-2.0
"""Compares locus.attention with softmax in double."""
import unittest

import by_hand
import numpy as np

import locus

RNG = np.random.default_rng(11)


def qkv(queries, keys, heads, key_heads, dim, dtype=np.float64):
    return tuple(RNG.standard_normal(shape).astype(dtype) for shape in (
        (queries, heads, dim), (keys, key_heads, dim), (keys, key_heads, dim)))


class Attention(unittest.TestCase):
    # In double the bound of attention.h is (2 (d + 16) s + 4 n + 16) 2^-53 max|v|: with d = 8, n <= 12 and s <= 50 that
    # is below 1e-12; rotations add 2 s 1e-14.
    BOUND = 2e-12

    def close(self, got, want, bound=BOUND):
        self.assertLessEqual(np.max(np.abs(got - want)), bound)

    def test_plain_and_grouped(self):
        q, k, v = qkv(5, 9, 4, 2, 8)
        self.close(locus.attention(q, k, v), by_hand.attention(q, k, v, by_hand.causal(5, 9), 8**-0.5))
        everything = np.ones((5, 9), bool)
        self.close(locus.attention(q, k, v, causal=False, scale=1.0), by_hand.attention(q, k, v, everything, 1.0))

    def test_rope_is_applied_inside(self):
        q, k, v = qkv(6, 6, 2, 2, 8)
        ids = np.arange(100, 106)
        turned = [by_hand.rotate(one, ids, "half") for one in (q, k)]
        want = by_hand.attention(*turned, v, by_hand.causal(6, 6), 8**-0.5)
        rope = locus.rope(head_dim=8, pairing="half")
        before = q.copy()
        self.close(locus.attention(q, k, v, rope, positions=ids), want)
        np.testing.assert_array_equal(q, before)
        self.close(locus.attention(rope.apply(q, positions=ids), rope.apply(k, positions=ids), v, rope, positions=ids,
                                   rotated=True), want)
        # One token at a time with a cache gives the same.
        last = locus.attention(q[5:], k, v, rope, positions=[105], key_positions=ids)
        self.close(last, want[5:])

    def test_alibi(self):
        q, k, v = qkv(4, 7, 4, 4, 8)
        want = by_hand.attention(q, k, v, by_hand.causal(4, 7), 8**-0.5, by_hand.alibi_bias(4, 4, 7))
        self.close(locus.attention(q, k, v, locus.alibi(heads=4)), want)

    def test_masks_and_documents(self):
        q, k, v = qkv(6, 6, 2, 1, 8)
        distance = np.arange(6)[:, None] - np.arange(6)[None, :]
        window = (distance >= 0) & (distance < 3)
        self.close(locus.attention(q, k, v, window=3), by_hand.attention(q, k, v, window, 8**-0.5))
        mask = RNG.random((6, 6)) < 0.5
        mask[np.arange(6), np.arange(6)] = True
        self.close(locus.attention(q, k, v, causal=False, mask=mask), by_hand.attention(q, k, v, mask, 8**-0.5))
        padding = np.array([0, 1, 1, 1, 1, 0], bool)
        seen = np.broadcast_to(padding, (6, 6))
        self.close(locus.attention(q, k, v, causal=False, key_mask=padding),
                   by_hand.attention(q, k, v, seen, 8**-0.5))
        document = np.array([0, 0, 0, 0, 1, 1])
        own = by_hand.causal(6, 6) & (document[:, None] == document[None, :])
        got = locus.attention(q, k, v, positions=locus.positions.packed([4, 2]), boundaries=[0, 4, 6])
        self.close(got, by_hand.attention(q, k, v, own, 8**-0.5))

    def test_layouts_types_and_log_sum_exp(self):
        q, k, v = (one[None] for one in qkv(5, 5, 2, 2, 8))
        want = locus.attention(q, k, v)
        swapped = [np.ascontiguousarray(one.swapaxes(1, 2)) for one in (q, k, v)]
        np.testing.assert_array_equal(locus.attention(*swapped, axes="bhtd").swapaxes(1, 2), want)
        for dtype, bound in ((np.float32, 1e-5), (np.float16, 1e-2)):
            # the same bound with 2^-24, 1e-4 at most; float16 rounds inputs and output by 2^-11 of values below 4
            small = [one.astype(dtype) for one in (q, k, v)]
            output, lse = locus.attention(*small, return_lse=True)
            self.assertEqual((output.dtype, lse.shape, lse.dtype), (dtype, (1, 2, 5), np.float32))
            self.close(output, locus.attention(*(one.astype(np.float64) for one in small)), bound)
        score = float(np.dot(q[0, 0, 0], k[0, 0, 0])) * 8**-0.5  # the first query sees one key
        _, lse = locus.attention(q, k, v, return_lse=True)
        self.assertLessEqual(abs(lse[0, 0, 0] - score), 2.0**-24 * max(1, abs(score)) * 2)

    def test_refused(self):
        q, k, v = qkv(5, 4, 2, 2, 8)
        with self.assertRaisesRegex(ValueError, "more queries"):
            locus.attention(q, k, v)
        q, k, v = qkv(4, 4, 3, 2, 8)
        with self.assertRaisesRegex(ValueError, "heads"):
            locus.attention(q, k, v)
        q, k, v = qkv(4, 4, 2, 2, 8)
        with self.assertRaisesRegex(ValueError, "type"):
            locus.attention(q, k.astype(np.float32), v)
        with self.assertRaisesRegex(ValueError, "positions must be for 1 rows of 4 tokens"):
            locus.attention(q, k, v, positions=[1, 2])
        with self.assertRaisesRegex(TypeError, "mask must be boolean"):
            locus.attention(q, k, v, mask=np.zeros((4, 4)))
        with self.assertRaisesRegex(ValueError, "heads"):
            locus.attention(q, k, v, locus.alibi(heads=4))


if __name__ == "__main__":
    unittest.main()
