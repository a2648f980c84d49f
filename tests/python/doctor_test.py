# SPDX-License-Identifier: Apache-2.0
"""verify and diagnose on code that is not ours: right, and wrong in known ways."""
import dataclasses
import json
import os
import re
import unittest
from pathlib import Path

import by_hand
import numpy as np

import locus

ROPE = locus.rope(head_dim=16, pairing="half", base=5e5)


def right(x, positions):
    return by_hand.rotate(x, positions, "half", base=5e5)


class Verify(unittest.TestCase):
    def test_right(self):
        found = locus.verify(right, ROPE)
        self.assertTrue(found, found)
        self.assertFalse(found.inferred)
        self.assertIn(f"{len(found.checks)} of {len(found.checks)} checks passed", repr(found))

    def test_in_place(self):
        def in_place(x, positions):
            x[...] = right(x, positions)

        self.assertTrue(locus.verify(in_place, ROPE))

    def test_inferred(self):
        found = locus.verify(lambda x, p: by_hand.rotate(x, p, "interleaved", base=10000.0), head_dim=32)
        self.assertTrue(found.inferred)
        self.assertTrue(found, found)
        arguments = found.encoding.arguments
        self.assertEqual((arguments["pairing"], arguments["base"]), ("interleaved", 10000.0))
        with self.assertRaisesRegex(ValueError, "give its encoding"):
            locus.verify(lambda x, p: np.random.default_rng(0).standard_normal(x.shape))

    def test_faults_are_named(self):
        wrong_pairing = locus.verify(lambda x, p: by_hand.rotate(x, p, "interleaved", base=5e5), ROPE)
        self.assertFalse(wrong_pairing)
        self.assertTrue(any("wrong pairing" in check.note for check in wrong_pairing.failures), wrong_pairing)
        late = locus.verify(lambda x, p: right(x, p + 1), ROPE)
        self.assertFalse(late)
        wraps = locus.verify(lambda x, p: right(x, p % 100000), ROPE)  # only far positions tell
        self.assertFalse(wraps)
        self.assertTrue(any(check.passed for check in wraps.checks))

    def test_errors_of_the_caller_come_through(self):
        def broken(x, positions):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            locus.verify(broken, ROPE)
        with self.assertRaisesRegex(ValueError, "must return the shape"):
            locus.verify(lambda x, p: x[:, :1], ROPE)

    def test_attention(self):
        alibi = locus.alibi(heads=4)

        def mine(q, k, v, query_ids, key_ids, query_boundaries=None, key_boundaries=None, key_mask=None, slope=1.0):
            seen = key_ids[None, :] <= query_ids[:, None]
            if key_mask is not None:
                seen = seen & (key_mask != 0)
            if query_boundaries is not None:
                documents = [np.searchsorted(b, np.arange(b[-1]), "right") for b in (query_boundaries, key_boundaries)]
                seen = seen & (documents[0][:, None] == documents[1][None, :])
            heads = q.shape[1]
            slopes = slope * 2.0 ** (-8.0 * np.arange(1, heads + 1) / heads)
            bias = -slopes[:, None, None] * np.maximum(query_ids[:, None] - key_ids[None, :], 0)
            blind = ~seen.any(axis=1)
            output = by_hand.attention(q, k, v, seen | blind[:, None], q.shape[2] ** -0.5, bias)
            output[blind] = 0
            return output

        found = locus.verify_attention(mine, alibi)
        self.assertTrue(found, found)
        self.assertFalse(locus.verify_attention(lambda *a, **k: mine(*a, **k, slope=2.0), alibi))

    def test_numbers_by_themselves(self):
        alibi = locus.alibi(heads=4)
        slopes = 2.0 ** (-8.0 * np.arange(1, 5) / 4)

        def mine(query_ids, key_ids):
            return -slopes[:, None, None] * (query_ids[:, None] - key_ids[None, :])

        self.assertTrue(locus.verify_bias(mine, alibi))
        shifted = locus.verify_bias(lambda q, k: mine(q, k) + 0.5, alibi)  # a softmax does not see this
        self.assertTrue(any("constant per row" in check.note for check in shifted.failures), shifted)
        sinusoidal = locus.sinusoidal(dim=8)

        def rows(ids):
            angles = ids[:, None] * 10000.0 ** (-np.arange(0, 8, 2) / 8)
            return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(len(ids), 8)

        self.assertTrue(locus.verify_rows(rows, sinusoidal, max_length=4096))
        late = locus.verify_rows(lambda ids: rows(ids + 1), sinusoidal, max_length=4096)
        self.assertTrue(any("off by one" in check.note for check in late.failures), late)

    def test_caches_and_log_sum_exps(self):
        nope = locus.nope()
        kept = {}

        def mine(q, k, v, query_ids, key_ids, sequence, cached, forked_from, unit=1.0, **ragged):
            if forked_from >= 0:
                kept[sequence] = kept[forked_from][:cached]
            if ragged:  # batches do not go through the cache
                keys = k
            else:
                keys = np.concatenate([kept[sequence][:cached], k[cached:]]) if cached else k
                kept[sequence] = keys
            seen = key_ids[None, :] <= query_ids[:, None]
            if "key_mask" in ragged:
                seen = seen & (ragged["key_mask"] != 0)
            if "query_boundaries" in ragged:
                documents = [
                    np.searchsorted(ragged[name], np.arange(ragged[name][-1]), "right")
                    for name in ("query_boundaries", "key_boundaries")
                ]
                seen = seen & (documents[0][:, None] == documents[1][None, :])
            group = q.shape[1] // keys.shape[1]
            scores = np.einsum("ihd,jhd->hij", q, np.repeat(keys, group, 1).astype(np.float64)) / q.shape[2] ** 0.5
            scores = np.where(seen[None], scores, -1e30)
            top = scores.max(-1, keepdims=True)
            weights = np.exp(scores - top)
            total = weights.sum(-1, keepdims=True)
            output = np.einsum("hij,jhd->ihd", weights / total, np.repeat(v, group, 1))
            return output, unit * (top + np.log(total))[..., 0].T

        found = locus.verify_attention(mine, nope)
        self.assertTrue(found, found)
        self.assertTrue(any(check.name == "log-sum-exp = exact" for check in found.checks))

        def in_base_two(*arrays, sequence, cached, forked_from, **ragged):
            return mine(*arrays, sequence, cached, forked_from, unit=1 / np.log(2), **ragged)

        wrong = locus.verify_attention(in_base_two, nope)
        self.assertEqual([check.note for check in wrong.failures], ["likely cause: log-sum-exp to base 2"])

    def test_arithmetic_follows_what_is_returned(self):
        def narrow(x, positions):
            bits = right(x, positions).astype(np.float32).view(np.uint32)
            return ((bits + 0x8000) & 0xFFFF0000).astype(np.uint32).view(np.float32)

        self.assertTrue(locus.verify(narrow, ROPE))
        self.assertFalse(locus.verify(narrow, ROPE, arithmetic="float32"))
        with self.assertRaisesRegex(ValueError, "arithmetic must be"):
            locus.verify(narrow, ROPE, arithmetic="bf16")

    def test_tables_that_end(self):
        table = np.arange(4096)

        def looked_up(x, positions):
            return right(x, table[positions])  # IndexError beyond, the wrong end below 0

        found = locus.verify(looked_up, ROPE)
        self.assertTrue(found, found)
        self.assertTrue(any("from 4096 on" in check.note for check in found.checks), found)
        self.assertTrue(locus.verify(looked_up, ROPE, max_length=4096))

    def test_claims(self):
        self.assertTrue(locus.verify_claims(ROPE))


