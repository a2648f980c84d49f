# SPDX-License-Identifier: Apache-2.0
"""The README's Python example runs and prints the shown output."""
import contextlib
import io
import os
import re
import unittest
from pathlib import Path

import numpy  # noqa: F401  (skips without it)


class Readme(unittest.TestCase):
    def test_example(self):
        text = (Path(os.environ["LOCUS_SOURCE_DIR"]) / "README.md").read_text()
        blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        self.assertTrue(blocks)
        for block in blocks:
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(block, "README.md", "exec"), {})
            self.assertEqual(printed.getvalue().split("\n")[:-1], re.findall(r"print\(.*\)  # (.*)", block))


if __name__ == "__main__":
    unittest.main()
