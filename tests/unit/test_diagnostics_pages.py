"""The pages of `prose explain`: one for each code, in one form, with examples that other tests can run.

A fence of a page begins with `# faulty` or `# mended`. A `prose` fence is the complete body of a pattern; what the
pattern declares stands in a comment on the line above, as in

    <!-- slots: writer, reviewers[]; config: n=3; inputs: topic, notes[] -->

where `[]` marks a slot that takes several services, or an input that is a list.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import prose_lang.diagnostics.explain as explain_module
from prose_lang.diagnostics import CODES
from prose_lang.diagnostics.explain import explain, page_names, summary

PAGES = Path(explain_module.__file__).parent / "pages"
FENCE = re.compile(r"^(`{3,})(\w+)\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
NAME = r"[A-Za-z_][\w-]*(?:\[\])?"
NAMES = rf"{NAME}(?:, {NAME})*"
SETTINGS = r"[A-Za-z_][\w-]*=[^,;]+(?:, [A-Za-z_][\w-]*=[^,;]+)*"
PREAMBLE = re.compile(rf"<!-- (?:slots: {NAMES}|config: {SETTINGS}|inputs: {NAMES})(?:; \w+: [^;]+)* -->")


def page(name: str) -> str:
    return (PAGES / f"{name}.md").read_text(encoding="utf-8")


def test_every_code_has_a_page_and_no_page_is_without() -> None:
    coded = [name for name in page_names() if re.fullmatch(r"P\d+", name)]
    assert coded == sorted(CODES)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in page_names() if name not in CODES)
    assert {path.suffix for path in PAGES.iterdir()} == {".md"}


@pytest.mark.parametrize("name", sorted(CODES))
def test_form_of_a_page(name: str) -> None:
    text = page(name)
    lines = text.splitlines()
    assert lines[0] == f"# {name} {CODES[name].name}"
    assert 12 <= len(lines) <= 40
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert all(len(line) <= 120 and line == line.rstrip() and "\t" not in line for line in lines)
    assert text.count("**Why it is an error.** ") == 1
    assert text.count("**What else to try.**\n\n- ") == 1
    why = text.split("**Why it is an error.** ")[1].split("\n\n")[0]
    assert re.search(r"\(L\d+[a-z]?(,\s+L\d+[a-z]?)*\)|\(LANGUAGE §\d\)", why), "the rule is cited"


@pytest.mark.parametrize("name", sorted(CODES))
def test_examples_of_a_page(name: str) -> None:
    fences = FENCE.findall(page(name))
    kinds = [content.splitlines()[0] for _, _, content in fences]
    assert kinds == ["# faulty", "# mended"]
    assert {info for _, info, _ in fences} <= {"prose", "yaml", "text", "shell", "python"}
    assert len({info for _, info, _ in fences}) == 1
    lines = page(name).splitlines()
    for number, line in enumerate(lines):
        if line.startswith("<!--"):
            assert PREAMBLE.fullmatch(line), line
            assert lines[number + 1] == "```prose"


def test_what_has_no_code_has_a_page_too() -> None:
    text = page("format-refused")
    assert explain("Format-Refused") == text
    assert text.startswith("# format-refused\n\n`prose fmt` left a file as it is, ")
    assert "**Why it is an error.** " in text
    assert "**What else to try.**\n\n- " in text


def test_rules_that_pages_cite_are_rules_of_the_language() -> None:
    known = {f"L{number}" for number in range(1, 36)} | {"L13a"}
    for name in CODES:
        assert set(re.findall(r"\bL\d+[a-z]?\b", page(name))) <= known


def test_explain_finds_codes_and_names_in_any_case() -> None:
    text = page("P201")
    assert explain("P201") == explain("p201") == explain(" unknown-name ") == explain("Unknown-Name") == text


@pytest.mark.parametrize("text", ["P301", "P999", "", "nothing", "../pages/P201", "P201.md", "pages/P201", "*", "\x00"])
def test_explain_knows_nothing_else(text: str) -> None:
    assert explain(text) is None
    assert summary(text) is None


def test_summaries_are_the_first_paragraphs() -> None:
    assert summary("P202") == "A call names something that does not exist, or that is not callable."
    for name in CODES:
        paragraph = summary(name)
        assert paragraph is not None
        assert paragraph.endswith(".")
        assert "\n" not in paragraph
        assert 30 < len(paragraph) < 240
