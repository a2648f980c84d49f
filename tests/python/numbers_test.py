# SPDX-License-Identifier: Apache-2.0
"""Rows, tables, biases, position ids and models' files: numbers worked out by hand or from the definition."""
import json
import os
import struct
import tempfile
import unittest

import numpy as np

import locus
from locus import positions


class Rows(unittest.TestCase):
    def test_rotation(self):
        rope = locus.rope(head_dim=8, pairing="half", base=100.0)
        ids = np.array([0, 1, 12345])
        angle = ids[:, None] * 100.0 ** (-np.arange(4) / 4)
        for dtype, bound in ((np.float32, 2.0**-25 + 2e-9 + 1e-11), (np.float64, 1e-11)):  # 12345 x 2^-53 < 1e-11
            cos, sin = rope.rows(ids, dtype=dtype)
            self.assertEqual((cos.dtype, cos.shape), (dtype, (3, 4)))
            self.assertLessEqual(np.max(np.abs(cos - np.cos(angle))), bound)
            self.assertLessEqual(np.max(np.abs(sin - np.sin(angle))), bound)
        table = rope.table(20)
        np.testing.assert_array_equal(table[0][7], rope.rows([7])[0][0])
        with self.assertRaisesRegex(TypeError, "dtype must be float32 or float64"):
            rope.rows([1], dtype=np.float16)

    def test_hidden(self):
        encoding = locus.sinusoidal(dim=6)
        rate = 10000.0 ** (-2 * np.arange(3) / 6)
        want = np.empty((5, 6))
        want[:, 0::2], want[:, 1::2] = np.sin(np.outer(range(5), rate)), np.cos(np.outer(range(5), rate))
        self.assertLessEqual(np.max(np.abs(encoding.table(5, dtype=np.float64) - want)), 1e-14)
        x = np.ones((2, 5, 6))
        encoding.add_(x)
        self.assertLessEqual(np.max(np.abs(x - 1 - want)), 1e-14 + 2.0**-52)
        encoding.add_(x[:, ::-1][:, ::-1], positions=[4, 3, 2, 1, 0])
        self.assertLessEqual(np.max(np.abs(x[0] - 1 - want - want[::-1])), 1e-13)
        frozen = np.ones((5, 6))
        frozen.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "read-only"):
            encoding.add_(frozen)

    def test_length(self):
        encoding = locus.rope(head_dim=8, pairing="half", rule=locus.dynamic_ntk(factor=2, max_length=16))
        self.assertTrue(encoding.length_dependent)
        longer = encoding.at_length(64)
        # base (s L'/L - (s - 1))^(d / (d - 2)), of which pair 1 has the power -2/8
        base = 10000.0 * (2 * 64 / 16 - 1) ** (8 / 6)
        self.assertAlmostEqual(longer.inv_freq[1] / base ** (-2 / 8), 1, places=14)


class Biases(unittest.TestCase):
    def test_alibi(self):
        alibi = locus.alibi(heads=8)
        np.testing.assert_array_equal(alibi.slopes, 2.0 ** -np.arange(1, 9))
        distance = [[2, 1, 0, 0], [3, 2, 1, 0]]  # of queries 2 and 3 to the keys before them
        want = -(2.0 ** -np.arange(1, 9))[:, None, None] * np.array(distance)
        np.testing.assert_array_equal(alibi.bias(2, 4), want)
        np.testing.assert_array_equal(alibi.bias([2, 3], [0, 1, 2, 3]), want)
        with self.assertRaisesRegex(ValueError, "more queries"):
            alibi.bias(5, 4)

    def test_t5_buckets(self):
        table = np.arange(64, dtype=np.float32).reshape(32, 2)
        t5 = locus.t5(heads=2, table=table, bidirectional=False)
        # the first 16 distances have separate buckets; 128 and beyond share the last
        np.testing.assert_array_equal(t5.buckets([15], range(16)), [np.arange(15, -1, -1)])
        np.testing.assert_array_equal(t5.buckets([1000], [0, 872]), [[31, 31]])
        np.testing.assert_array_equal(t5.bias([15], [12])[:, 0, 0], table[3])