class Diagnose(unittest.TestCase):
    def setUp(self):
        self.before = np.random.default_rng(2).standard_normal((1, 24, 2, 16)).astype(np.float32)

    def turned(self, positions, **more):
        return by_hand.rotate(self.before, positions, "half", **more).astype(np.float32)

    def test_as_expected(self):
        found = locus.diagnose(self.before, self.turned(np.arange(24), base=5e5), ROPE)
        self.assertTrue(found.as_expected, found)
        self.assertEqual((found.kind, found.slice.pairing, found.slice.rotary_dim), ("rotation", "half", 16))

    def test_off_by_one(self):
        found = locus.diagnose(self.before, self.turned(np.arange(1, 25), base=5e5), ROPE, positions=np.arange(24))
        self.assertFalse(found.as_expected)
        self.assertEqual(found.verdicts[0].name, "position_offset", found)
        self.assertIn("position_offset", repr(found))

    def test_values(self):
        self.assertTrue(locus.diagnose(self.before, self.before, ROPE, role="value").as_expected)
        found = locus.diagnose(self.before, self.turned(np.arange(24), base=5e5), ROPE, role="value")
        self.assertEqual(found.verdicts[0].name, "values_rotated", found)
        with self.assertRaisesRegex(ValueError, "query, key, value or output"):
            locus.diagnose(self.before, self.before, role="score")

    def test_says_what_was_not_judged(self):
        found = locus.diagnose(self.before, self.turned(np.arange(24), base=5e5), ROPE)
        self.assertTrue(any("assumed" in text for text in found.not_judged), found)

    def test_without_expectation(self):
        found = locus.diagnose(self.before[0].swapaxes(0, 1), self.turned(np.arange(24))[0].swapaxes(0, 1), axes="htd")
        self.assertEqual(found.explanations[0].encoding().arguments["base"], 10000.0)

    def test_bias(self):
        bias = by_hand.alibi_bias(8, 12, 12)
        self.assertTrue(locus.diagnose_bias(bias, locus.alibi(heads=8)).as_expected)
        self.assertFalse(locus.diagnose_bias(2 * bias, locus.alibi(heads=8)).as_expected)

    def test_refused(self):
        with self.assertRaisesRegex(ValueError, "same shape"):
            locus.diagnose(self.before, self.before[:, :5])
        with self.assertRaisesRegex(ValueError, "axes must be"):
            locus.diagnose(self.before[0], self.before[0], axes="bthd")


