# SPDX-License-Identifier: Apache-2.0
"""Parses a lesson for its tests and its notebook: headings, fenced blocks, prose, formulas, numbers."""
import re
from dataclasses import dataclass, field
from pathlib import Path

LANGUAGES = ("en", "es")
ROOT = Path(__file__).resolve().parent.parent.parent
LEARN = ROOT / "learn"

FENCE = re.compile(r"^```(\w*)$")
FORMULA = re.compile(r"\$\$(.+?)\$\$|\$(.+?)\$", re.DOTALL)
NUMBER = re.compile(r"(?<![\w.#])\d+(?:\.\d+)?(?![\w]|\.\d)")


@dataclass
class Block:
    """A fenced block; `line` is the line of the file where its text begins, counted from 0."""

    language: str
    line: int
    lines: list = field(default_factory=list)

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


@dataclass
class Lesson:
    path: Path
    headings: list  #: (level, title)
    blocks: list  #: of Block, in order
    prose: str  #: everything else

    @property
    def formulas(self):
        """Returns the formulas between dollar signs, without spaces and without the words of \\text."""
        found = (display or inline for display, inline in FORMULA.findall(self.prose))
        return [re.sub(r"\s+", "", re.sub(r"\\text\{[^}]*\}", r"\\text{}", plain_numbers(one))) for one in found]

    @property
    def questions(self):
        return self.prose.count("<summary>")


def plain_numbers(text):
    """16,777,216 and 16{,}777{,}216 and 16\\,777\\,216 as 16777216."""
    return re.sub(r"(?<=\d)(?:\{,\}|,|\\,)(?=\d{3}(?!\d))", "", text)


def stems():
    """Returns the names of all lessons, in any language."""
    return sorted({path.stem for language in LANGUAGES for path in (LEARN / language).glob("*.md")})


def read(language, stem):
    path = LEARN / language / f"{stem}.md"
    headings, blocks, prose = [], [], []
    inside = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        fence = FENCE.match(line)
        if inside is not None:
            if line == "```":
                inside = None
            else:
                inside.lines.append(line)
        elif fence:
            inside = Block(fence[1], number + 1)
            blocks.append(inside)
        else:
            heading = re.match(r"^(#+) (.*)$", line)
            if heading:
                headings.append((len(heading[1]), heading[2]))
            prose.append(line)
    if inside is not None:
        raise ValueError(f"{path}: the block at line {inside.line} is not closed")
    return Lesson(path, headings, blocks, "\n".join(prose))


def stated_numbers(prose):
    """Returns the numbers in the prose: with a decimal point, or of at least four digits. Years, references to papers
    and issues, addresses and comments do not count."""
    text = re.sub(r"<!--.*?-->", " ", prose, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)", "] ", text)
    text = re.sub(r"arXiv \d+\.\d+|\b(?:19|20)\d\d\b(?!,\d)", " ", plain_numbers(text))
    return [one for one in NUMBER.findall(text) if "." in one or len(one) >= 4]


def is_among(stated, shown):
    """Returns true if one of the shown numbers, rounded like the stated one, equals it."""
    decimals = len(stated.partition(".")[2])
    value = float(stated)
    return any(abs(one - value) <= 0.500001 * 10.0**-decimals for one in shown)


def numbers_of(text):
    return [abs(float(one)) for one in re.findall(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?", plain_numbers(text))]
