# SPDX-License-Identifier: Apache-2.0
"""Functions made from the registry, and stubs that match the modules."""
import ast
import copy
import inspect
import pickle
import unittest
from pathlib import Path

import numpy as np

import locus
from locus import _core, _schemes

PACKAGE = Path(locus.__file__).parent


class Functions(unittest.TestCase):
    def test_one_per_scheme_and_rule(self):
        for entry in _core.schemes():
            encoding = getattr(locus, entry["name"])(**entry["example"])
            self.assertEqual((encoding.scheme, encoding.site), (entry["name"], entry["site"]))
            self.assertIn(entry["summary"], getattr(locus, entry["name"]).__doc__)
        self.assertEqual({one["name"] for one in _core.rules()} - set(dir(locus)), set())

    def test_the_example_of_the_issue(self):
        encoding = locus.rope(head_dim=128, pairing="half", base=5e5, rule=locus.yarn(factor=4, original_length=8192))
        self.assertEqual(encoding.arguments["rule"], "yarn")
        self.assertEqual(encoding.arguments["factor"], 4.0)
        self.assertAlmostEqual(encoding.magnitude, 0.1 * np.log(4) + 1, places=15)  # YaRN, equation 22
        same = locus.rope(head_dim=128, pairing="half", base=5e5, rule="yarn", factor=4, original_length=8192)
        np.testing.assert_array_equal(encoding.inv_freq, same.inv_freq)
        self.assertEqual(repr(encoding), repr(same))

    def test_signature_and_docstring(self):
        parameters = inspect.signature(locus.rope).parameters
        self.assertIs(parameters["head_dim"].default, inspect.Parameter.empty)
        self.assertEqual(parameters["base"].default, 10000.0)
        self.assertIsNone(parameters["rotary_dim"].default)
        self.assertTrue(all(one.kind in (one.KEYWORD_ONLY, one.VAR_KEYWORD) for one in parameters.values()))
        self.assertIn("half or interleaved; required", locus.rope.__doc__)
        self.assertIn("at least 2 and at most 65536", locus.rope.__doc__)

    def test_wrong_keywords(self):
        with self.assertRaisesRegex(TypeError, "rope.. has no parameter 'theta'; known: head_dim, pairing, base"):
            locus.rope(head_dim=8, pairing="half", theta=1e4)
        with self.assertRaisesRegex(TypeError, "yarn.. has no parameter 'scale'; known: factor"):
            locus.yarn(scale=4)
        with self.assertRaisesRegex(TypeError, "no parameter 'factor'"):
            locus.rope(head_dim=8, pairing="half", factor=4)  # no rule takes it
        with self.assertRaisesRegex(TypeError, "rope.. needs pairing: .*half or interleaved"):
            locus.rope(head_dim=8)
        with self.assertRaisesRegex(TypeError, "got factor twice"):
            locus.rope(head_dim=8, pairing="half", factor=2, rule=locus.linear(factor=4))
        with self.assertRaises(TypeError):
            locus.rope(8, "half")

    def test_wrong_values_have_the_library_s_message(self):
        with self.assertRaisesRegex(ValueError, "rope.rotary_dim must be even and at most head_dim .128., got 129"):
            locus.rope(head_dim=128, pairing="half", rotary_dim=129)
        with self.assertRaisesRegex(ValueError, "unknown rope.pairing 'neox'; known: half, interleaved"):
            locus.rope(head_dim=128, pairing="neox")
        with self.assertRaisesRegex(ValueError, "linear.factor must be"):
            locus.linear(factor=-1)
        with self.assertRaisesRegex(ValueError, "rope.head_dim must be an integer, got 8.5"):
            locus.rope(head_dim=8.5, pairing="half")
        with self.assertRaisesRegex(ValueError, "unknown rule 'magic'; known: none, linear"):
            locus.rope(head_dim=8, pairing="half", rule="magic")

    def test_numpy_scalars_lists_and_tensors(self):
        encoding = locus.rope(head_dim=np.int64(8), pairing="half", base=np.float32(500))
        self.assertEqual((encoding.arguments["head_dim"], encoding.arguments["base"]), (8, 500.0))
        table = np.arange(12, dtype=np.float64).reshape(4, 3)
        learned = locus.learned(table=table)
        np.testing.assert_array_equal(learned.rows([2]), table[2:3].astype(np.float32))

    def test_pickled_and_copied(self):
        encoding = locus.rope(head_dim=16, pairing="half", rule=locus.linear(factor=2))
        for other in (pickle.loads(pickle.dumps(encoding)), copy.deepcopy(encoding)):
            np.testing.assert_array_equal(other.inv_freq, encoding.inv_freq)
            self.assertEqual(repr(other), repr(encoding))


def functions_of(tree):
    """Name -> parameter names, of functions and of Class.method."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = [one.arg for one in node.args.args + node.args.kwonlyargs]
        elif isinstance(node, ast.ClassDef):
            for name, arguments in functions_of(node).items():
                found[f"{node.name}.{name}"] = arguments
    return found


class Stubs(unittest.TestCase):
    def test_schemes(self):
        text = (PACKAGE / "_schemes.pyi").read_text()
        stub = functions_of(ast.parse(text))
        for name in _schemes.__all__:
            parameters = inspect.signature(getattr(locus, name)).parameters.values()
            named = [one.name for one in parameters if one.kind is one.KEYWORD_ONLY]
            self.assertEqual(stub[name], named, name)

    def test_core(self):
        stub = functions_of(ast.parse((PACKAGE / "_core.pyi").read_text()))
        optional = {"figures", "make_figure"} - set(dir(_core))  # a build without figures
        module = {name for name in dir(_core) if not name.startswith("__") and callable(getattr(_core, name))}
        classes = {name for name in module if inspect.isclass(getattr(_core, name))}
        self.assertEqual({name for name in stub if "." not in name} - optional, module - classes)
        for name in ("Encoding", "AttentionOptions"):
            members = {one for one in vars(getattr(_core, name)) if not one.startswith("_")} | {"__init__"}
            self.assertEqual({one.split(".")[1] for one in stub if one.startswith(name + ".")}, members)

    def test_core_parameters(self):
        # pybind11's docstrings start with the signature: name(a: int, b: str) -> ...
        stub = functions_of(ast.parse((PACKAGE / "_core.pyi").read_text()))
        for name, arguments in stub.items():
            if "." in name or not hasattr(_core, name):
                continue
            head = getattr(_core, name).__doc__.split("\n")[0]
            for argument in arguments:
                if "arg0" not in head:
                    self.assertRegex(head, rf"\b{argument}: ", name)
            inside = head[head.index("(") : head.rindex(" ->")]
            self.assertEqual(inside.count(": "), len(arguments), head)

    def test_package_is_typed(self):
        self.assertTrue((PACKAGE / "py.typed").exists())
        for name in locus.__all__:
            self.assertTrue(hasattr(locus, name), name)


if __name__ == "__main__":
    unittest.main()
