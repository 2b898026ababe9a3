"""Evaluating the expectations of a scenario against the outcome of its run.

Exact ones are compared; an item is decided by the first that can: the mechanical table, then the layers that decide the
conditions of programs (L30), the judge last. What nothing can decide is not evaluated, and so has not passed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import attrs

from prose_lang.cassettes import Part
from prose_lang.diagnostics import ProseError
from prose_lang.documents.scenarios import Expectation
from prose_lang.engine import DecisionRecord, Engine, Pattern
from prose_lang.runtime.effects import Service
from prose_lang.syntax import nodes as n
from prose_lang.syntax import parse_condition
from prose_lang.syntax.visiting import walk
from prose_lang.testing.checks import Check, Verdict
from prose_lang.testing.comparing import call_differences, differences, same_calls, shown
from prose_lang.testing.exact import ExactItem
from prose_lang.testing.files import Scenario
from prose_lang.testing.mechanical import read_statement
from prose_lang.testing.seen import Seen, language_path
from prose_lang.text import Source, nearest

#: What the layers of conditions advise is for authors of programs.
_NO_JUDGE = "help: script a `judge` under Services, or give one with --judge"
#: Operators that do not occur in prose.
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_ABOUT_THE_END = re.compile(r"(?:error|status|__error\.md)(?![\w-])")


def expects_an_end(scenario: Scenario) -> bool:
    """Whether something is expected of the error or the status, so that a run that fails may be what is wanted."""
    return any(item.key in ("error", "status") for item in scenario.exact) or any(
        _ABOUT_THE_END.match(item.said) for item in scenario.expectations if not item.negated
    )


# --- exact -----------------------------------------------------------------------------------------------------------


def check_exact(item: ExactItem, scenario: Scenario, seen: Seen) -> Check:
    """Compare one key of an exact block."""
    details = _exact_differences(item.key, item.wanted, seen)
    reason = "" if not details else f"`{item.key}` is not what is expected"
    verdict = Verdict.FAILED if details else Verdict.PASSED
    return Check(item.key, verdict, scenario.source, item.span, "exact", reason, details)


def _exact_differences(key: str, wanted: Any, seen: Seen) -> tuple[str, ...]:
    match key:
        case "value":
            if seen.outcome.error is not None:
                return (f"expected {shown(seen.clean(wanted))}, but the run ended in {seen.outcome.error.code}",)
            return seen.told(differences, wanted, seen.value)
        case "calls":
            return seen.told(_between_calls, wanted, seen.calls)
        case "calls_count":
            return differences(wanted, len(seen.calls))
        case "status":
            return differences(wanted, seen.outcome.status)
        case "error":
            return _error_differences(wanted, seen)
        case "decisions":
            return _decision_differences(wanted, seen)
        case _:
            return _warning_differences(wanted, seen)


def _between_calls(wanted: Any, got: Any) -> tuple[str, ...]:
    return () if same_calls(wanted, got) else call_differences(wanted, got)


def _error_differences(wanted: Any, seen: Seen) -> tuple[str, ...]:
    error = seen.error
    if error is None:
        return () if wanted is None else (f"expected {shown(wanted)}, but the run ended well",)
    if wanted is None:
        return (f"expected no error, got {error['code']}: {error['message']}",)
    if isinstance(wanted, str):
        if wanted.upper() == error["code"] or wanted == error["name"]:
            return ()
        return (f"expected {wanted}, got {error['code']} {error['name']}: {error['message']}",)
    wanted = {**wanted, "code": wanted["code"].upper()} if "code" in wanted else wanted
    return seen.told(differences, wanted, {key: error[key] for key in wanted})


def _decision_differences(wanted: list[dict[str, Any]], seen: Seen) -> tuple[str, ...]:
    """Of each decision only what is written counts; one that is not expected is shown by its text."""
    found = [decision.as_json() for decision in seen.outcome.trace.decisions]
    picked = [{key: item[key] for key in keys} for keys, item in zip(wanted, found, strict=False)]
    rest = [{key: item[key] for key in ("text", "layer", "holds")} for item in found[len(wanted) :]]
    return seen.told(differences, wanted, picked + rest)


def _warning_differences(wanted: list[str], seen: Seen) -> tuple[str, ...]:
    """A warning that is expected without its line may stand on any."""
    found = [
        item.code if at < len(wanted) and " " not in wanted[at] else f"{item.code} {item.line}"
        for at, item in enumerate(seen.outcome.trace.warnings)
    ]
    return differences(wanted, found)


# --- items -----------------------------------------------------------------------------------------------------------


class Deciding:
    """What deciding the items of one scenario needs: the outcome, and the judge with the services it may be one of."""

    def __init__(
        self,
        scenario: Scenario,
        seen: Seen,
        subject: Pattern,
        engine: Engine,
        services: Mapping[str, Service],
        judge: Any,
        part: Part | None = None,
    ) -> None:
        self.scenario = scenario
        self.seen = seen
        self.subject = subject
        self.engine = engine
        self.services = services
        self.judge = judge
        self.part = part

    async def check(self, item: Expectation) -> Check:
        """Decide one item."""
        part = self.seen.part(item.path, self.subject)
        if item.path is None and (name := self.unknown_name(item.text)) is not None:
            return self.nothing(item, name)
        statement = read_statement(item.text)
        if statement is not None and (part.known or statement.existence):
            holds = statement.decide(part.value).holds
            return self.made(item, holds, "mechanical", statement.decide(self.seen.clean(part.value)).reason)
        if part.known:
            return await self.by_layers(item)
        return self.nothing(item, item.path or "")

    def unknown_name(self, text: str) -> str | None:
        """A name in a comparison that the subject never gives: no prose for a judge, but a misspelt name."""
        condition, _ = parse_condition(Source(self.scenario.file, text), 0, len(text))
        if not isinstance(condition.expression, n.Binary) or condition.expression.operator not in _COMPARISONS:
            return None
        nodes = list(walk(condition.expression))
        functions = [node.target for node in nodes if isinstance(node, n.Invoke)]
        names = (node.id for node in nodes if isinstance(node, n.Name) and node not in functions)
        return next((name for name in names if not self.seen.part(name, self.subject).known), None)

    def nothing(self, item: Expectation, path: str) -> Check:
        """What is said of a part that the subject never gives."""
        close = nearest(path, [*self.seen.own, *self.seen.others], 1)
        details = (f"help: did you mean `{close[0]}`?",) if close else ()
        if item.negated:  # a misspelled path must not pass for what is not there
            reason = f"the result has no `{path}`, and nothing says that it may have one"
            return self.undecided(item, Verdict.NOT_EVALUATED, reason, details)
        return attrs.evolve(self.made(item, False, "mechanical", f"the result has no `{path}`"), details=details)

    async def by_layers(self, item: Expectation) -> Check:
        """The layers of conditions. What is said of a path is a sentence that begins with it."""
        path = language_path(item.path) if item.path is not None else None
        text = item.text if path is None else f"{path} {item.text}"
        try:
            found: DecisionRecord = await self.engine.decide_async(
                text, self.seen.own, self.seen.others, services=self.services, judge=self.judge, part=self.part
            )
        except ProseError as error:
            return self.failed_to_decide(item, error)
        return self.made(item, found.holds is True, found.layer, found.reason)

    def failed_to_decide(self, item: Expectation, error: ProseError) -> Check:
        if error.code == "P403":
            reason = "no rule decides it, and there is no judge to ask"
            return self.undecided(item, Verdict.NOT_EVALUATED, reason, (_NO_JUDGE,))
        if error.code == "P303":  # a list has no such entry
            return self.made(item, False, "expression", error.message)
        if error.code == "P304":  # this cannot be said of a value of that kind, nor can its opposite
            return self.undecided(item, Verdict.FAILED, error.message)
        details = (f"{error.code} {error.name}", *((f"help: {error.hint}",) if error.hint else ()))
        return self.undecided(item, Verdict.BROKEN, error.message, details)

    def made(self, item: Expectation, holds: bool, layer: str, reason: str) -> Check:
        verdict = Verdict.PASSED if holds is not item.negated else Verdict.FAILED
        return Check(item.said, verdict, self.scenario.source, item.span, layer, reason, negated=item.negated)

    def undecided(self, item: Expectation, verdict: Verdict, reason: str, details: tuple[str, ...] = ()) -> Check:
        return Check(
            item.said, verdict, self.scenario.source, item.span, reason=reason, details=details, negated=item.negated
        )