def members(header, struct):
    """The members that a C++ header declares in a struct."""
    body = re.search(r"^struct " + struct + r" \{$(.*?)^\};$", header, re.S | re.M).group(1)
    code = re.sub(r"//.*", "", body)
    code = re.sub(r"enum class[^;]*;|bool as_expected\(\)[^}]*\}", "", code)
    return {re.split(r"[ =]+", part.strip().split(" = ")[0])[-1] for part in code.split(";") if part.strip()}


class Fields(unittest.TestCase):
    """Python, the command's JSON and C have every field of the C++ results under the same name."""

    def setUp(self):
        folder = Path(os.environ["LOCUS_SOURCE_DIR"]) / "include" / "locus" / "doctor"
        self.structs = (folder / "diagnose.h").read_text() + (folder / "diagnose_bias.h").read_text()
        self.visited = (folder / "diagnosis_fields.h").read_text()

    def test_none_is_dropped(self):
        pairs = {
            "Verdict": locus.Verdict,
            "TurnedSlice": locus.Slice,
            "Explanation": locus.Explanation,
            "Diagnosis": locus.Diagnosis,
            "BiasDiagnosis": locus.BiasDiagnosis,
        }
        for struct, result in pairs.items():
            with self.subTest(struct=struct):
                function = re.search(r"visit_fields\(const " + struct + r"& .*?^\}", self.visited, re.S | re.M).group(0)
                shared = set(re.findall(r'field\("(\w+)"', function))
                self.assertEqual(members(self.structs, struct), shared - {"as_expected"})
                self.assertEqual({one.name for one in dataclasses.fields(result)}, shared)


class Figures(unittest.TestCase):
    def test_mime_bundle(self):
        if not hasattr(locus._core, "make_figure"):
            self.skipTest("this build has no figures")
        self.assertGreater(len(locus.figures()), 5)
        for name in locus.figures():
            bundle = locus.figure(name)._repr_mimebundle_()
            spec = bundle["application/vnd.vegalite.v5+json"]
            self.assertIn("vega-lite/v5", spec["$schema"])
        figure = ROPE.plot("wavelengths")
        self.assertIn("wavelengths", bundle["text/plain"] + repr(figure))
        with self.assertRaisesRegex(ValueError, "nothing-like-it"):
            locus.figure("nothing-like-it")

    def test_results_of_a_lab(self):
        if not hasattr(locus._core, "read_results"):
            self.skipTest("this build has no figures")
        path = Path(__file__).parent.parent / "web" / "fixture" / "results.json"
        found = locus.results(path)
        self.assertEqual(found["numbers"], json.loads(path.read_text())["numbers"])
        self.assertEqual([line["rank"] for line in found["ranking"]], sorted(line["rank"] for line in found["ranking"]))
        self.assertEqual(locus.results(path.parent)["ranking"], found["ranking"])
        names = [figure.name for figure in locus.results_figures(path)]
        self.assertEqual(names[0], "answer")
        self.assertIn("verbs-loss", names)
        spanish = {figure.name: figure.title for figure in locus.results_figures(path, language="es")}
        self.assertEqual(list(spanish), names)
        self.assertEqual(spanish["cost"], "Lo que cuesta un paso de entrenamiento")
        with self.assertRaisesRegex(ValueError, "fr"):
            locus.results_figures(path, language="fr")
        with self.assertRaisesRegex(ValueError, "no-such-folder"):
            locus.results("no-such-folder")


if __name__ == "__main__":
    unittest.main()
