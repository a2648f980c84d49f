# SPDX-License-Identifier: Apache-2.0
"""Rotation in place on NumPy arrays: types, layouts, views, and what is refused before the first write."""
import os
import signal
import threading
import time
import unittest

import by_hand
import numpy as np

import locus

RNG = np.random.default_rng(7)


def rope(dim=16, pairing="half", **more):
    return locus.rope(head_dim=dim, pairing=pairing, **more)


class Apply(unittest.TestCase):
    def check(self, got, before, positions, pairing, epsilon=2.0**-24, **more):
        want = by_hand.rotate(before, positions, pairing, **more)
        error = np.max(np.abs(np.asarray(got, dtype=np.float64) - want))
        self.assertLessEqual(error, by_hand.rotation_bound(before, epsilon))

    def test_types_and_pairings(self):
        for dtype, epsilon in ((np.float32, 2.0**-24), (np.float16, 2.0**-11), (np.float64, 2.0**-53)):
            for pairing in ("half", "interleaved"):
                q = RNG.standard_normal((2, 5, 3, 16)).astype(dtype)
                k = RNG.standard_normal((2, 5, 1, 16)).astype(dtype)
                q0, k0 = q.copy(), k.copy()
                rope(pairing=pairing, base=5e5).apply_(q, k, positions=100)
                ids = np.arange(100, 105)
                self.check(q, q0, ids, pairing, epsilon, base=5e5)
                self.check(k, k0, ids, pairing, epsilon, base=5e5)

    def test_exact_at_a_million(self):
        # 1,000,000 radians modulo 2 pi, by cos and sin of the C library in double
        q = np.zeros((1, 1, 2), np.float32)
        q[..., 0] = 1
        rope(2).apply_(q, positions=[1_000_000])
        self.assertLessEqual(abs(q[0, 0, 0] - np.cos(1e6)), 6e-8)
        self.assertLessEqual(abs(q[0, 0, 1] - np.sin(1e6)), 6e-8)

    def test_positions_per_row_and_default(self):
        x = RNG.standard_normal((2, 4, 2, 8)).astype(np.float32)
        ids = np.array([[0, 5, 9, 2], [7, 7, 1, 0]], dtype=np.int32)
        y = rope(8).apply(x, positions=ids)
        self.check(y, x, ids, "half")
        self.check(rope(8).apply(x), x, np.arange(4), "half")

    def test_layouts(self):
        x = RNG.standard_normal((2, 3, 5, 8)).astype(np.float32)  # [batch, heads, tokens, dim]
        ids = [3, 1, 4, 1, 5]
        y = rope(8).apply(x, positions=ids, axes="bhtd")
        self.check(np.swapaxes(y, 1, 2), np.swapaxes(x, 1, 2), ids, "half")
        one = x[0].copy()
        rope(8).apply_(one, positions=ids, axes="htd")
        np.testing.assert_array_equal(one, y[0])
        flat = x[0, 0].copy()
        rope(8).apply_(flat, positions=ids)
        np.testing.assert_array_equal(flat, y[0, 0])

    def test_strided_views_touch_nothing_else(self):
        whole = RNG.standard_normal((4, 6, 5, 12)).astype(np.float32)
        before = whole.copy()
        view = whole[::2, 1::2, 1:4, 2:10]
        rope(8).apply_(view, positions=[2, 4, 6])
        self.check(view, before[::2, 1::2, 1:4, 2:10], [2, 4, 6], "half")
        view[...] = before[::2, 1::2, 1:4, 2:10]
        np.testing.assert_array_equal(whole, before)

    def test_fused_query_key_value(self):
        fused = RNG.standard_normal((2, 4, (4 + 1 + 1) * 8)).astype(np.float32)
        before = fused.copy()
        q = fused[..., :32].reshape(2, 4, 4, 8)
        k = fused[..., 32:40].reshape(2, 4, 1, 8)
        self.assertTrue(np.shares_memory(q, fused) and np.shares_memory(k, fused))
        rope(8).apply_(q, k)
        self.check(q, before[..., :32].reshape(2, 4, 4, 8), np.arange(4), "half")
        self.check(k, before[..., 32:40].reshape(2, 4, 1, 8), np.arange(4), "half")
        np.testing.assert_array_equal(fused[..., 40:], before[..., 40:])

    def test_inverse_and_shift(self):
        x = RNG.standard_normal((5, 2, 8))
        y = x.copy()
        rope(8).apply_(y, positions=[9, 8, 7, 6, 5])
        rope(8).shift_(y, -4)
        self.check(y, x, [5, 4, 3, 2, 1], "half", epsilon=2.0**-24)  # shift is one more rounding
        rope(8).apply_(y, positions=[5, 4, 3, 2, 1], inverse=True)
        self.assertLessEqual(np.max(np.abs(y - x)), by_hand.rotation_bound(x))

    def test_several_axes(self):
        mrope = rope(8, axes="mrope", sections=[2, 1, 1])
        self.assertEqual(mrope.axes, 3)
        x = RNG.standard_normal((3, 1, 8)).astype(np.float32)
        ids = np.array([[1, 2, 3], [10, 20, 30], [7, 7, 7]])
        frequency = 10000.0 ** (-2.0 * np.arange(4) / 8)
        driven = ids[[0, 0, 1, 2]].T * frequency  # [tokens, pairs]
        want = by_hand.rotate(x, np.ones(3), "half", inv_freq=driven)
        self.assertLessEqual(np.max(np.abs(mrope.apply(x, positions=ids) - want)), by_hand.rotation_bound(x))
        text = mrope.apply(x, positions=[4, 5, 6])  # text: the same id on all axes
        self.check(text, x, [4, 5, 6], "half")

    def test_threads_give_the_same_bits(self):
        x = RNG.standard_normal((1, 4096, 8, 64)).astype(np.float32)
        one = rope(64).apply(x)
        try:
            locus.set_threads(3)
            self.assertEqual(locus.threads(), 3)
            np.testing.assert_array_equal(rope(64).apply(x), one)
        finally:
            locus.set_threads(1)


    def test_a_forked_child_goes_on_alone(self):
        x = RNG.standard_normal((1, 4096, 8, 64)).astype(np.float32)
        want = rope(64).apply(x)
        try:
            locus.set_threads(2)
            rope(64).apply(x)
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # instead of waiting for threads that are not there
                os._exit(0 if locus.threads() == 1 and np.array_equal(rope(64).apply(x), want) else 1)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
        finally:
            locus.set_threads(1)


