# SPDX-License-Identifier: Apache-2.0
"""One lesson (LOCUS_LESSON) in both languages: its commands and programs run and print what it shows, in the Markdown and in
the notebook, and the notebook is the one that the Markdown gives."""
import json
import os
import sys
import unittest
from pathlib import Path

import numpy  # noqa: F401  (skips without it)

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "scripts" / "lessons"))
import lesson as lessons  # noqa: E402
import notebook  # noqa: E402
import runner  # noqa: E402

STEM = os.environ["LOCUS_LESSON"]


class Lesson(unittest.TestCase):
    def test_blocks_print_what_is_shown(self):
        for language in lessons.LANGUAGES:
            with self.subTest(language), runner.workplace(lessons.LEARN):
                self.assertGreaterEqual(runner.run_lesson(lessons.read(language, STEM)), 3)

    def test_notebook_is_the_lesson(self):
        for language in lessons.LANGUAGES:
            path = notebook.path_of(language, STEM)
            self.assertEqual(
                path.read_text(encoding="utf-8") if path.exists() else "",
                notebook.text_of(lessons.read(language, STEM)),
                f"{path} is stale; run scripts/regenerate",
            )

    def test_notebook_cells_print_what_is_shown(self):
        for language in lessons.LANGUAGES:
            with self.subTest(language), runner.workplace(lessons.LEARN):
                self.assertGreaterEqual(runner.run_notebook(json.loads(notebook.text_of(lessons.read(language, STEM)))), 4)


if __name__ == "__main__":
    unittest.main()