class Positions(unittest.TestCase):
    def same(self, got, want):
        np.testing.assert_array_equal(got, want)

    def test_plans(self):
        self.same(positions.prefill(3, 10), [10, 11, 12])
        self.same(positions.decode(12, 3), [12, 13, 14])
        left = positions.left_padded([1, 3], pad_id=1)
        self.same(left.ids, [[1, 1, 0], [0, 1, 2]])
        self.same(left.mask, [[False, False, True], [True, True, True]])
        self.same(positions.right_padded([1, 3], width=4).ids, [[0, 0, 0, 0], [0, 1, 2, 0]])
        self.same(positions.from_mask([[1, 0, 1], [0, 1, 1]]).ids, [[0, 0, 1], [0, 0, 1]])
        self.same(positions.packed([3, 1, 2]), [0, 1, 2, 0, 0, 1])
        self.same(positions.packed_from_cumulative([0, 3, 4, 6]), [0, 1, 2, 0, 0, 1])
        self.same(positions.shard("zigzag", 8, 2, 0), [0, 1, 6, 7])
        self.same(positions.shards("striped", 6, 2), [[0, 2, 4], [1, 3, 5]])
        self.same(positions.tree([-1, 0, 0, 1], prefix=5), [5, 6, 6, 7])
        self.same(positions.ancestor_mask([-1, 0, 0]), [[1, 0, 0], [1, 1, 0], [1, 0, 1]])
        stream = positions.streaming(10, 2, 3)
        self.same(stream.kept, [0, 1, 7, 8, 9])
        self.same(stream.ids, range(5))
        self.same(positions.grid(2, 3), [[0, 0, 0, 1, 1, 1], [0, 1, 2, 0, 1, 2]])
        self.same(positions.pixtral_ids(2, 2, 64), [0, 1, 64, 65])
        self.same(positions.patch_coordinates(1, 2), [[0, -0.5], [0, 0.5]])

    def test_multimodal_turns_decoding_and_drafts(self):
        whole = positions.multimodal([2, positions.Vision(rows=2, cols=2), 1, positions.Audio(3), 2])
        first = positions.multimodal([2, positions.Vision(rows=2, cols=2), 1])
        more = positions.multimodal([positions.Audio(3), 2], prefix=7, decode_delta=first.decode_delta)
        np.testing.assert_array_equal(np.concatenate([first.ids, more.ids], 1), whole.ids)
        self.assertEqual(more.decode_delta, whole.decode_delta)
        after = whole.ids.max() + 1
        np.testing.assert_array_equal(positions.multimodal_decode(12, whole.decode_delta, 2), [[after, after + 1]] * 3)
        np.testing.assert_array_equal(
            positions.multimodal_tree([-1, 0, 0], 12, whole.decode_delta), [[after, after + 1, after + 1]] * 3
        )
        np.testing.assert_array_equal(positions.accepted_path([-1, 0, 0, 2], 3), [0, 2, 3])
        keys = positions.compressed(3, 4)
        np.testing.assert_array_equal(keys.ids, [0, 4, 8])
        np.testing.assert_array_equal(keys.visible_from, [3, 7, 11])

    def test_document_shards_cut_pictures(self):
        # documents of 3 and 4 tokens over two ranks, in pieces of one token: 0 | 1 | 2 | padding, and 0 | 1 | 2 | 3
        shard = positions.document_shard("zigzag", [3, 4], 2, 0)
        np.testing.assert_array_equal(shard.ids, [0, 3, 0, 3])
        np.testing.assert_array_equal(shard.tokens, [0, -1, 3, 6])
        np.testing.assert_array_equal(shard.mask, [True, False, True, True])
        plan = positions.multimodal([3, positions.Vision(rows=2, cols=2)])
        np.testing.assert_array_equal(positions.cut(plan.ids, shard), [[0, 0, 3, 3], [0, 0, 3, 4], [0, 0, 3, 4]])
        with self.assertRaisesRegex(ValueError, "more than 6 tokens"):
            positions.cut([0, 1], shard)
        with self.assertRaisesRegex(ValueError, "rank"):
            positions.document_shard("zigzag", [3, 4], 2, 2)

    def test_multimodal(self):
        plan = positions.multimodal([2, positions.Vision(rows=2, cols=2), 1])
        self.same(plan.ids, [[0, 1, 2, 2, 2, 2, 4], [0, 1, 2, 2, 3, 3, 4], [0, 1, 2, 3, 2, 3, 4]])
        self.assertEqual(plan.decode_delta, -2)  # the eighth token, index 7, has id 5

    def test_refused(self):
        with self.assertRaises(ValueError):
            positions.prefill(-1)
        with self.assertRaisesRegex(TypeError, "lengths must be integers"):
            positions.packed([1.5])
        with self.assertRaisesRegex(ValueError, "kind must be contiguous, striped or zigzag"):
            positions.shard("round", 8, 2, 0)


