"""One `prose judge-check`: read the table, decide its cases, show how far the judge agrees."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import attrs

from prose_lang.cli.engines import cassette_of, model_settings, script_of_file, services_of_files
from prose_lang.cli.reading import Reader
from prose_lang.cli.status import EXIT
from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import ProseError
from prose_lang.diagnostics.visible import visible
from prose_lang.engine import Engine
from prose_lang.engine.outcome import status_of
from prose_lang.handlers import Limits
from prose_lang.runtime.effects import Usage
from prose_lang.testing.judging import BUILTIN, Case, Judgement, builtin_cases, judge_cases, read_cases
from prose_lang.text import amount


@attrs.frozen
class Request:
    """What was asked for on the command line; see the options of `judge_check.py`. No `file` is the shipped table."""

    file: str | None
    judge: str | None
    least: float
    services: tuple[str, ...]
    script: str | None
    max_cost: float | str | None
    cassette: str | None
    cassette_mode: str | None
    as_json: bool


@attrs.frozen
class _Report:
    name: str
    judgements: Sequence[Judgement]
    usage: Usage
    least: float

    @property
    def by_rules(self) -> list[Judgement]:
        return [one for one in self.judgements if not one.asked]

    @property
    def by_judge(self) -> list[Judgement]:
        return [one for one in self.judgements if one.asked]

    @property
    def percent(self) -> float | None:
        """How far the judge agrees; None if it was not asked."""
        asked = self.by_judge
        return 100 * _agreeing(asked) / len(asked) if asked else None

    @property
    def agrees(self) -> bool:
        enough = self.percent is None or self.percent >= self.least
        return enough and _agreeing(self.by_rules) == len(self.by_rules)

    @property
    def models(self) -> list[str]:
        """The models that answered, with the version of what they are asked."""
        found = {}
        for one in self.by_judge:
            told = one.decision.judge if one.decision is not None else None
            if told is not None:
                found[f"{told['model']}, prompt {told['prompt']}" if told["prompt"] else str(told["model"])] = True
        return list(found)


def check_judge(request: Request, terminal: Terminal) -> int:
    """Check, show, and give the exit status. Raises ProseError for what keeps it from being done."""
    with terminal.only_results():
        reader = Reader()
        name = request.file or BUILTIN
        cases = builtin_cases() if request.file is None else read_cases(reader.source(request.file, "the table"))
        cost: Any = request.max_cost
        money = {} if cost is None else {"known_cost": None} if cost == "none" else {"cost": cost}
        engine = Engine(
            services=services_of_files(request.services),
            script=script_of_file(request.script, reader),
            judge=request.judge,
            models=model_settings(terminal),
            cassette=cassette_of(request.cassette, request.cassette_mode),
            # A case is asked once and, if the answer is unusable, once more; failures that pass are tried again.
            limits=Limits(calls=10 * len(cases), **money),
        )
        engine.models.keys.told = terminal.hide
        try:
            report = asyncio.run(_decided(engine, cases, name, request.least, scripted=request.script is not None))
        except ProseError as error:
            terminal.say(error.render(color=terminal.colors(terminal.err)))
            status = status_of(error)
            return EXIT["invalid" if status == "failed" else status]
        if request.as_json:
            terminal.write_json(_plain(report))
        else:
            terminal.write("\n".join(_lines(report, terminal)))
    return EXIT["ok" if report.agrees else "failed"]


async def _decided(engine: Engine, cases: Sequence[Case], name: str, least: float, *, scripted: bool) -> _Report:
    from prose_lang.services import scripted_services

    script = engine.script
    decisions = engine.decisions(services=scripted_services(script) if script is not None else None)
    try:
        # Scripted replies are taken in order, so that cases then come one after the other.
        judgements = await judge_cases(cases, decisions, at_once=1 if scripted else 4)
    finally:
        await engine.models.release()
    return _Report(name, judgements, decisions.usage, least)


def _agreeing(judgements: Sequence[Judgement]) -> int:
    return sum(one.agrees for one in judgements)


def _lines(report: _Report, terminal: Terminal) -> Iterator[str]:
    if terminal.verbosity >= 1:
        for one in report.judgements:
            if one.agrees:
                layer = one.decision.layer if one.decision is not None else ""
                yield _told(one, report.name, "agrees", "32", f"({layer}) {one.reason}", terminal)
    for one in report.judgements:
        if not one.agrees:
            yield _told(one, report.name, "disagrees", "1;31", _disagreement(one), terminal)
    if terminal.quiet and report.agrees:
        return
    number = len(report.judgements)
    rules, asked = report.by_rules, report.by_judge
    yield amount(number, "case")
    if rules:
        yield f"  by rules      {len(rules):,}, of which {_agreeing(rules):,} as expected; nobody was asked"
    if asked and report.percent is not None:
        by = f" ({visible('; '.join(report.models))})" if report.models else ""
        yield f"  by the judge  {len(asked):,}, of which {_agreeing(asked):,} as expected: {report.percent:.1f} %{by}"
        usage = report.usage
        cost = "cost unknown" if usage.cost is None else f"${usage.cost:.4f}"
        yield f"  used          {usage.calls:,} calls, {usage.tokens_in:,} tokens in, {usage.tokens_out:,} out, {cost}"
        if report.percent < report.least:
            yield f"the judge agrees in {report.percent:.1f} % of what it was asked, and {report.least:g} % are wanted"
    if _agreeing(rules) < len(rules):
        yield "a rule does not give what is expected: the table is mistaken, or the condition is not what was meant"


def _told(one: Judgement, name: str, word: str, style: str, reason: str, terminal: Terminal) -> str:
    place = terminal.paint(style, word, terminal.out)
    return f"{place} {visible(name)}:{one.case.line} “{visible(one.case.condition)}”: {visible(reason)}"


def _disagreement(one: Judgement) -> str:
    wanted = "true" if one.case.expected else "false"
    if one.decision is None:
        return f"{wanted} is expected, and there is no answer: {one.reason}"
    who = "the judge" if one.asked else f"the rule ({one.decision.layer})"
    return f"{wanted} is expected, and {who} says {'true' if one.decision.holds else 'false'}: {one.reason}"


def _plain(report: _Report) -> dict[str, Any]:
    """The report as plain data."""
    return {
        "table": report.name,
        "agrees": report.agrees,
        "percent": report.percent,
        "min": report.least,
        "rules": {"cases": len(report.by_rules), "agree": _agreeing(report.by_rules)},
        "judge": {"cases": len(report.by_judge), "agree": _agreeing(report.by_judge), "models": report.models},
        "cases": [
            {
                "line": one.case.line,
                "condition": one.case.condition,
                "expected": one.case.expected,
                "holds": one.decision.holds if one.decision is not None else None,
                "layer": one.decision.layer if one.decision is not None else None,
                "agrees": one.agrees,
                "reason": one.reason,
            }
            for one in report.judgements
        ],
        "usage": report.usage.as_json(),
    }
