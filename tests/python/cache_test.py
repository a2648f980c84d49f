# SPDX-License-Identifier: Apache-2.0
"""Compares locus.KvCache with attention over the same keys by hand, and checks what it refuses."""
import unittest

import by_hand
import numpy as np

import locus

RNG = np.random.default_rng(5)
HEADS, DIM = 2, 8


def tokens(count, heads=HEADS, dtype=np.float32):
    return RNG.standard_normal((count, heads, DIM)).astype(dtype)


def expected(q, k, v, query_ids, key_ids, mask=None):
    """Attention in double of queries and keys that are not rotated yet."""
    q, k, v = (one.astype(np.float64) for one in (q, k, v))
    seen = by_hand.causal(len(q), len(k)) if mask is None else mask
    return by_hand.attention(by_hand.rotate(q, query_ids, "half"), by_hand.rotate(k, key_ids, "half"), v, seen, DIM**-0.5)


class Cache(unittest.TestCase):
    def setUp(self):
        self.rope = locus.rope(head_dim=DIM, pairing="half")

    def cache(self, **more):
        return locus.KvCache(self.rope, **{"capacity": 256, "heads": HEADS, "head_dim": DIM, "page_size": 16, **more})

    def test_a_batch_of_different_lengths(self):
        cache = self.cache()
        lengths, data, sequences, queries = [40, 3, 17], [], [], []
        for length in lengths:
            k, v, sequence = tokens(length), tokens(length), cache.create()
            cache.append(sequence, k[: length - 1], v[: length - 1])
            cache.append(sequence, k[length - 1 :], v[length - 1 :])  # follows the last token
            data.append((k, v))
            sequences.append(sequence)
            queries.append(tokens(min(length, 2), 2 * HEADS))
        for threads in (1, 2):
            locus.set_threads(threads)
            got = cache.attend(sequences, queries)
            for (k, v), q, output in zip(data, queries, got):
                ids = np.arange(len(k))
                np.testing.assert_allclose(output, expected(q, k, v, ids[-len(q) :], ids), atol=2e-6)
        locus.set_threads(1)

    def test_moves(self):
        for more, bound in (({}, 2e-6), ({"int8": True}, 0.1), ({"raw_keys": True}, 2e-6), ({"dtype": "float16"}, 5e-3)):
            cache, dtype = self.cache(**more), np.float16 if "dtype" in more else np.float32
            k, v, q = tokens(50, dtype=dtype), tokens(50, dtype=dtype), tokens(1, dtype=dtype)
            first = cache.create()
            cache.append(first, k, v, np.arange(100, 150))
            fork = cache.fork(first)
            cache.slide(fork, 4, 20)  # renumbered
            self.assertEqual(cache.positions(fork).tolist(), list(range(24)))
            cache.shift(fork, 7)
            cache.shift(fork, 3, begin=20)
            cache.relocate(fork, 0, 2, 1)
            cache.divide(fork, 10, 20, 2)
            ids = np.arange(24) + 7
            ids[20:] += 3
            ids[:2] = (1, 2)
            ids[10:20] //= 2
            self.assertEqual(cache.positions(fork).tolist(), ids.tolist())
            kept = np.r_[0:4, 30:50]
            want = expected(q, k[kept], v[kept], ids[-1:], ids)
            before = cache.attend([fork], [q])[0]
            np.testing.assert_allclose(before, want, atol=bound)
            cache.settle(fork)
            np.testing.assert_array_equal(cache.attend([fork], [q])[0], before)
            unmoved = expected(q, k, v, [149], np.arange(100, 150))
            np.testing.assert_allclose(cache.attend([first], [q])[0], unmoved, atol=bound)

    def test_a_tree_of_drafts(self):
        cache = self.cache()
        sequence, k, v = cache.create(), tokens(13), tokens(13)
        ids = np.r_[0:10, locus.positions.tree([-1, 0, 0], prefix=10)]
        cache.append(sequence, k[:10], v[:10])
        cache.append(sequence, k[10:], v[10:], ids[10:], any_order=True)
        tree = locus.positions.ancestor_mask([-1, 0, 0])
        np.testing.assert_array_equal(tree, np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1]], bool))
        q = tokens(3)
        mask = np.concatenate([np.ones((3, 10), bool), tree], axis=1)
        np.testing.assert_allclose(cache.attend([sequence], [q], trees=[tree])[0],
                                   expected(q, k, v, ids[10:], ids, mask), atol=2e-6)
        cache.keep(sequence, 10, [10, 12])  # the accepted path
        kept = np.r_[0:11, 12]
        self.assertEqual(cache.positions(sequence).tolist(), ids[kept].tolist())
        got_k, got_v, _ = cache.gather(sequence)
        np.testing.assert_array_equal(got_v, v[kept])
        np.testing.assert_allclose(got_k, by_hand.rotate(k[kept].astype(np.float64), ids[kept], "half"), atol=1e-6)

    def test_several_axes(self):
        mrope = locus.rope(head_dim=DIM, pairing="half", axes="mrope", sections=[2, 1, 1])
        cache = locus.KvCache(mrope, capacity=64, heads=HEADS, head_dim=DIM, page_size=16)
        sequence, k, v = cache.create(), tokens(6), tokens(6)
        ids = np.array([[0, 1, 1, 1, 1, 3], [0, 1, 1, 2, 2, 3], [0, 1, 2, 1, 2, 3]])
        cache.append(sequence, k, v, ids)
        cache.shift(sequence, [5, 6, 7])
        moved = ids + np.array([[5], [6], [7]])
        np.testing.assert_array_equal(cache.positions(sequence), moved)
        got, _, _ = cache.gather(sequence)
        np.testing.assert_allclose(got, mrope.apply(k, positions=moved), atol=1e-6)

    def test_equal_pages_are_stored_once(self):
        cache = self.cache(share_equal_pages=True)
        k, v = tokens(40), tokens(40)
        for _ in range(2):
            cache.append(cache.create(), k, v)
        self.assertEqual(cache.free_pages, 16 - 2 - 1 - 1)  # two pages in common, and one that is not full for each

    def test_bad_input_changes_nothing(self):
        cache = self.cache(capacity=32)
        sequence, freed, k = cache.create(), cache.create(), tokens(4)
        cache.free(freed)
        cache.append(sequence, k, k)
        q = tokens(1)
        before = cache.attend([sequence], [q])[0]
        wrong = {
            "no free page": lambda: cache.append(sequence, tokens(29), tokens(29)),
            "unknown sequence 1": lambda: cache.append(freed, k, k),
            "unknown sequence 9": lambda: cache.fork(9),
            "positions must rise": lambda: cache.append(sequence, k, k, [3, 4, 5, 6]),
            "positions must be from": lambda: cache.append(sequence, k, k, [2**40, 2**40 + 1, 2**40 + 2, 2**40 + 3]),
            "tokens must be float32": lambda: cache.append(sequence, k.astype(np.float16), k.astype(np.float16)),
            "4 positions": lambda: cache.append(sequence, k, tokens(3)),
            "truncate": lambda: cache.truncate(sequence, 5),
            "keep": lambda: cache.keep(sequence, 4, [4]),
            "sinks": lambda: cache.slide(sequence, -1, 1),
            "shift tokens": lambda: cache.shift(sequence, 1, begin=3, end=9),
            "shift by at most": lambda: cache.shift(sequence, 2**60),
            "one delta per axis": lambda: cache.shift(sequence, [1, 2]),
            "relocate": lambda: cache.relocate(sequence, 0, 9, 0),
            "group": lambda: cache.divide(sequence, 0, 2, 0),
            "site": lambda: cache.set_encoding(locus.alibi(heads=2)),
            "element types": lambda: cache.attend([sequence], [q.astype(np.float16)]),
            "unknown sequence 7": lambda: cache.attend([7], [q]),
            "tree": lambda: cache.attend([sequence], [q], trees=[np.ones((2, 2), bool)]),
            "fewer than": lambda: cache.attend([sequence], [tokens(5)]),
            "sequences and queries": lambda: cache.attend([sequence], [q, q]),
            "page_size": lambda: self.cache(page_size=8),
            "2^40": lambda: self.cache(capacity=2**62),
            "dtype": lambda: self.cache(dtype="float64"),
            "head_dim": lambda: self.cache(head_dim=6),
        }
        for part, call in wrong.items():
            with self.subTest(part), self.assertRaisesRegex(ValueError, part.replace("^", r"\^")):
                call()
            self.assertEqual(cache.positions(sequence).tolist(), [0, 1, 2, 3])
            np.testing.assert_array_equal(cache.attend([sequence], [q])[0], before)
        with self.assertRaises(TypeError):
            cache.append(sequence, k, k, [0.5, 1.5, 2.5, 3.5])


