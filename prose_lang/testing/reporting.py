"""What a person is told of a scenario that did not pass: its expectations at their places, and how they differ."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.diagnostics import Diagnostic, Severity
from prose_lang.diagnostics.render import render
from prose_lang.diagnostics.visible import visible
from prose_lang.testing.checks import Check, Verdict
from prose_lang.testing.running import ScenarioResult

_NAMES = {Verdict.FAILED: "failed", Verdict.NOT_EVALUATED: "not-evaluated", Verdict.BROKEN: "broken"}
#: Lines of one expectation's details; more are counted.
_MOST_LINES = 60


def report_lines(result: ScenarioResult, *, color: bool = False) -> list[str]:
    """What there is to say of a result, failures first; nothing of one that passed and used all its replies."""
    blocks = [render(item, color=color) for item in result.faults]
    for verdict in (Verdict.BROKEN, Verdict.FAILED, Verdict.NOT_EVALUATED):
        blocks += ["\n".join(_check_lines(check, color)) for check in result.with_verdict(verdict)]
    if result.unused and not any(check.layer == "strict" for check in result.checks):
        blocks.append("\n".join(f"note: {visible(left.said)}" for left in result.unused))
    return "\n\n".join(blocks).splitlines()


def _check_lines(check: Check, color: bool) -> Iterator[str]:
    said = visible(check.what)
    if check.layer in ("exact", "strict"):
        message = check.reason
    elif check.negated and check.verdict is Verdict.FAILED:
        message = f"“{said}” holds, and must not: {check.reason}"
    else:
        message = f"“{said}”: {check.reason}"
    severity = Severity.WARNING if check.verdict is Verdict.NOT_EVALUATED else Severity.ERROR
    found = Diagnostic(None, message, check.source, check.span, name=_NAMES[check.verdict], severity=severity)
    yield render(found, color=color, context_lines=0)
    details = check.details
    for line in details[:_MOST_LINES]:
        yield f"    {line if check.what == 'the run' else visible(line)}"
    if len(details) > _MOST_LINES:
        yield f"    … and {len(details) - _MOST_LINES:,} more lines"
