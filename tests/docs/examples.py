# SPDX-License-Identifier: Apache-2.0
"""Runs every example of README.md and of `--help` as written, in order, beside a copy of examples/data.

    examples.py SOURCE LOCUS
"""
import os
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# What is not run here, and why.
NOT_RUN = {
    r"^locus lab(?! plan)": "trains, or needs a server; tests/lab does that",
    r"locus verify(?: +#.*)?$|locus verify --json >": "takes a minute; tests/cli does that",
    r"^locus bench": "measures this machine; tests/bench does that",
    r"^locus learn watch": "waits for edits",
    r"^locus learn start --language cpp": "the folder has the exercises in Python",
    r"--function ": "needs a program of the user",
    r"^locus (probe retrieve|report|plot .*--results) locus-lab": "reads what `locus lab` wrote",
    r"^locus plot .*--results": "reads what `locus lab` wrote",
}
MAY_FIND_FAULTS = r"^locus (diagnose|lint|learn (check|explain)|verify --broken)"  # exit code 1


def without_continuations(text):
    return re.sub(r"\\\n\s*", "", text)


def readme_examples(source):
    text = without_continuations((source / "README.md").read_text())
    return re.findall(r"^(?:    |\$ )(locus .*)$", text, re.MULTILINE)


def help_examples(commands_below, locus, *words):
    done = subprocess.run([locus, *words, "--help"], capture_output=True, text=True, env={**os.environ, "COLUMNS": "120"})
    if done.returncode != 0:  # locus lab, if it was not built
        return []
    example = re.search(r"^Examples?:(.*)", done.stdout, re.DOTALL | re.MULTILINE)
    found = re.findall(r"(locus .*)$", without_continuations(example[1]), re.MULTILINE) if example else []
    for name in commands_below(done.stdout):
        found += help_examples(commands_below, locus, *words, name)
    return found


def run_all(title, examples, data, locus):
    """Returns the number of examples that failed."""
    failed = ran = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "data"
        shutil.copytree(data, folder)
        path = f"{Path(locus).parent}:{os.environ['PATH']}"
        for line in examples:
            reason = next((why for pattern, why in NOT_RUN.items() if re.search(pattern, line)), None)
            if reason:
                print(f"not run: {line}   ({reason})")
                continue
            done = subprocess.run(["bash", "-c", line], cwd=folder, env={**os.environ, "PATH": path, "HOME": name},
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True)
            if done.returncode == 2 and "built without npm" in done.stderr:
                print(f"not run: {line}   (this locus cannot write pages)")
                continue
            ran += 1
            fault = done.returncode == 1 and (re.search(MAY_FIND_FAULTS, line) or "exit 1" in line)
            if done.returncode != 0 and not fault:
                failed += 1
                print(f"FAILED: {line}\n    exit code {done.returncode}: {done.stderr.strip()}")
    print(f"{title}: {ran} examples, {failed} failed")
    return failed + (ran == 0)


def main():
    source, locus = Path(sys.argv[1]), sys.argv[2]
    data = source / "examples" / "data"
    failed = run_all("README.md", readme_examples(source), data, locus)
    commands_below = runpy.run_path(str(source / "scripts" / "regenerate"))["commands_below"]
    failed += run_all("--help", help_examples(commands_below, locus), data, locus)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