class TokenNumbers(unittest.TestCase):
    """Gates in the cache: sums go on from chunk to chunk."""

    def setUp(self):
        self.encoding = locus.forget_gate(heads=HEADS)
        self.cache = locus.KvCache(self.encoding, capacity=64, heads=HEADS, head_dim=DIM, page_size=16)

    def test_chunks_equal_the_definition(self):
        k, v, q = tokens(20), tokens(20), tokens(20)
        gates = -np.abs(RNG.standard_normal((20, HEADS)))
        sums = np.cumsum(gates, axis=0)
        sequence, got = self.cache.create(), []
        for first in range(0, 20, 6):
            part = slice(first, first + 6)
            before = self.cache.last_numbers(sequence)[:, 0]
            self.cache.append(sequence, k[part], v[part], numbers=before + np.cumsum(gates[part], axis=0))
            got.append(self.cache.attend([sequence], [q[part]])[0])
        scores = np.einsum("qhd,khd->hqk", q, k).astype(np.float64) * DIM**-0.5
        scores += sums.T[:, :, None] - sums.T[:, None, :]
        scores[:, ~by_hand.causal(20, 20)] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        want = np.einsum("hqk,khd->qhd", weights / weights.sum(-1, keepdims=True), v)
        np.testing.assert_allclose(np.concatenate(got), want, atol=4e-6)
        np.testing.assert_allclose(self.cache.numbers(sequence)[..., 0], sums, atol=1e-12)
        again = self.cache.attend([sequence], [q[19:]], query_numbers=[sums[19:]], key_numbers=[sums])[0]
        np.testing.assert_allclose(again, want[19:], atol=4e-6)

    def test_a_gate_of_the_wrong_shape_changes_nothing(self):
        sequence, k = self.cache.create(), tokens(4)
        self.cache.append(sequence, k, k, numbers=np.zeros((4, HEADS)))
        free = self.cache.free_pages
        for numbers in (np.zeros((3, HEADS)), np.zeros((4, HEADS + 1)), np.zeros((4, HEADS, 2)), np.zeros(4)):
            with self.assertRaisesRegex(ValueError, r"^[^\n]*numbers must be[^\n]*$"):
                self.cache.append(sequence, k, k, numbers=numbers)
            self.assertEqual((self.cache.length(sequence), self.cache.free_pages), (4, free))
        with self.assertRaisesRegex(ValueError, "key_numbers"):
            self.cache.attend([sequence], [k[:1]], key_numbers=[np.zeros((3, HEADS))])
        with self.assertRaisesRegex(ValueError, "1 sequences and key_numbers for 2"):
            self.cache.attend([sequence], [k[:1]], key_numbers=[None, None])
        plain = locus.KvCache(locus.alibi(heads=HEADS), capacity=16, heads=HEADS, head_dim=DIM)
        self.assertIsNone(plain.last_numbers(plain.create()))
        with self.assertRaisesRegex(ValueError, "takes no numbers"):
            plain.append(0, k, k, numbers=np.zeros((4, HEADS)))


