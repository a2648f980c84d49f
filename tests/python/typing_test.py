# SPDX-License-Identifier: Apache-2.0
"""What a type checker sees of the package: right code passes mypy --strict, wrong code does not."""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path

import locus

PACKAGE = Path(locus.__file__).parent
EXAMPLES = Path(os.environ["LOCUS_SOURCE_DIR"]) / "examples" / "python"

STUBS = Path(__file__).parent / "stubs"  # PyTorch in three lines; its own types take mypy a minute
CACHE = PACKAGE.parent / "mypy-cache"

# A line that ends in `# wrong` must be an error, every other line must not.
PROGRAM = '''
import numpy as np
import locus

rope = locus.rope(head_dim=64, pairing="half", rule=locus.yarn(factor=4, original_length=8192))
named = locus.rope(head_dim=64, pairing="interleaved", rule="linear", factor=2)
print(rope == named, hash(rope), rope.apply(np.ones((2, 1, 64), np.float32), role="key"))
locus.Encoding("alibi", heads=8)
try:
    locus.t5(heads=8, bidirectional=True)
except locus.Error as error:
    print(error)
locus.figure("slopes", locus.alibi(heads=8)).save("slopes.html")
locus.rope(head_dim="x", pairing="half")  # wrong
locus.ropee(head_dim=64, pairing="half")  # wrong
locus.Encoding("ropee", head_dim=64)  # wrong
locus.rope(head_dim=64, pairing="neox")  # wrong
locus.rope(head_dim=64, pairing="half", rule="yern")  # wrong
locus.rope(head_dim=64)  # wrong
locus.alibi(head=8)  # wrong
rope.apply(np.ones((2, 1, 64)), role="value")  # wrong
'''


@unittest.skipUnless(find_spec("mypy"), "mypy is not installed")
class Mypy(unittest.TestCase):
    def test_sees_the_types(self):
        with tempfile.TemporaryDirectory() as name:
            program = Path(name) / "program.py"
            program.write_text(PROGRAM)
            found = subprocess.run(
                [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", CACHE, program,
                 *sorted(EXAMPLES.glob("*.py"))],
                capture_output=True, text=True, cwd=name,
                env={**os.environ, "MYPYPATH": f"{PACKAGE.parent}{os.pathsep}{STUBS}"},
            )  # fmt: skip
        errors = re.findall(r"^(.*?):(\d+): error: .*$", found.stdout, re.MULTILINE)
        in_examples = [line for line in found.stdout.splitlines() if "examples" in line]
        self.assertEqual(in_examples, [])
        wrong = {i for i, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# wrong")}
        seen = {int(line) for path, line in errors if path.endswith("program.py")}
        self.assertEqual(seen, wrong, found.stdout + found.stderr)


if __name__ == "__main__":
    unittest.main()
