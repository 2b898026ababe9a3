"""Mending: nothing is changed unless the text then checks at least as well."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from linter_texts import Open, document, linted, pattern

import prose_lang.linter.linting as linting_module
from prose_lang.linter import Finding, Fix, Rule, Settings, fix
from prose_lang.linter.subject import Subject
from prose_lang.syntax import nodes as n
from prose_lang.text import Span
from prose_lang.text.edit import Edit

NESTED = "let x = 1\nrepeat 2:\n  let x = 2\n  repeat 2:\n    let x = 3\nreturn x"


def test_several_findings_in_one_go() -> None:
    fixed = fix(document(pattern(NESTED)), lambda _: Open())
    assert fixed.text == pattern("let x = 1\nrepeat 2:\n  x = 2\n  repeat 2:\n    x = 3\nreturn x")
    assert [finding.diagnostic.line for finding in fixed.mended] == [11, 13]


def test_only_what_is_selected_is_mended() -> None:
    text = pattern("let x = 1\nrepeat 2:\n  let x = 2\nlet y = call w\nreturn x", "slots: w")
    fixed = fix(document(text), lambda _: Open(), Settings(select=frozenset({"unused-variable"})))
    assert [finding.name for finding in fixed.mended] == ["unused-variable"]
    assert "  let x = 2\n" in fixed.text


def test_what_is_allowed_is_not_mended() -> None:
    text = pattern(NESTED.replace("let x = 3", "let x = 3  # prose: allow[re-let]"))
    assert [one.diagnostic.line for one in fix(document(text), lambda _: Open()).mended] == [11]


def test_line_breaks_marks_and_everything_else_stay() -> None:
    text = "\ufeff" + pattern(NESTED + "  # é").replace("\n", "\r\n").removesuffix("\r\n")
    fixed = fix(document(text), lambda _: Open())
    assert fixed.text == text.replace("  let x = 2", "  x = 2").replace("    let x = 3", "    x = 3")


def test_a_file_with_errors_elsewhere_is_mended_too() -> None:
    text = pattern(NESTED + "\nreturn (((\n")
    assert linted(text).errors
    assert len(fix(document(text), lambda _: Open()).mended) == 2


class _Bad(Rule):
    """Puts a text in front of every `let`."""

    name = "unreachable"
    inserted = ""

    def find(self, subject: Subject) -> Iterator[Finding]:
        for node in subject.nodes:
            if isinstance(node, n.Let) and not subject.document.source.text[: node.start].endswith(self.inserted):
                edits = (Edit(Span(node.start, node.start), self.inserted),)
                yield self.at(subject, node, "a `let`", None, Fix("spoil it", edits))


@pytest.mark.parametrize("inserted", ["(", "repeat 0:\n  ", "call nothing = ", "break\n", "loop:\n  break\n"])
def test_a_fix_that_makes_it_worse_is_taken_back(monkeypatch: pytest.MonkeyPatch, inserted: str) -> None:
    """Also where it stands beside good ones, which are kept; told is only what was done."""
    bad = type("Bad", (_Bad,), {"inserted": inserted})()
    rules = Settings().rules
    monkeypatch.setattr(linting_module.Settings, "rules", property(lambda self: (*rules, bad)))
    text = "let x = 1\nrepeat 2:\n  let x = 2\nreturn x\n"
    fixed = fix(document(text), lambda _: Open())
    assert fixed.text == "let x = 1\nrepeat 2:\n  x = 2\nreturn x\n"
    assert [finding.name for finding in fixed.mended] == ["re-let"]


def test_a_fix_that_changes_nothing_for_the_better_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Again(_Bad):
        def find(self, subject: Subject) -> Iterator[Finding]:
            at = len(subject.document.source.text)
            yield self.at(subject, Span(0, 1), "again", None, Fix("add a line", (Edit(Span(at, at), "\n"),)))

    monkeypatch.setattr(linting_module.Settings, "rules", property(lambda self: (Again(),)))
    assert fix(document("return 1\n"), lambda _: Open()).text == "return 1\n"
