"""Evaluating the expectations of a scenario against the outcome of its run.

Exact ones are compared; an item is decided by the first that can: the mechanical table, then the layers that decide the
conditions of programs (L30), the judge last. What nothing can decide is not evaluated, and so has not passed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from prose_lang.diagnostics import ProseError
from prose_lang.documents.scenarios import Expectation
from prose_lang.engine import DecisionRecord, Engine, Pattern
from prose_lang.runtime.effects import Service
from prose_lang.testing.checks import Check, Verdict
from prose_lang.testing.comparing import call_differences, differences, same_calls, shown
from prose_lang.testing.exact import ExactItem
from prose_lang.testing.files import Scenario
from prose_lang.testing.mechanical import read_statement
from prose_lang.testing.seen import Seen, language_path

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
                return (f"expected {shown(wanted)}, but the run ended in {seen.outcome.error.code}",)
            return differences(wanted, seen.value)
        case "calls":
            return () if same_calls(wanted, seen.calls) else call_differences(wanted, seen.calls)
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
    return differences(wanted, {key: error[key] for key in wanted})


def _decision_differences(wanted: list[dict[str, Any]], seen: Seen) -> tuple[str, ...]:
    found = [decision.as_json() for decision in seen.outcome.trace.decisions]
    picked = [{key: item[key] for key in keys} for keys, item in zip(wanted, found, strict=False)]
    rest = [{key: item[key] for key in ("text", "layer", "holds")} for item in found[len(wanted) :]]
    return differences(wanted, picked + rest)


def _warning_differences(wanted: list[str], seen: Seen) -> tuple[str, ...]:
    found = [
        f"{item.code} {item.line}" if " " in line else item.code
        for item, line in zip(
            seen.outcome.trace.warnings, _padded(wanted, len(seen.outcome.trace.warnings)), strict=True
        )
    ]
    return differences(wanted, found)


def _padded(wanted: list[str], size: int) -> list[str]:
    return [*wanted[:size], *["CODE LINE"] * (size - len(wanted))]


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
    ) -> None:
        self.scenario = scenario
        self.seen = seen
        self.subject = subject
        self.engine = engine
        self.services = services
        self.judge = judge

    async def check(self, item: Expectation) -> Check:
        """Decide one item."""
        part = self.seen.part(item.path, self.subject)
        statement = read_statement(item.text)
        if statement is not None and (part.present or statement.existence):
            answer = statement.decide(part.value)
            return self.made(item, answer.holds, "mechanical", answer.reason)
        if item.path is not None and not part.present and not (part.known and statement is None):
            if item.negated and not part.known:
                reason = f"the result has no `{item.path}`, and nothing says that it may have one"
                return self.undecided(item, Verdict.NOT_EVALUATED, reason)
            return self.made(item, False, "mechanical", f"there is no `{item.path}`")
        return await self.by_layers(item)

    async def by_layers(self, item: Expectation) -> Check:
        """The layers of conditions. What is said of a path is a sentence that begins with it."""
        path = language_path(item.path) if item.path is not None else None
        text = item.text if path is None else f"{path} {item.text}"
        try:
            found: DecisionRecord = await self.engine.decide_async(
                text, self.seen.own, self.seen.others, services=self.services, judge=self.judge
            )
        except ProseError as error:
            return self.failed_to_decide(item, error)
        return self.made(item, found.holds is True, found.layer, found.reason)

    def failed_to_decide(self, item: Expectation, error: ProseError) -> Check:
        if error.code == "P403":
            reason = "no rule decides it, and there is no judge to ask"
            return self.undecided(item, Verdict.NOT_EVALUATED, reason, (error.hint,) if error.hint else ())
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
