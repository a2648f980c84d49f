# SPDX-License-Identifier: Apache-2.0
"""probe_loss on a small llama2.c checkpoint with random weights; expected losses are computed in NumPy."""
import struct
import tempfile
import unittest
from pathlib import Path

import by_hand
import numpy as np

import locus

DIM, HIDDEN, LAYERS, HEADS, VOCAB, LENGTH = 16, 24, 2, 2, 20, 12
HEAD = DIM // HEADS


class Checkpoint:
    """The weights of a Llama in the order of llama2.c, version 0."""

    def __init__(self, seed):
        random = np.random.default_rng(seed)

        def weights(*shape):
            return random.standard_normal(shape).astype(np.float32) * 0.3

        self.embedding = weights(VOCAB, DIM)
        self.attention_norm = 1 + weights(LAYERS, DIM)
        self.q, self.k, self.v, self.o = (weights(LAYERS, DIM, DIM) for _ in range(4))
        self.ffn_norm = 1 + weights(LAYERS, DIM)
        self.gate, self.down, self.up = (
            weights(LAYERS, HIDDEN, DIM),
            weights(LAYERS, DIM, HIDDEN),
            weights(LAYERS, HIDDEN, DIM),
        )
        self.final_norm = 1 + weights(DIM)

    def write(self, path):
        parts = [self.embedding, self.attention_norm, self.q, self.k, self.v, self.o, self.ffn_norm, self.gate]
        parts += [self.down, self.up, self.final_norm, np.zeros(LENGTH * HEAD, np.float32)]
        header = struct.pack("<7i", DIM, HIDDEN, LAYERS, HEADS, HEADS, VOCAB, LENGTH)
        path.write_bytes(header + b"".join(np.ascontiguousarray(part).tobytes() for part in parts))

    def losses(self, tokens, scale):
        """-log p of each next token, positions divided by `scale`, in double."""

        def norm(x, weight):
            return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight

        x = self.embedding[tokens].astype(np.float64)
        positions = np.arange(len(tokens)) / scale
        seen = np.tril(np.ones((len(tokens), len(tokens)), bool))
        for i in range(LAYERS):
            n = norm(x, self.attention_norm[i])
            q, k, v = (np.reshape(n @ w[i].T, (-1, HEADS, HEAD)) for w in (self.q, self.k, self.v))
            q, k = (by_hand.rotate(one, positions, "interleaved", base=10000.0) for one in (q, k))
            scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(HEAD)
            scores = np.where(seen, scores, -np.inf)
            p = np.exp(scores - scores.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            x = x + np.einsum("hqk,khd->qhd", p, v).reshape(-1, DIM) @ self.o[i].T
            n = norm(x, self.ffn_norm[i])
            gate = n @ self.gate[i].T
            x = x + (gate / (1 + np.exp(-gate)) * (n @ self.up[i].T)) @ self.down[i].T
        logits = norm(x, self.final_norm) @ self.embedding.T
        logits -= logits.max(-1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
        return -log_p[np.arange(len(tokens) - 1), tokens[1:]]


class ProbeLoss(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.model = Path(folder.name) / "model.bin"
        self.checkpoint = Checkpoint(3)
        self.checkpoint.write(self.model)
        self.ids = np.random.default_rng(5).integers(0, VOCAB, 4 * LENGTH)

    def measure(self, **options):
        return locus.probe_loss(self.model, ids=self.ids, buckets=[0, LENGTH, 3 * LENGTH], **options)

    def test_losses_are_those_of_the_model(self):
        run = self.measure(rules="none,linear:2")
        self.assertEqual((run.trained_length, run.tokens), (LENGTH, 3 * LENGTH + 1))
        for name, scale in (("none", 1.0), ("linear:2", 2.0)):
            losses = self.checkpoint.losses(self.ids[: run.tokens], scale)
            curve = run.curve(name)
            self.assertFalse(curve.baseline)
            self.assertEqual([(one.begin, one.end, one.count) for one in curve.buckets],
                             [(0, LENGTH, LENGTH), (LENGTH, 3 * LENGTH, 2 * LENGTH)])
            for bucket in curve.buckets:
                part = losses[bucket.begin : bucket.end]
                self.assertAlmostEqual(bucket.mean, part.mean(), delta=1e-4)
                self.assertAlmostEqual(bucket.standard_error, part.std(ddof=1) / np.sqrt(len(part)), delta=1e-4)

    def test_the_window_reads_as_the_model_within_its_length(self):
        run = self.measure(rules=["none"])
        window = run.curve("sliding window")
        self.assertTrue(window.baseline)
        self.assertAlmostEqual(window.buckets[0].mean, run.curve("none").buckets[0].mean, delta=1e-4)

    def test_every_spelling_of_a_rule_is_the_same_rule(self):
        spellings = ["yarn:2", "rope:rule=yarn,factor=2", "rope:factor=2,rule=yarn"]
        run = self.measure(rules=";".join(spellings))
        first, *others = (run.curve(name).buckets for name in spellings)
        for other in others:
            self.assertEqual(first, other)
        changed = self.measure(rules=["rope:rule=yarn,factor=2,truncate=false"])
        self.assertEqual(len(changed.curves), 2)

    def test_length_dependent_rules_have_three_forms(self):
        names = [one.name for one in self.measure(rules="dynamic_ntk:2").curves]
        self.assertEqual(names[1:], ["dynamic_ntk:2 whole", "dynamic_ntk:2 rerotated", "dynamic_ntk:2 mixed"])

    def test_refused(self):
        for options, message in (
            ({"rules": "yran:2"}, "did you mean 'yarn'"),
            ({"rules": "rope:rule=yarn,factor=two"}, "two"),
            ({"window_stride": 0}, "stride .* must be from 1 to .*, got 0"),
            ({"text": "a"}, "text or ids"),
        ):
            with self.subTest(options=options), self.assertRaisesRegex(ValueError, message):
                self.measure(**options)
        with self.assertRaisesRegex(ValueError, "does not exist"):
            locus.probe_loss(self.model.parent / "none.bin")
        with self.assertRaisesRegex(ValueError, "must rise"):
            locus.probe_loss(self.model, ids=self.ids, buckets=[5, 3])
        with self.assertRaisesRegex(KeyError, "sliding window"):
            self.measure(rules="none").curve("ntk")


class Spellings(unittest.TestCase):
    def test_encoding(self):
        self.assertEqual(locus.encoding("alibi:heads=4").slopes.tolist(), locus.alibi(heads=4).slopes.tolist())
        rope = locus.encoding("rope:head_dim=16,pairing=half,rule=linear,factor=4")
        self.assertEqual(rope.arguments["factor"], 4.0)
        with self.assertRaisesRegex(ValueError, "did you mean 'rope'"):
            locus.encoding("ropee")


if __name__ == "__main__":
    unittest.main()
