"""Tables of conditions with the decisions that are expected of them, and how far a judge agrees.

    cases:                                   # or the list alone
      - condition: verdict accepts result    # as it stands in a program
        values: {verdict: "Good, but add a source first."}
        expected: false

Each case goes through the layers that decide the conditions of programs (L30). What a rule decides is not asked, and
says nothing about the judge: it is counted apart. The shipped table (`builtin_cases`) has texts of our own for the
conditions of the published patterns.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs

from prose_lang.diagnostics import CheckError, Diagnostic, ProseError, RunError, sort_diagnostics
from prose_lang.engine import DecisionRecord
from prose_lang.engine.decisions import Decisions
from prose_lang.semantics import analyze_condition
from prose_lang.text import Source, Span
from prose_lang.values.yaml import YamlNode, load_yaml

#: The shipped table, for messages.
BUILTIN = "builtin"
_FILE = "judge_cases.yaml"
_KEYS = ("condition", "values", "expected")
_MOST_CHARACTERS = 1_000_000


@attrs.frozen(eq=False)
class Case:
    """A condition, the values of its names, and what is expected; `line` is that of its table."""

    condition: str
    values: dict[str, Any]
    expected: bool
    line: int


@attrs.frozen(eq=False)
class Judgement:
    """What came of a case: the decision, or the error in its place."""

    case: Case
    decision: DecisionRecord | None = None
    error: ProseError | None = None

    @property
    def asked(self) -> bool:
        """Whether the judge was asked."""
        return self.decision is None or self.decision.layer == "judge"

    @property
    def agrees(self) -> bool:
        """Whether it is what was expected."""
        return self.decision is not None and self.decision.holds is self.case.expected

    @property
    def reason(self) -> str:
        """Why it was decided so, or not at all."""
        if self.decision is not None:
            return self.decision.reason
        return f"{self.error.code}: {self.error.message}" if self.error is not None else ""


def builtin_cases() -> tuple[Case, ...]:
    """The shipped table.

    >>> len(builtin_cases())
    60
    """
    return read_cases(Source(BUILTIN, (Path(__file__).parent / _FILE).read_text("utf-8")))


def read_cases(source: Source) -> tuple[Case, ...]:
    """The cases of a table. Raises CheckError P107 with everything that is wrong in it, P112 for an empty condition.

    >>> [case] = read_cases(Source("t.yaml", "- {condition: x is set, values: {x: 1}, expected: true}"))
    >>> case.condition, case.expected
    ('x is set', True)
    """
    node, found = load_yaml(source.text, source, code="P107", most=_MOST_CHARACTERS)
    reader = _Reader(source, list(found))
    cases = reader.cases(node) if node is not None and not found else ()
    if not reader.found and not cases:
        reader.fault("a table of cases is a list, and has one case at least", Span(0, 0))
    if reader.found:
        raise CheckError.from_diagnostics(sort_diagnostics(reader.found))
    return cases


class _Reader:
    def __init__(self, source: Source, found: list[Diagnostic]) -> None:
        self.source = source
        self.found = found

    def fault(self, message: str, span: Span, hint: str | None = None, code: str = "P107") -> None:
        self.found.append(Diagnostic(code, message, self.source, span, hint=hint))

    def cases(self, node: YamlNode) -> tuple[Case, ...]:
        if isinstance(node.value, dict):
            for key, span in node.keys.items():
                if key != "cases":
                    self.fault(f"a table has `cases`, not `{key}`", span)
            listed = node.members.get("cases")
            if listed is None:
                return ()
            node = listed
        if not isinstance(node.value, list):
            self.fault("a table of cases is a list", node.span, "- {condition: …, values: {…}, expected: true}")
            return ()
        made = [self.case(item) for item in node.items]
        return tuple(case for case in made if case is not None)

    def case(self, node: YamlNode) -> Case | None:
        before, value = len(self.found), node.value
        if not isinstance(value, dict):
            self.fault("a case is an object with `condition`, `values` and `expected`", node.span)
            return None
        for key, span in node.keys.items():
            if key not in _KEYS:
                self.fault(f"a case has {', '.join(_KEYS)}, not `{key}`", span)
        for key in ("condition", "expected"):
            if key not in value:
                self.fault(f"this case has no `{key}`", node.span)
        condition, values, expected = value.get("condition", "?"), value.get("values", {}), value.get("expected", True)
        if not isinstance(condition, str):
            self.fault("`condition` is a text", node.members["condition"].span)
        elif not condition.strip():
            self.fault("this condition says nothing", node.members["condition"].span, code="P112")
        if not isinstance(values, dict):
            self.fault("`values` is an object: the names that the condition reads", node.members["values"].span)
        if not isinstance(expected, bool):
            self.fault("`expected` is true or false", node.members["expected"].span)
        if len(self.found) > before:
            return None
        return Case(condition, values, expected, self.source.position(node.span.start).line)


async def judge_cases(
    cases: Sequence[Case], decisions: Decisions, at_once: int = 4, told: Callable[[Judgement], None] = lambda one: None
) -> list[Judgement]:
    """Decide all cases, several at a time; `told` hears of each as it is done.

    A judge that fails at a case, or gives no usable answer (P402), does not agree. Raises every other RunError: there
    is no judge (P403), a limit is reached (P405), no key (P410); and CheckError P112 or P307 for a condition that is
    none.
    """
    places = asyncio.Semaphore(at_once)

    async def decided(case: Case) -> Judgement:
        alone = analyze_condition(Source("<condition>", case.condition), case.values)
        async with places:
            try:
                made = Judgement(case, await decisions.decide(alone, case.values))
            except RunError as error:
                if error.code != "P402":
                    raise
                made = Judgement(case, error=error)
        told(made)
        return made

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(decided(case)) for case in cases]
    except BaseExceptionGroup as errors:  # the first one cut the others off
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]
