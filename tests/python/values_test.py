# SPDX-License-Identifier: Apache-2.0
"""Encodings as values, errors, figures as files, and the example programs."""
import ast
import contextlib
import io
import json
import os
import pickle
import re
import subprocess
import sys
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import locus

EXAMPLES = Path(os.environ["LOCUS_SOURCE_DIR"]) / "examples" / "python"


class Equality(unittest.TestCase):
    def test_by_scheme_and_arguments(self):
        rope = locus.rope(head_dim=64, pairing="half")
        self.assertEqual(rope, locus.rope(head_dim=64, pairing="half", base=10000))  # the default
        self.assertNotEqual(rope, locus.rope(head_dim=64, pairing="interleaved"))
        self.assertNotEqual(rope, locus.xpos(head_dim=64, pairing="half"))
        self.assertNotEqual(rope, "rope")
        self.assertEqual(len({rope, locus.rope(head_dim=64, pairing="half"), locus.alibi(heads=8)}), 2)
        self.assertEqual(pickle.loads(pickle.dumps(rope)), rope)

    def test_tables_by_value(self):
        table = np.arange(12.0).reshape(4, 3)
        one, same = locus.learned(table=table), locus.learned(table=table.copy())
        self.assertEqual((one, hash(one)), (same, hash(same)))
        table[2, 1] += 1
        self.assertNotEqual(one, locus.learned(table=table))

    def test_rules(self):
        self.assertEqual(locus.yarn(factor=4), locus.yarn(factor=4))
        self.assertEqual(hash(locus.yarn(factor=4)), hash(locus.yarn(factor=4)))
        self.assertNotEqual(locus.yarn(factor=4), locus.yarn(factor=8))
        self.assertNotEqual(locus.linear(factor=4), locus.ntk(factor=4))


class Errors(unittest.TestCase):
    def test_are_value_errors_of_one_class(self):
        self.assertTrue(issubclass(locus.Error, ValueError))
        self.assertEqual(f"{locus.Error.__module__}.{locus.Error.__qualname__}", "locus.Error")
        rope = locus.rope(head_dim=8, pairing="half")
        for wrong in (
            lambda: locus.rope(head_dim=7, pairing="half"),  # the library's
            lambda: rope.apply(np.ones((2, 1, 8), np.float32), role="value"),  # the package's
            lambda: locus.from_config("absent.json"),
        ):
            with self.assertRaises(locus.Error):
                wrong()


@unittest.skipUnless(hasattr(locus._core, "make_figure"), "this build has no figures")
class Figures(unittest.TestCase):
    def setUp(self):
        self.figure = locus.figure("slopes", locus.alibi(heads=4))

    def test_are_saved(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            self.figure.save(folder / "slopes.txt")
            self.assertIn(self.figure.title.split()[0], (folder / "slopes.txt").read_text(encoding="utf-8"))
            self.figure.save(str(folder / "slopes.vl.json"))
            self.assertIn("vega-lite", (folder / "slopes.vl.json").read_text())
            if locus._core.can_write_pages():
                self.figure.save(folder / "slopes.html")
                self.assertTrue((folder / "slopes.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>"))
            with self.assertRaisesRegex(locus.Error, "slopes.pdf"):
                self.figure.save(folder / "slopes.pdf")
            self.assertFalse((folder / "slopes.pdf").exists())

    def test_draw_themselves_offline(self):
        text = self.figure._repr_html_()
        if locus._core.can_write_pages():
            self.assertTrue(text.startswith("<iframe srcdoc="))
            self.assertNotRegex(text, r"(src|href)=(&quot;|\")https?:", "nothing is loaded")
        else:
            self.assertTrue(text.startswith("<pre>"))

    @unittest.skipUnless(find_spec("nbconvert") and find_spec("nbformat"), "nbconvert is not installed")
    def test_nbconvert_keeps_the_picture(self):
        import nbformat
        from nbconvert import HTMLExporter

        notebook = nbformat.v4.new_notebook()
        output = nbformat.v4.new_output("execute_result", self.figure._repr_mimebundle_(), execution_count=1)
        notebook.cells = [nbformat.v4.new_code_cell("figure", outputs=[output], execution_count=1)]
        page, _ = HTMLExporter().from_notebook_node(notebook)
        self.assertIn(self.figure._repr_html_()[:2000], page)


def sources_of(notebook):
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "code"]


def run_notebook(path):
    """Runs the cells in order, as Jupyter does; returns what they print, and the values of last expressions."""
    printed, values, scope = io.StringIO(), [], {"__name__": "__main__"}
    for source in sources_of(path):
        body = ast.parse(source).body
        last = body.pop() if isinstance(body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(printed):
            exec(compile(ast.Module(body, []), path.name, "exec"), scope)
            if last:
                values.append(eval(compile(ast.Expression(last.value), path.name, "eval"), scope))
    return printed.getvalue(), values


class Examples(unittest.TestCase):
    @unittest.skipUnless(hasattr(locus._core, "make_figure"), "built without figures")
    def test_the_notebook_prints_what_it_says(self):
        path = EXAMPLES / "first_steps.ipynb"
        printed, values = run_notebook(path)
        wanted = re.findall(r"^print\(.*\)  # (.*)$", "".join(sources_of(path)), re.MULTILINE)
        self.assertGreaterEqual(len(wanted), 3)
        self.assertEqual(printed.splitlines(), wanted)
        self.assertIn(locus.Figure, [type(value) for value in values])

    def test_print_what_they_say(self):
        found = sorted(EXAMPLES.glob("*.py"))
        self.assertGreaterEqual(len(found), 3)
        for program in found:
            if program.name == "figures.py" and not hasattr(locus._core, "make_figure"):
                continue
            with tempfile.TemporaryDirectory() as folder:
                result = subprocess.run([sys.executable, program], cwd=folder, capture_output=True, text=True)
            self.assertEqual(result.returncode, 0, result.stderr)
            for line in program.read_text().splitlines():  # print(...)  # the output, or the output: why
                if line.startswith("print(") and "  # " in line:
                    self.assertIn(line.split("  # ")[1].split(":")[0], result.stdout, program.name)


if __name__ == "__main__":
    unittest.main()
