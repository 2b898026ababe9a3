"""Running a scenario: its subject on scripted services, in virtual time, and what became of its expectations."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs

from prose_lang.cassettes import Part
from prose_lang.diagnostics import Diagnostic, ProseError, Severity, sort_diagnostics
from prose_lang.engine import Engine, Outcome, Pattern
from prose_lang.runtime.conversations import Memory
from prose_lang.services import ScriptedService, scripted_services
from prose_lang.testing.checks import Check, Verdict, worst
from prose_lang.testing.clock import run_virtual
from prose_lang.testing.evaluating import Deciding, check_exact, expects_an_end
from prose_lang.testing.files import Scenario, TestFile
from prose_lang.testing.giving import at_the_test, given_names, subject_of
from prose_lang.testing.seen import Seen
from prose_lang.text import Span

#: The scripted service that is the judge of its scenario.
_JUDGE = "judge"


@attrs.frozen
class Unused:
    """Scripted replies that no call took: `count` of the `total` replies of a service."""

    service: str
    count: int
    total: int
    span: Span | None = None

    @property
    def said(self) -> str:
        """In words.

        >>> Unused("critic", 2, 2).said, Unused("critic", 1, 3).said
        ('`critic` was never called: 2 replies are left', '1 of 3 replies of `critic` is left')
        """
        if self.count == self.total:
            left = "1 reply is" if self.count == 1 else f"{self.count:,} replies are"
            return f"`{self.service}` was never called: {left} left"
        return f"{self.count:,} of {self.total:,} replies of `{self.service}` {'is' if self.count == 1 else 'are'} left"


@attrs.frozen(eq=False)
class ScenarioResult:
    """How a scenario came out.

    `faults` say why one is broken; `outcome` and `subject` are None where it could not be run. `seconds` are real time.
    """

    scenario: Scenario
    verdict: Verdict
    checks: tuple[Check, ...] = ()
    faults: tuple[Diagnostic, ...] = ()
    outcome: Outcome | None = None
    subject: Pattern | None = None
    unused: tuple[Unused, ...] = ()
    seconds: float = 0.0

    def with_verdict(self, verdict: Verdict) -> tuple[Check, ...]:
        """The expectations that came out so."""
        return tuple(check for check in self.checks if check.verdict is verdict)


def run_scenario(
    scenario: Scenario,
    engine: Engine | None = None,
    *,
    judge: Any = None,
    strict: bool = False,
    clean: Callable[[Any], Any] | None = None,
) -> ScenarioResult:
    """Run a scenario and evaluate what it expects. Raises nothing for faults of the test or of its subject.

    The engine holds the services that every scenario can call and what is kept of patterns from run to run; a scripted
    service `judge` is the judge of its scenario, else `judge` is: a name, a function or a service. With `strict`
    replies that are left over, warning events and what could not be evaluated are failures. `clean` redacts the values
    that reasons and details show.

    >>> from prose_lang.documents.reader import read_document
    >>> from prose_lang.testing.files import test_of
    >>> from prose_lang.text import Source
    >>> text = '''---
    ... kind: test
    ... subject: refine
    ... ---
    ... ### Fixtures
    ... - `task_brief`: Say hello.
    ... ### Services
    ... ```yaml
    ... refiner: [hello]
    ... evaluator: [{score: 1}]
    ... ```
    ... ### Expects
    ... - `result`: equals "hello"
    ... - score meets 0.8
    ... '''
    >>> [scenario] = test_of(read_document(Source("a.test.prose.md", text))).scenarios
    >>> run_scenario(scenario).verdict
    <Verdict.PASSED: 'passed'>
    """
    started = time.perf_counter()
    result = _run(scenario, engine or Engine(), judge, strict, clean)
    return attrs.evolve(result, seconds=time.perf_counter() - started)


def _run(
    scenario: Scenario, engine: Engine, judge: Any, strict: bool, clean: Callable[[Any], Any] | None
) -> ScenarioResult:
    if scenario.faults:
        return ScenarioResult(scenario, Verdict.BROKEN, faults=scenario.faults)
    try:
        subject = subject_of(scenario.document, engine)
    except ProseError as error:
        return ScenarioResult(scenario, Verdict.BROKEN, faults=error.diagnostics)
    scripted = scripted_services(scenario.replies)
    asked = _JUDGE if _JUDGE in scripted else judge
    names = given_names(scenario, subject.entry, engine, scripted)

    # Each scenario is a part of the cassette, and begins at its first take however often it is run.
    part = engine.cassette.cassette.part(f"{Path(scenario.file).name}::{scenario.name}") if engine.cassette else None
    played: list[tuple[Outcome, list[Check], tuple[Diagnostic, ...]]] = []

    async def work() -> None:  # not returned: asyncio may write out what a task gave, and this can be long
        outcome = await engine.outcome_async(subject, names, services=scripted, judge=asked, part=part, memory=Memory())
        if outcome.status == "invalid" and not expects_an_end(scenario):
            played.append((outcome, [], tuple(at_the_test(list(outcome.diagnostics), scenario, subject))))
            return
        seen = Seen(outcome, subject.entry, clean) if clean is not None else Seen(outcome, subject.entry)
        played.append((outcome, await _evaluated(scenario, seen, subject, engine, scripted, asked, part), ()))

    async def play() -> None:
        try:
            await work()
        finally:
            await engine.models.release()  # what models keep open belongs to this loop

    run_virtual(play())
    [(outcome, checks, faults)] = played
    if not faults and not checks:
        faults = (_expects_nothing(scenario),)
    unused = _unused(scripted) if not faults else ()
    if strict and not faults:
        checks = _strictly(scenario, outcome, checks, unused)
    verdict = Verdict.BROKEN if faults else worst(check.verdict for check in checks)
    return ScenarioResult(scenario, verdict, tuple(checks), faults, outcome, subject, unused)


async def _evaluated(
    scenario: Scenario,
    seen: Seen,
    subject: Pattern,
    engine: Engine,
    scripted: dict[str, ScriptedService],
    judge: Any,
    part: Part | None,
) -> list[Check]:
    checks = [check_exact(item, scenario, seen) for item in scenario.exact]
    if not scenario.exact and not scenario.expectations:
        return checks
    error = seen.outcome.error
    if error is not None and not expects_an_end(scenario):
        reason = f"the run ended in {error.code} {error.name}: {error.message}"
        details = tuple(error.render().splitlines())
        failed = Check("the run", Verdict.FAILED, scenario.source, scenario.text.span, "exact", reason, details)
        # What is said of a result cannot be looked at; that it is not there is told once.
        checks = [failed, *(check for check in checks if check.what != "value")]
        why = "the run ended in an error"
        left = [
            Check(item.said, Verdict.NOT_EVALUATED, scenario.source, item.span, reason=why, negated=item.negated)
            for item in scenario.expectations
        ]
        return [*checks, *left]
    deciding = Deciding(scenario, seen, subject, engine, scripted, judge, part)
    return [*checks, *[await deciding.check(item) for item in scenario.expectations]]


def _expects_nothing(scenario: Scenario) -> Diagnostic:
    hint = "`prose test --update` records what it gives"
    return Diagnostic("P107", "this scenario expects nothing", scenario.source, scenario.text.span, hint=hint)


def _unused(scripted: dict[str, ScriptedService]) -> tuple[Unused, ...]:
    found = []
    for name, service in scripted.items():
        left = service.unused()
        if left:
            total = sum(1 for reply in service.replies if not reply.lasting)
            found.append(Unused(name, len(left), total, left[0].span))
    return tuple(found)


def _strictly(scenario: Scenario, outcome: Outcome, checks: Sequence[Check], unused: Sequence[Unused]) -> list[Check]:
    """The expectations as `--strict` sees them, and what it expects besides."""
    source, span = scenario.source, scenario.text.span
    found = [
        attrs.evolve(check, verdict=Verdict.FAILED, reason=f"not evaluated: {check.reason}")
        if check.verdict is Verdict.NOT_EVALUATED
        else check
        for check in checks
    ]
    for left in unused:
        found.append(Check("every reply is used", Verdict.FAILED, source, left.span or span, "strict", left.said))
    if not any(item.key == "warnings" for item in scenario.exact):
        for item in outcome.trace.warnings:
            reason = f"{item.code} at {item.file}:{item.line}: {item.message}"
            found.append(Check("no warnings", Verdict.FAILED, source, span, "strict", reason))
    return found


def scenario_faults(file: TestFile, engine: Engine) -> list[Diagnostic]:
    """Everything that would keep the scenarios of a file from being run, and what is wrong besides; nothing is run."""
    found = list(file.diagnostics)
    for scenario in file.scenarios:
        if scenario.faults:
            continue
        try:
            subject = subject_of(scenario.document, engine)
        except ProseError as error:
            found.extend(error.diagnostics)
            continue
        if scenario.text.expects_nothing and not scenario.exact and not scenario.expectations:
            found.append(_expects_nothing(scenario))
        if not expects_an_end(scenario):
            scripted = scripted_services(scenario.replies)
            names = given_names(scenario, subject.entry, engine, scripted)
            told = engine.faults(subject, names, scripted)
            errors = [item for item in told if item.severity is Severity.ERROR]
            found.extend(at_the_test(errors, scenario, subject))
    return sort_diagnostics(found)
