# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of a lesson or notebook, and compares their output with the output shown."""
import contextlib
import io
import os
import re
import shlex
import subprocess
import tempfile
import traceback
from pathlib import Path


class Mismatch(Exception):
    """The output differs from the output shown."""


def compare(shown, printed, source):
    """Compares outputs; `...` matches any lines, and inside a line any characters."""
    lines = printed.splitlines()
    at, anything = 0, False
    for line in shown:
        if line == "...":
            anything = True
            continue
        pattern = re.compile(".*".join(re.escape(part.strip(" ")) for part in line.split("...")))
        exact = "..." not in line

        def same(other):
            return other.rstrip() == line.rstrip() if exact else bool(pattern.fullmatch(other.strip(" ")))

        while anything and at < len(lines) and not same(lines[at]):
            at += 1
        if at == len(lines) or not same(lines[at]):
            raise Mismatch(f"{source}\ndoes not print\n{line}\nbut\n{printed}")
        at, anything = at + 1, False
    if not anything and at < len(lines):
        raise Mismatch(f"{source}\nprints more than the lesson shows:\n{printed}")


@contextlib.contextmanager
def workplace(learn):
    """Makes a folder in which `learn` is the folder of the lessons, `docs` that of the documents, `locus` the built command."""
    before = os.getcwd(), os.environ["PATH"]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "learn").symlink_to(learn)
        (Path(folder) / "docs").symlink_to(Path(learn).parent / "docs")
        commands = Path(folder) / ".bin"
        commands.mkdir()
        (commands / "locus").symlink_to(os.path.abspath(os.environ["LOCUS_COMMAND"]))
        os.environ["PATH"] = f"{commands}{os.pathsep}{before[1]}"
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before[0])
            os.environ["PATH"] = before[1]


def run_command(command):
    """Returns the output of a command. With `  # exit 1` after it, that exit code is expected, and errors are included."""
    command, _, code = command.partition("  # exit ")
    words = shlex.split(command)
    if words[0] != "locus":
        raise Mismatch(f"{command}: lessons run `locus` only")
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    if done.returncode != int(code or 0):
        raise Mismatch(f"{command}\nended with exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + (done.stderr if done.returncode else "")


def run_python(text, names, source):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(text, source, "exec"), names)
        except Exception:
            raise Mismatch(f"{source}\n{text}\n{traceback.format_exc()}") from None
    return printed.getvalue()


def run_cpp(text):
    Path("block.cpp").write_text(text)
    compiler = os.environ.get("LOCUS_CXX", "c++")
    built = subprocess.run([compiler, "-std=c++20", "-o", "block", "block.cpp"], capture_output=True, text=True)
    if built.returncode:
        raise Mismatch(f"{text}\n{built.stderr}")
    return subprocess.run(["./block"], check=True, capture_output=True, text=True, timeout=60).stdout


def commands_of(block):
    """Returns [(command, the lines shown below it)] of a console block; a backslash continues a command."""
    found, lines = [], iter(block.lines)
    for line in lines:
        if line.startswith("$ "):
            command = line[2:]
            while command.endswith("\\"):
                command = command[:-1].rstrip() + " " + next(lines).strip()
            found.append((command, []))
        elif not found:
            raise Mismatch(f"a console block must begin with `$ locus`, got {line}")
        else:
            found[-1][1].append(line)
    return found


def run_lesson(lesson):
    """Runs all blocks in order, in one Python session. A `text` block shows what the program above it prints.
    Returns the number of blocks."""
    names, count = {"__name__": "__main__"}, 0
    waiting = None  # what the program above printed

    def settle():
        if waiting:
            raise Mismatch(f"{lesson.path}: no block shows the output of a program:\n{waiting}")

    for block in lesson.blocks:
        source = f"{lesson.path}:{block.line + 1}"
        if block.language == "text":
            if waiting is None:
                raise Mismatch(f"{source}: a text block must follow a program")
            compare(block.lines, waiting, source)
            waiting = None
            continue
        settle()
        waiting = None
        if block.language == "console":
            for command, shown in commands_of(block):
                compare(shown, run_command(command), f"{source}: {command}")
        elif block.language == "python":
            waiting = run_python(block.text, names, source)
        elif block.language == "cpp":
            waiting = run_cpp(block.text)
        else:
            raise Mismatch(f"{source}: a block must be console, python, cpp or text, got {block.language!r}")
        count += 1
    settle()
    return count


def run_notebook(notebook):
    """Runs the code cells as Jupyter would: `!` before a command, everything else is Python."""
    names, count = {"__name__": "__main__"}, 0
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        text = "".join(cell["source"])
        source = f"cell {number}"
        shown = "".join(line for output in cell["outputs"] for line in output["text"]).splitlines()
        if text.startswith("!"):
            command = re.sub(r"\\\n\s*", " ", text[1:])
            compare(shown, run_command(command), f"{source}: {command}")
        else:
            compare(shown, run_python(text, names, source), source)
        count += 1
    return count
