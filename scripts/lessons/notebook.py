# SPDX-License-Identifier: Apache-2.0
"""Converts a lesson to a Jupyter notebook (nbformat 4.5): commands and Python programs become cells with output."""
import json
import re

import lesson as lessons

SETUP = {
    "en": """# Finds the clone that this notebook is in, and works in a folder of its own.
import os, pathlib, sys, tempfile

root = next(folder for folder in [pathlib.Path.cwd(), *pathlib.Path.cwd().parents] if (folder / "learn/README.md").exists())
os.environ["PATH"] = os.environ["PATH"] + os.pathsep + str(root / "build/release/bin")  # ./bootstrap build
sys.path.append(str(root / "build/release/python"))
work = tempfile.TemporaryDirectory()
os.chdir(work.name)
for name in ("docs", "learn"):
    os.symlink(root / name, name)""",
    "es": """# Busca el clon en el que está este cuaderno y trabaja en una carpeta propia.
import os, pathlib, sys, tempfile

root = next(folder for folder in [pathlib.Path.cwd(), *pathlib.Path.cwd().parents] if (folder / "learn/README.md").exists())
os.environ["PATH"] = os.environ["PATH"] + os.pathsep + str(root / "build/release/bin")  # ./bootstrap build
sys.path.append(str(root / "build/release/python"))
work = tempfile.TemporaryDirectory()
os.chdir(work.name)
for name in ("docs", "learn"):
    os.symlink(root / name, name)""",
}


def path_of(language, stem):
    return lessons.LEARN / "notebooks" / language / f"{stem}.ipynb"


def lines_of(text):
    return text.splitlines(keepends=True)


def code_cell(source, shown):
    outputs = [{"name": "stdout", "output_type": "stream", "text": lines_of(shown)}] if shown else []
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": outputs, "source": lines_of(source)}


def text_cell(source):
    return {"cell_type": "markdown", "metadata": {}, "source": lines_of(source)}


def command_cells(block):
    """Returns one cell per command of a console block."""
    cells = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        lines = part.splitlines()
        count = 1
        while lines[count - 1].endswith("\\"):
            count += 1
        shown = "".join(line + "\n" for line in lines[count:])
        cells.append(code_cell("!" + "\n".join(lines[:count]), shown))
    return cells


def cells_of(lesson):
    """Returns cells in the order of the file. A program and the text block below it are one cell; C++ stays text."""
    lines = lesson.path.read_text(encoding="utf-8").splitlines()
    cells, at, folded = [], 0, False
    waiting = ""  # prose that is not yet in a cell

    def flush():
        nonlocal waiting
        if waiting.strip():
            cells.append(text_cell(waiting.strip("\n")))
        waiting = ""

    blocks = iter(lesson.blocks)
    pending = next(blocks, None)
    while pending:
        block, pending = pending, next(blocks, None)
        waiting += "".join(line + "\n" for line in lines[at : block.line - 1])
        at = block.line + len(block.lines) + 1
        folded = waiting.count("<details>") > waiting.count("</details>")
        if folded or block.language in ("cpp", "text"):
            # A folded block cannot contain a cell, and C++ has no cells: both stay text.
            waiting += "".join(line + "\n" for line in lines[block.line - 1 : at])
            continue
        flush()
        if block.language == "console":
            cells += command_cells(block)
            continue
        shown = ""
        if pending and pending.language == "text" and not "".join(lines[at : pending.line - 1]).strip():
            shown, at = pending.text, pending.line + len(pending.lines) + 1
            pending = next(blocks, None)
        cells.append(code_cell(block.text.rstrip("\n"), shown))
    waiting += "".join(line + "\n" for line in lines[at:])
    flush()
    return cells


def text_of(lesson):
    language = lesson.path.parent.name
    cells = [code_cell(SETUP[language], ""), *cells_of(lesson)]
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(notebook, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def notebooks():
    """Returns [(path, expected text)] of all notebooks."""
    return [
        (path_of(language, stem), text_of(lessons.read(language, stem)))
        for stem in lessons.stems()
        for language in lessons.LANGUAGES
        if (lessons.LEARN / language / f"{stem}.md").exists()
    ]
