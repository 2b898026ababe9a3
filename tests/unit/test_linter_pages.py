"""Pages of rules: made from docstrings, with examples that do what they say; and a library that is clean."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from linter_texts import Named, Open, document, linted, pattern

import prose_lang.linter.rules
from prose_lang import resources
from prose_lang.documents.loader import Loader
from prose_lang.linter import RULES, lint
from prose_lang.linter.pages import page, page_names
from prose_lang.semantics import Environment, Parameter, Signature

READER = "---\nname: reader\nkind: function\n---\n\n### Returns\n\n- `text`: it\n- `sources`: where\n"
FENCE = re.compile(r"^(?P<marks>`{3,})(?P<info>\w+)\n(?P<content>.*?)^(?P=marks)$", re.MULTILINE | re.DOTALL)
DECLARED = re.compile(r"<!-- (?P<declared>.*?) -->\n```")


def example(name: str, section: str) -> str | None:
    """The file that the example of a section is; None if the section has only words."""
    text = page(name)
    assert text is not None
    part = text.split(f"**{section}.**\n\n", 1)[1].split("\n\n**Use instead.**\n\n", 1)[0]
    fence = FENCE.search(part)
    if fence is None:
        return None
    if fence["info"] == "markdown":
        return fence["content"].replace("~~~", "```")
    declared = DECLARED.search(part)
    return pattern(fence["content"], declared["declared"] if declared else "")


def environment(name: str) -> Environment:
    if name == "dropped-binding":
        return Named(author=Signature((Parameter("topic", True),)), twice=Signature(open=True))
    if name == "missing-service":
        return Named(writer=Signature((Parameter("topic", True),)))
    if name == "unknown-output":
        return Named(reader=Signature((), outputs=document(READER).main.outputs))
    return Open()


def test_every_rule_has_a_file_of_its_name() -> None:
    folder = Path(prose_lang.linter.rules.__file__).parent
    files = {path.stem.replace("_", "-") for path in folder.glob("*.py")} - {"--init--"}
    assert files == set(RULES) == set(page_names())
    assert list(RULES) == sorted(RULES)
    for name, rule in RULES.items():
        assert rule.name == name
        assert type(rule).__module__.endswith(name.replace("-", "_"))


@pytest.mark.parametrize("name", RULES)
def test_form_of_a_page(name: str) -> None:
    text = page(name)
    assert text is not None
    lines = text.splitlines()
    assert lines[0] == f"# {name}"
    assert re.findall(r"^\*\*(.+?)\.\*\*", text, re.MULTILINE) == ["Why", "Example", "Use instead"]
    assert re.search(r"\(L\d+[a-z]?(,\s+L\d+[a-z]?)*\)", text) or name == "unused-allow", "the rule is cited"
    assert ("--fix" in lines[-1]) == RULES[name].mends
    assert text.endswith(".\n")
    assert all(len(line) <= 120 for line in lines[:-1])
    doc = type(RULES[name]).__doc__ or ""
    assert re.findall(r"^    ## (.+)$", doc, re.MULTILINE)[:3] == ["What it does", "Why", "Example"]


@pytest.mark.parametrize("name", RULES)
def test_the_example_shows_what_the_rule_finds_and_the_other_does_not(name: str) -> None:
    faulty = example(name, "Example")
    assert faulty is not None
    found = linted(faulty, environment(name))
    assert name in [finding.name for finding in found.findings]
    assert {finding.name for finding in found.findings} <= {name, "score-not-bounded"}
    assert found.errors == () or name == "ignored-fence"
    better = example(name, "Use instead")
    if better is not None:
        assert linted(better, environment(name)).findings == ()
        assert better != faulty


def test_pages_in_any_case_and_none_for_others() -> None:
    assert page(" Re-Let ") == page("re-let")
    assert page("relet") is None
    assert page("P201") is None


@pytest.mark.parametrize("name", resources.library_names())
def test_the_library_is_clean(name: str) -> None:
    found = lint(Loader().load(f"stdlib:{name}"))
    assert (found.errors, found.findings) == ((), ())
