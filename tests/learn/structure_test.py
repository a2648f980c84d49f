# SPDX-License-Identifier: Apache-2.0
"""Every lesson exists in both languages and says the same in both: headings, blocks, formulas, numbers, questions, links.
What a lesson states was computed in it, and what every lesson must have is there. Nothing is run here."""
import io
import re
import sys
import tokenize
import unittest
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "scripts" / "lessons"))
import lesson as lessons  # noqa: E402
import runner  # noqa: E402

SECTIONS = {
    "en": [
        "By hand",
        "Figure",
        "What goes wrong in practice",
        "Examples and non-examples",
        "Strength and risk",
        "The five checks",
        "Questions",
    ],
    "es": [
        "A mano",
        "Figura",
        "Qué falla en la práctica",
        "Ejemplos y contraejemplos",
        "Ventajas y riesgos",
        "Las cinco comprobaciones",
        "Preguntas",
    ],
}
ISSUE = re.compile(r"\(https://github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)\)")
MARK = re.compile(r"<!-- explorer: (.*?) -->\n\n```console\n\$ locus plot (.*?)\n", re.DOTALL)


def paired():
    """The lessons that exist in both languages; which do not is a test of its own."""
    return [stem for stem in lessons.stems() if all((lessons.LEARN / one / f"{stem}.md").exists() for one in lessons.LANGUAGES)]


def both(stem):
    return [lessons.read(language, stem) for language in lessons.LANGUAGES]


def section(lesson, title):
    """The text of the file below a heading, up to the next of the same level."""
    text = lesson.path.read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def python_skeleton(text):
    """The tokens of a program without comments and without what its strings say."""
    kept = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.STRING:
            kept.append("string")
        elif token.type not in (tokenize.COMMENT, tokenize.NL):
            kept.append(token.string)
    return kept


def cpp_skeleton(text):
    return re.sub(r"//[^\n]*|\s+", " ", text).split()


def skeleton(block):
    """What must be the same in both languages."""
    if block.language == "python":
        return python_skeleton(block.text)
    if block.language == "cpp":
        return cpp_skeleton(block.text)
    if block.language == "console":
        return block.lines
    return lessons.numbers_of(block.text)  # words may be translated


def shown_numbers(lesson):
    return [number for block in lesson.blocks for number in lessons.numbers_of(block.text)]


class Lessons(unittest.TestCase):
    def test_exist_in_both_languages(self):
        self.assertEqual([stem[:2] for stem in lessons.stems()], [f"{number:02}" for number in range(8)])
        for stem in lessons.stems():
            for language in lessons.LANGUAGES:
                self.assertTrue((lessons.LEARN / language / f"{stem}.md").exists(), f"{stem} is missing in {language}")

    def test_headings_are_the_same(self):
        for stem in paired():
            one, other = both(stem)
            self.assertEqual([level for level, _ in one.headings], [level for level, _ in other.headings], stem)
            self.assertEqual(one.headings[0][1].split(".")[0], str(int(stem[:2])), stem)
            for lesson, language in zip((one, other), lessons.LANGUAGES):
                titles = [title for _, title in lesson.headings]
                places = [titles.index(title) if title in titles else -1 for title in SECTIONS[language]]
                self.assertNotIn(-1, places, f"{lesson.path}: {SECTIONS[language][places.index(min(places))]} is missing")
            # The sections that all lessons have stand at the same places in both languages.
            order = [
                [[title for _, title in lesson.headings].index(title) for title in SECTIONS[language]]
                for lesson, language in zip((one, other), lessons.LANGUAGES)
            ]
            self.assertEqual(order[0], order[1], stem)

    def test_blocks_are_the_same(self):
        for stem in paired():
            one, other = both(stem)
            self.assertEqual([block.language for block in one.blocks], [block.language for block in other.blocks], stem)
            for block, translated in zip(one.blocks, other.blocks):
                self.assertEqual(
                    skeleton(block),
                    skeleton(translated),
                    f"{one.path}:{block.line + 1} and {other.path}:{translated.line + 1} differ",
                )

    def test_formulas_are_the_same(self):
        for stem in paired():
            one, other = both(stem)
            difference = Counter(one.formulas), Counter(other.formulas)
            self.assertEqual(difference[0] - difference[1], Counter(), f"{stem}: only in {one.path.parent.name}")
            self.assertEqual(difference[1] - difference[0], Counter(), f"{stem}: only in {other.path.parent.name}")

    def test_numbers_are_the_same(self):
        for stem in paired():
            one, other = (Counter(lessons.stated_numbers(lesson.prose)) for lesson in both(stem))
            self.assertEqual(one, other, stem)

    def test_links_are_the_same_and_lead_somewhere(self):
        for stem in paired():
            targets = [re.findall(r"\]\(([^)\s]+)\)", lesson.prose) for lesson in both(stem)]
            self.assertEqual(Counter(targets[0]), Counter(targets[1]), stem)
            for target in targets[0]:
                if not target.startswith("http"):
                    place = lessons.LEARN / "en" / target.partition("#")[0]
                    self.assertTrue(place.exists(), f"{stem}: {target}")

    def test_state_only_what_was_computed(self):
        for stem in paired():
            for lesson in both(stem):
                shown = shown_numbers(lesson)
                for number in lessons.stated_numbers(lesson.prose):
                    self.assertTrue(lessons.is_among(number, shown), f"{lesson.path} states {number}; no block shows it")

    def test_have_three_to_five_questions_with_folded_answers(self):
        for stem in paired():
            counts = set()
            for lesson, language in zip(both(stem), lessons.LANGUAGES):
                text = section(lesson, SECTIONS[language][-1])
                folded = re.findall(r"<details><summary>\d\. .+?</summary>\n\n.+?\n\n</details>", text, re.DOTALL)
                self.assertEqual(len(folded), lesson.questions, f"{lesson.path}: a question has no folded answer")
                for summary in re.findall(r"<summary>(.*?)</summary>", text):  # HTML: Markdown and formulas stay raw
                    self.assertIsNone(re.search(r"[$`*]", summary), f"{lesson.path}: {summary}")
                counts.add(len(folded))
            self.assertEqual(len(counts), 1, f"{stem}: as many questions in both languages")
            self.assertIn(counts.pop(), (3, 4, 5), stem)

    def test_cite_a_public_issue(self):
        for stem in paired():
            for lesson, language in zip(both(stem), lessons.LANGUAGES):
                cited = ISSUE.findall(section(lesson, SECTIONS[language][2]))
                self.assertTrue(cited, f"{lesson.path} cites no issue where it says what goes wrong")

    def test_have_one_figure_with_its_command(self):
        for stem in paired():
            for lesson, language in zip(both(stem), lessons.LANGUAGES):
                text = section(lesson, SECTIONS[language][1])
                found = MARK.findall(text)
                self.assertEqual(len(found), 1, f"{lesson.path}: one figure with a mark for the explorer")
                self.assertEqual(found[0][0], found[0][1], f"{lesson.path}: the mark names what the command draws")

    def test_answer_five_checks(self):
        for stem in paired():
            for lesson, language in zip(both(stem), lessons.LANGUAGES):
                rows = re.findall(r"^\| .* \|$", section(lesson, SECTIONS[language][5]), re.MULTILINE)
                self.assertEqual(len(rows), 7, f"{lesson.path}: a head, a rule and five rows")

    def test_console_blocks_can_be_read(self):
        for stem in paired():
            for block in lessons.read("en", stem).blocks:
                if block.language == "console":
                    self.assertTrue(runner.commands_of(block), stem)