class Refused(unittest.TestCase):
    """Each call fails with this message and leaves its arrays unchanged."""

    def refused(self, error, words, q, k=None, encoding=None, **more):
        before = [None if one is None else one.copy() for one in (q, k)]
        with self.assertRaisesRegex(error, words):
            (encoding or rope(8)).apply_(q, k, **more)
        for one, copy in zip((q, k), before):
            if one is not None:
                np.testing.assert_array_equal(one, copy)

    def x(self, *shape, dtype=np.float32):
        return RNG.standard_normal(shape or (2, 4, 3, 8)).astype(dtype)

    def test_memory(self):
        frozen = self.x()
        frozen.flags.writeable = False
        self.refused(ValueError, "k is read-only", self.x(), frozen)
        self.refused(ValueError, "contiguous in its last dimension", self.x(2, 4, 3, 16)[..., ::2])
        self.refused(ValueError, "negative strides", self.x()[:, ::-1])
        self.refused(ValueError, "contiguous|negative", self.x()[..., ::-1])
        twice = np.lib.stride_tricks.as_strided(self.x(), (2, 4, 3, 8), (0, 96, 32, 4))
        self.refused(ValueError, "more than once", twice)
        sliding = np.lib.stride_tricks.as_strided(self.x(), (1, 3, 2, 8), (0, 16, 32, 4))
        self.refused(ValueError, "more than once", sliding)
        whole = self.x(2, 4, 6, 8)
        self.refused(ValueError, "overlap", whole[:, :, :4], whole[:, :, 3:])
        self.refused(ValueError, "overlap", whole, whole)
        odd = np.zeros(2 * 8 * 4 + 1, np.uint8)[1:].view(np.float32).reshape(2, 1, 8)
        if not odd.flags.aligned:
            self.refused(ValueError, "aligned", odd)

    def test_overlap_as_numpy_sees_it(self):
        # Every pair of windows of one array: refused exactly if they share an element.
        whole = self.x(3, 4, 5, 8)
        windows = [(t, h) for t in (slice(0, 2), slice(1, 4), slice(2, 4)) for h in (slice(0, 2), slice(2, 5), slice(1, 3))]
        seen = {True: 0, False: 0}
        for tq, hq in windows:
            for tk, hk in windows:
                q, k = whole[:, tq, hq], whole[:, tk, hk]
                if q.shape[1] != k.shape[1]:
                    continue
                shared = np.shares_memory(q, k)
                seen[shared] += 1
                if shared:
                    self.refused(ValueError, "overlap", q, k)
                else:
                    rope(8).apply_(q, k)
        self.assertGreater(min(seen.values()), 10)

    def test_types(self):
        self.refused(TypeError, "float32.*got int64", np.ones((4, 3, 8), np.int64))
        self.refused(TypeError, "got complex64", np.ones((4, 3, 8), np.complex64))
        self.refused(TypeError, "byte order", self.x(4, 3, 8).astype(">f4"))
        with self.assertRaisesRegex(TypeError, "q must be a NumPy array.*got list"):
            rope(8).apply_([[[0.0] * 8]], self.x(1, 1, 8))

    def test_arrays_of_other_libraries_are_not_changed(self):
        class Foreign:
            def __init__(self, array):
                self.__dlpack__, self.__dlpack_device__, self.copy = array.__dlpack__, array.__dlpack_device__, array.copy

        array = self.x()
        before = array.copy()
        with self.assertRaisesRegex(ValueError, "x is read-only"):
            rope(8).apply_(Foreign(array))
        np.testing.assert_array_equal(array, before)

    def test_shapes_and_positions(self):
        self.refused(ValueError, "head_dim", self.x(2, 4, 3, 10))
        self.refused(ValueError, "dimensions", self.x(8))
        self.refused(ValueError, "axes must be", self.x(), axes="dhtb")
        self.refused(ValueError, "name 3 dimensions, it has 4", self.x(), axes="thd")
        self.refused(ValueError, "4 tokens, the position ids 3", self.x(), positions=[1, 2, 3])
        self.refused(ValueError, "batch rows", self.x(), positions=np.zeros((3, 4), int))
        self.refused(TypeError, "positions must be integers, got float64", self.x(), positions=[0.5, 1, 2, 3])
        self.refused(TypeError, "positions must be integers, got bool", self.x(), positions=np.ones(4, bool))
        self.refused(ValueError, "2147483648", self.x(), positions=2**31 - 3)
        self.refused(ValueError, "batch", self.x(), self.x(1, 4, 3, 8))
        self.refused(ValueError, "role must be", self.x(), role="value")

    def test_other_sites(self):
        self.refused(ValueError, "alibi", self.x(), encoding=locus.alibi(heads=3))
        with self.assertRaisesRegex(ValueError, "rope"):
            rope(8).add_(self.x(4, 8))


class Lock(unittest.TestCase):
    def test_released_while_a_kernel_runs(self):
        # The kernel runs for a few tenths of a second; if it held the lock, this thread would wake up at most once.
        q = RNG.standard_normal((1, 1500, 4, 64)).astype(np.float32)
        thread, turns = threading.Thread(target=locus.attention, args=(q, q, q), kwargs={"causal": False}), 0
        thread.start()
        while thread.is_alive():
            time.sleep(0.001)
            turns += 1
        thread.join()
        self.assertGreaterEqual(turns, 5)


if __name__ == "__main__":
    unittest.main()
