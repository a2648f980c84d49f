# SPDX-License-Identifier: Apache-2.0
"""docs/results.md states only numbers that its tables, made from the reference run, show."""
import json
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts/lessons"))
import lesson as lessons  # noqa: E402

TABLE = re.compile(r"<!-- results \w+ -->.*?<!-- end -->", re.DOTALL)


class ResultsPage(unittest.TestCase):
    def test_states_only_what_the_run_has(self):
        text = (ROOT / "docs/results.md").read_text(encoding="utf-8")
        results = json.loads((ROOT / "docs/results/results.json").read_text(encoding="utf-8"))
        shown = lessons.numbers_of(" ".join(TABLE.findall(text)) + json.dumps(results["tasks"]))
        stated = lessons.stated_numbers(TABLE.sub("", text))
        self.assertGreater(len(stated), 20)
        for number in stated:
            self.assertTrue(lessons.is_among(number.lstrip("-"), shown), f"docs/results.md states {number}; no table shows it")

    def test_has_a_table_of_every_task(self):
        text = (ROOT / "docs/results.md").read_text(encoding="utf-8")
        results = json.loads((ROOT / "docs/results/results.json").read_text(encoding="utf-8"))
        for task in results["tasks"]:
            self.assertIn(f"<!-- results {task['name']} -->", text)


if __name__ == "__main__":
    unittest.main()
