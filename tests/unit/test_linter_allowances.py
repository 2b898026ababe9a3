"""`# prose: allow[NAME]`: what it silences, and `unused-allow` where it silences nothing."""

from __future__ import annotations

import pytest
from linter_texts import Open, document, linted, marked, pattern, places

from prose_lang.diagnostics import Diagnostic, Severity
from prose_lang.linter import Settings, fix
from prose_lang.linter.allowances import without_silenced
from prose_lang.semantics import analyze
from prose_lang.text import Span

RE_LET = "let x = 1\nrepeat 2:\n  let x = 2{}\nreturn x"


@pytest.mark.parametrize(
    "body",
    [
        RE_LET.format("  # prose: allow[re-let]"),
        RE_LET.format("#prose:allow[ re-let ]"),
        RE_LET.format("  # prose: allow[re-let] published files do this"),
        "let x = 1\nrepeat 2:\n  # prose: allow[re-let]\n  let x = 2\nreturn x",
        "let x = 1\nrepeat 2:\n  # prose: allow[re-let]\n  # and why that is\n  let x = 2\nreturn x",
        "let x = 1\nrepeat 2:\n# prose: allow[re-let]\n  let x = call w\n    x: x\nreturn x",
    ],
)
def test_what_is_silenced(body: str) -> None:
    assert linted(pattern(body, "slots: w"), settings=Settings(ignore=frozenset({"unused-slot"}))).findings == ()


@pytest.mark.parametrize(
    "body",
    [
        # Not the line above, if something else stands there, or a line is between.
        "let x = 1\nrepeat 2: # prose: allow[re-let]\n  let x = 2\nreturn x",
        "let x = 1\nrepeat 2:\n  # prose: allow[re-let]\n\n  let x = 2\nreturn x",
        "let x = 1\nrepeat 2:\n  let x = 2\n  # prose: allow[re-let]\nreturn x",
        # Another rule; a text that is no comment.
        RE_LET.format("  # prose: allow[shadowing]"),
        'let x = "# prose: allow[re-let]"\nrepeat 2:\n  let x = "# prose: allow[re-let]"\nreturn x',
    ],
)
def test_what_is_not_silenced(body: str) -> None:
    assert "re-let" in [finding.name for finding in linted(pattern(body)).findings]


def test_several_names_in_one_comment() -> None:
    body = "let i = 1\nrepeat 2 as i: # prose: allow[shadowing, unused-variable]\n  call w\nreturn i"
    assert linted(pattern(body, "slots: w")).findings == ()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("let x = 1  # prose: allow[«re-let]\nreturn x", "`re-let` has nothing to silence here"),
        (RE_LET.format("  # prose: allow[re-let, «shadowing]"), "`shadowing` has nothing to silence here"),
        ("return 1  # prose: allow[«relet]", "there is no rule `relet`"),
        ("return 1  «# prose: allow", "this comment silences nothing"),
        ("return 1  «# prose: allow[]", "this comment silences nothing"),
        ("return 1  «# prose: allow re-let", "this comment silences nothing"),
        ("«# prose: allow(re-let)\nreturn 1", "this comment silences nothing"),
        ("return 1\n# prose: allow[«re-let]", "`re-let` has nothing to silence here"),
    ],
)
def test_unused(body: str, message: str) -> None:
    text, expected = marked(pattern(body))
    (finding,) = linted(text).findings
    assert (finding.name, finding.diagnostic.message) == ("unused-allow", message)
    assert places(linted(text), "unused-allow") == expected


def test_an_unknown_name_has_a_hint() -> None:
    (finding,) = linted(pattern("return 1  # prose: allow[relet]")).findings
    assert finding.diagnostic.hint == "did you mean `re-let`?"


@pytest.mark.parametrize(
    "body",
    [
        "return 1  # the prose: allow[re-let] comment",
        "return 1  # prose: not an allow",
        'return "# prose: allow[re-let]"',
        'return """\n# prose: allow[re-let]\n"""',
    ],
)
def test_what_is_no_such_comment(body: str) -> None:
    assert linted(pattern(body)).findings == ()


