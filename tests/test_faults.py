"""The corpus of faults: whole files with one fault each, and what is said of it. See tests/corpus/README.md.

`PROSE_RENEW=1 pytest tests/test_faults.py` writes the expected texts anew; read the difference before you commit it.
"""

from __future__ import annotations

import difflib
import os
from pathlib import Path

import pytest

from prose_lang import Diagnostic, Engine
from prose_lang.diagnostics import CODES, ProseError, Severity
from prose_lang.diagnostics.render import render_all
from prose_lang.linter import RULES, lint

FOLDER = Path(__file__).parent / "corpus" / "faults"
SOUND = "sound.prose.md"
FILES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.prose.md"))
FAULTY = [name for name in FILES if not name.endswith(f"/{SOUND}")]
TWINS = [name for name in FILES if name.endswith(f"/{SOUND}")]

#: A twin and its faulty file differ in no more lines than this.
FEW = 7
#: Codes that a check never gives: the kind of a file is looked at when it is run.
NOT_BY_CHECK = {"P104"}
#: Rules of the linter that no faulty file shows. They tell notes, or need what a single file does not have.
NO_FAULT = {"dropped-binding", "judge-needed", "score-not-bounded", "unused-allow"}
#: Faults that are told beside the changed lines, and why: what was taken away is missed further down or further up.
ELSEWHERE = {
    "code-migration/unused-use": "at the `use`",
    "code-migration/use-call-misses": "at the call that lacks the binding",
    "contract-review/missing-binding": "at the call that lacks the binding",
    "data-check/stage-without-value": "at the word of the stage",
    "essay-grader/no-body-below": "at the line that lacks a body",
    "hiring-panel/catch-misplaced": "at the `try` that lacks its `catch`",
    "hiring-panel/try-alone": "at the `try` that lacks its `catch`",
    "incident-triage/promised-output": "where the output is promised",
    "newsletter/fence-not-closed": "where the block begins",
    "newsletter/frontmatter-not-closed": "where the frontmatter begins",
    "newsletter/no-fence": "at the heading of the section",
    "newsletter/no-kind": "where the frontmatter begins",
    "newsletter/not-utf8": "of the whole file",
    "newsletter/unused-input": "where the input is declared",
    "night-watch/agent-keeps-nothing": "at the `resume`",
    "recipe-kitchen/contains-itself": "at the pattern of the instance",
    "recipe-kitchen/slot-not-bound": "at the name of the instance",
    "support-desk/object-not-closed": "at the bracket that is open",
    "support-desk/loop-over-a-text": "at the loop",
    "translation-desk/unused-config": "where the key is declared",
    "translation-desk/value-nobody-takes": "at the `return`",
    "trip-planner/unclosed-text": "where the text begins",
}


def told(name: str) -> tuple[list[Diagnostic], list[Diagnostic]]:
    """What `prose check` says of a file, and what `prose lint` finds in it besides."""
    engine = Engine()
    try:
        pattern = engine.load(name)
    except ProseError as error:
        return list(error.diagnostics), []
    linted = lint(pattern.document, engine.environment(pattern.document))
    checked = engine.check(pattern)
    seen = {(item.name, item.span) for item in checked}
    findings = [one.diagnostic for one in linted.findings]
    return checked, [item for item in findings if (item.name, item.span) not in seen]


def report(name: str) -> list[Diagnostic]:
    """The report of a faulty file: that of the check, and only if it is silent the warnings of the linter."""
    checked, findings = told(name)
    return checked or [item for item in findings if item.severity is not Severity.NOTE]


def changed(name: str) -> tuple[int, set[int]]:
    """How many lines a faulty file and its twin differ in, and the lines of the faulty one that are concerned."""
    one = (FOLDER / name).with_name(SOUND).read_bytes().splitlines()
    two = (FOLDER / name).read_bytes().splitlines()
    count, lines = 0, set()
    for kind, a, b, c, d in difflib.SequenceMatcher(None, one, two, autojunk=False).get_opcodes():
        if kind != "equal":
            count += max(b - a, d - c)
            lines |= set(range(c + 1, d + 1)) or {c, c + 1}
    return count, lines


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)


@pytest.mark.parametrize("name", FAULTY)
def test_one_fault_is_one_report(name: str) -> None:
    (found,) = report(name)
    golden = (FOLDER / name).with_name(Path(name).name.replace(".prose.md", ".expected.txt"))
    text = render_all([found]) + "\n"
    if os.environ.get("PROSE_RENEW"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
    assert found.line is None or f"{name}:{found.line}:{found.column}\n" in text
    case = name.removesuffix(".prose.md")
    assert (found.line in changed(name)[1]) == (case not in ELSEWHERE)


@pytest.mark.parametrize("name", TWINS)
def test_nothing_is_said_of_a_sound_twin(name: str) -> None:
    assert told(name) == ([], [])


@pytest.mark.parametrize("name", FAULTY)
def test_a_faulty_file_is_its_twin_with_few_lines_changed(name: str) -> None:
    count, _ = changed(name)
    assert 0 < count <= FEW


def test_every_code_of_a_check_and_every_rule_is_shown() -> None:
    shown = {item.code or item.name for name in FAULTY for item in report(name)}
    assert {code for code in CODES if code[:2] in ("P1", "P2")} - shown == NOT_BY_CHECK
    assert set(RULES) - shown == NO_FAULT
    assert {"P302", "P307"} <= shown
    assert len(FAULTY) >= 60


def test_no_expected_text_is_left_over() -> None:
    texts = {path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*.expected.txt")}
    assert texts == {name.replace(".prose.md", ".expected.txt") for name in FAULTY}