class Models(unittest.TestCase):
    LLAMA = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 500000.0,
             "max_position_embeddings": 8192, "torch_dtype": "bfloat16"}
    GEMMA = {"model_type": "gemma3_text", "head_dim": 32, "hidden_size": 64, "num_attention_heads": 2,
             "num_hidden_layers": 6, "sliding_window_pattern": 6, "rope_theta": 1000000.0,
             "rope_local_base_freq": 10000.0, "max_position_embeddings": 1024}

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, config):
        path = os.path.join(self.folder.name, "config.json")
        with open(path, "w") as file:
            json.dump(config, file)
        return path

    def test_one_kind_of_layer(self):
        path = self.write(self.LLAMA)
        encoding = locus.from_config(path)
        arguments = encoding.arguments
        self.assertEqual((arguments["head_dim"], arguments["base"], arguments["pairing"]), (16, 500000.0, "half"))
        self.assertIn("rope_theta", encoding.reading.used)
        self.assertEqual(locus.from_config(self.folder.name).arguments, arguments)
        hf = locus.from_config(path, profile="hf").arguments
        self.assertEqual((hf["profile"], hf["table_type"]), ("hf", "bfloat16"))

    def test_models_that_are_not_expressed_or_not_applied_in_full(self):
        path = self.write({"model_type": "mamba"})
        with self.assertRaisesRegex(ValueError, "mamba has no attention"):
            locus.from_config(path)
        path = self.write({"model_type": "nanochat", "head_dim": 16})
        with self.assertRaisesRegex(ValueError, "turns queries and keys the other way"):
            locus.from_config(path)
        reading = locus.from_config(path, incomplete=True).reading
        self.assertIn("turns queries and keys the other way", reading.not_applied[0])
        path = self.write({"model_type": "cohere", "head_dim": 16})
        self.assertEqual(locus.from_config(path).reading.alternatives[0][0], "transformers up to 4.57")

    def test_several_kinds_of_layers(self):
        path = self.write(self.GEMMA)
        layers = locus.layers_from_config(path)
        bases = {kind: one.arguments["base"] for kind, one in layers.items()}
        self.assertEqual(bases, {"full_attention": 1e6, "sliding_attention": 1e4})
        with self.assertRaisesRegex(ValueError, "several layer types; choose one"):
            locus.from_config(path)
        self.assertEqual(locus.from_config(path, layer_type="sliding_attention").arguments["base"], 1e4)

    def test_gguf(self):
        def text(value):
            return struct.pack("<Q", len(value)) + value.encode()

        keys = [("general.architecture", 8, text("llama")), ("llama.embedding_length", 4, struct.pack("<I", 64)),
                ("llama.attention.head_count", 4, struct.pack("<I", 4)),
                ("llama.block_count", 4, struct.pack("<I", 2)), ("llama.context_length", 4, struct.pack("<I", 512)),
                ("llama.rope.freq_base", 6, struct.pack("<f", 500000.0))]
        path = os.path.join(self.folder.name, "model.gguf")
        with open(path, "wb") as file:
            file.write(b"GGUF" + struct.pack("<IQQ", 3, 0, len(keys)))  # version, tensors, keys
            for name, kind, value in keys:
                file.write(text(name) + struct.pack("<I", kind) + value)
        arguments = locus.from_config(path).arguments
        self.assertEqual((arguments["head_dim"], arguments["base"], arguments["pairing"]), (16, 500000.0, "interleaved"))

    def test_refused(self):
        with self.assertRaisesRegex(ValueError, "missing.json"):
            locus.from_config(os.path.join(self.folder.name, "missing.json"))
        with self.assertRaisesRegex(ValueError, "rope_theta"):
            locus.from_config(self.write({**self.LLAMA, "rope_theta": "big"}))


if __name__ == "__main__":
    unittest.main()