def test_rules_that_are_not_looked_at_cannot_be_told_to_be_silent_for_nothing() -> None:
    text = pattern(RE_LET.format("  # prose: allow[re-let]"))
    assert linted(text, settings=Settings(ignore=frozenset({"re-let"}))).findings == ()
    assert linted(text, settings=Settings(select=frozenset({"unused-allow"}))).findings == ()
    nothing = pattern("return 1  # prose: allow[re-let]")
    assert linted(nothing, settings=Settings(ignore=frozenset({"unused-allow"}))).findings == ()


def test_in_a_body_with_syntax_errors_no_comment_is_told_to_be_unused() -> None:
    found = linted(pattern("let x = (\n\nreturn 1  # prose: allow[unused-variable, nonsense]"))
    assert [finding.diagnostic.message for finding in found.findings] == ["there is no rule `nonsense`"]


MARKDOWN = """\
---
name: sample
kind: pattern
---

<!-- prose: allow[«re-let] -->

### Slots

- `a`: not called yet <!-- prose: allow[unused-slot] -->
<!-- prose: allow[unused-slot] the next version will -->
<!-- another comment -->
- `b`

### Config

- `n` (default: 1) <!-- prose: allow[«unused-slot] -->

```text
<!-- prose: allow[re-let] -->
# prose: allow[re-let]
```

### Delegation

```prose
return n
```
"""


def test_comments_in_markdown() -> None:
    text, expected = marked(MARKDOWN)
    found = linted(text)
    assert [finding.name for finding in found.findings] == ["unused-allow"] * 2
    assert places(found, "unused-allow") == expected


def test_a_heading_is_no_comment_between() -> None:
    text = (
        MARKDOWN.replace("«", "")
        .replace("\n\n### Slots", "\n### Slots")
        .replace("re-let] -->\n", "unused-slot] -->\n", 1)
    )
    assert "### Slots" in text
    assert [finding.diagnostic.line for finding in linted(text).findings] == [6, 16]


def test_comments_in_yaml() -> None:
    yaml = "- name: twice\n  pattern: sample\n  with:  # prose: allow[dropped-binding]\n    a: b\n"
    text = f"---\nname: x\nkind: function\n---\n\n### Services\n\n```yaml\n{yaml}```\n"
    (finding,) = linted(text).findings
    assert (finding.name, finding.diagnostic.line, finding.diagnostic.column) == ("unused-allow", 11, 25)


def test_a_bare_body() -> None:
    found = linted("\ufeff# prose: allow[undeclared-input]\nlet x = who  # prose: allow[re-let]\nreturn x\n")
    assert [(finding.name, finding.diagnostic.line) for finding in found.findings] == [("unused-allow", 2)]
    found = linted("\ufeff# prose: allow[re-let]\r\nreturn 1\r\n")
    assert fix(found.document, lambda _: Open()).text == "\ufeffreturn 1\r\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("return 1\t # prose: allow[re-let]  \n", "return 1\n"),
        ("# prose: allow[re-let, shadowing]\nreturn 1\n", "return 1\n"),
        ("return 1\n# prose: allow[re-let]", "return 1\n"),
        ("return 1 # prose: allow[re-let, nonsense]\n", "return 1 # prose: allow[nonsense]\n"),
    ],
)
def test_fixes(before: str, after: str) -> None:
    assert fix(document(before), lambda _: Open()).text == after


def test_only_lints_can_be_silenced_in_a_check() -> None:
    text = "loop:  # prose: allow[unbounded-loop, unknown-target]\n  call nothing\nloop:\n  break\n"
    found = list(analyze(document(text)).diagnostics)
    assert [item.name for item in found] == ["unbounded-loop", "unknown-target", "unbounded-loop"]
    left = without_silenced(found)
    assert [(item.name, item.line) for item in left] == [("unknown-target", 2), ("unbounded-loop", 3)]
    nowhere = Diagnostic(None, "said", None, None, name="re-let", severity=Severity.WARNING)
    unsaid = Diagnostic("P101", "said", found[0].source, Span(0, 0))
    assert without_silenced([nowhere, unsaid]) == [nowhere, unsaid]