class PolarHeads(unittest.TestCase):
    def test_decoding_equals_the_definition(self):
        pope = locus.pope(head_dim=DIM, heads=HEADS, phases=-np.abs(RNG.standard_normal((HEADS, DIM))))
        cache = locus.KvCache(pope, capacity=64, heads=HEADS, head_dim=2 * DIM, page_size=16)
        k, v, q, sequence = tokens(9), tokens(9), tokens(9), cache.create()
        padded = np.concatenate([v, np.zeros_like(v)], axis=-1)
        got = []
        for t in range(9):
            cache.append(sequence, pope.to_polar(k[t : t + 1], role="key"), padded[t : t + 1])
            got.append(cache.attend([sequence], [q[t : t + 1]])[0][..., :DIM])
        phases = np.clip(pope.arguments["phases"], -2 * np.pi, 0)
        rate = 10000.0 ** (-np.arange(DIM) / DIM)
        qs, ks = (np.log1p(np.exp(x.astype(np.float64))) for x in (q, k))
        angle = (np.arange(9)[:, None] - np.arange(9))[None, :, :, None] * rate - phases[:, None, None]
        scores = np.einsum("qhc,khc,hqkc->hqk", qs, ks, np.cos(angle)) * DIM**-0.5
        scores[:, ~by_hand.causal(9, 9)] = -np.inf
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        want = np.einsum("hqk,khd->qhd", weights / weights.sum(-1, keepdims=True), v)
        np.testing.assert_allclose(np.concatenate(got), want, atol=5e-6)


if __name__ == "__main__":
    unittest.main()