class Glossary(unittest.TestCase):
    """learn/glossary.md: | English | español | meaning | significado |, and below it the words not to use in Spanish."""

    def setUp(self):
        self.text = (lessons.LEARN / "glossary.md").read_text(encoding="utf-8")
        self.rows = [
            [cell.strip() for cell in line.strip("|").split("|")]
            for line in self.text.splitlines()
            if line.startswith("| ") and line.count("|") == 5 and not line.startswith("| ---")
        ][1:]

    def test_has_about_sixty_terms_each_once(self):
        self.assertGreaterEqual(len(self.rows), 55)
        self.assertLessEqual(len(self.rows), 75)
        for column in (0, 1):
            repeated = [word for word, count in Counter(row[column].lower() for row in self.rows).items() if count > 1]
            self.assertEqual(repeated, [])
        for row in self.rows:
            self.assertTrue(all(row), row)

    def test_lessons_use_its_words(self):
        avoided = re.findall(r"^\* \*([^*]+)\*", self.text, re.MULTILINE)
        self.assertGreater(len(avoided), 5)
        for stem in paired():
            prose = re.sub(r"`[^`]*`|\]\([^)]*\)|<!--.*?-->", " ", lessons.read("es", stem).prose.lower())
            for word in avoided:
                self.assertIsNone(re.search(rf"\b{re.escape(word.lower())}", prose), f"es/{stem} says {word}")


class Map(unittest.TestCase):
    """learn/README.md maps topics and computations to sections of lessons."""

    def test_every_topic_and_computation_leads_to_a_section(self):
        text = (lessons.LEARN / "README.md").read_text(encoding="utf-8")
        rows = re.findall(r"^\| (\d+) \| ([^|]+) \| \[[^]]+\]\(en/([\w-]+)\.md#([^)]+)\) \|", text, re.MULTILINE)
        numbers = [int(number) for number, *_ in rows]
        self.assertEqual(numbers, [*range(1, 26), *range(1, 11)])
        for _, topic, stem, anchor in rows:
            lesson = lessons.read("en", stem)
            anchors = [re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for _, title in lesson.headings]
            self.assertIn(anchor, anchors, f"{topic.strip()} leads to {stem}#{anchor}")
            title = lesson.headings[anchors.index(anchor)][1]
            self.assertIn("```", section(lesson, title), f"{topic.strip()}: {stem}#{anchor} has no checked block")


if __name__ == "__main__":
    unittest.main()
