"""The bounds of calls hold for real runs: of random programs of every construct, and of every case of the corpus."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from corpus_harness import Case, load, read_cases, run_case
from programs import write_program
from running_programs import Running
from scale import seeds
from services import Services

import prose_lang as prose
from prose_lang.diagnostics import ProseError
from prose_lang.report.bounds import Bound, CallBounds, call_bounds
from prose_lang.report.quantities import ZERO
from prose_lang.resources import library_folder, library_names
from prose_lang.services import Script, scripted_services
from prose_lang.testing import Scenario, collect, run_scenario
from prose_lang.testing.clock import run_virtual
from prose_lang.testing.giving import given_names, subject_of

#: What is given for the inputs and config keys of generated programs.
GIVEN = {"start": 3, "topic": "moss", "mode": "deep"}
NONE = Bound(ZERO, ZERO)
HEAD = "---\nname: small\nkind: pattern\n---\n\n### Delegation\n\n```prose\n"
#: Services of generated programs that answer under the name by which they are called, and under no other.
OWN_NAMES = ("number", "say", "flaky", "slow", "three", "plus")


def outside(bounds: CallBounds, outcome: Any, values: dict[str, Any], names: tuple[str, ...] = ()) -> list[str]:
    """How a run left its bounds: the least holds where it ended with a value, the most always."""
    calls, decisions = outcome.trace.calls, outcome.trace.decisions
    made = Counter(call.service for call in calls)
    judged = sum(decision.layer == "judge" for decision in decisions)
    tries = sum(call.attempts for call in calls)
    counted: list[tuple[str, Bound, int]] = [
        ("total", bounds.total, len(calls)),
        ("attempts", bounds.attempts, tries),
        ("judge", bounds.judge, judged),
        ("spent", bounds.spent, outcome.usage.calls),
    ]
    by_name = {target.name: target.calls for target in bounds.targets}
    counted += [(name, by_name.get(name, NONE), made[name]) for name in names]
    found = []
    if outcome.status == "ok" and not bounds.ends:
        found.append("it ended with a value")
    for what, bound, number in counted:
        low, high = bound.within(values)
        if outcome.status == "ok" and (low is None or number < low):
            found.append(f"{what}: {number} is less than {bound.low} ({low})")
        if high is not None and number > high:
            found.append(f"{what}: {number} is more than {bound.high} ({high})")
    return found


# --- random programs -------------------------------------------------------------------------------------------------


def run_generated(seed: int, size: int, *, races: bool = False) -> tuple[CallBounds, Any]:
    """The bounds of a random program, and a run of it."""
    text = write_program(seed, size, races=races)
    services = Services(seed)
    engine = prose.Engine(services=services.all(), judge=services.judge, limits=prose.Limits(calls=None))
    pattern = engine.loads(text, "generated.prose.md")
    bounds = call_bounds(engine, pattern)
    return bounds, run_virtual(engine.outcome_async(pattern, {**services.slots(), **GIVEN}))


@pytest.mark.parametrize("races", [False, True])
@pytest.mark.parametrize("seed", seeds(120))
def test_runs_of_generated_programs_stay_within(seed: int, races: bool) -> None:
    bounds, outcome = run_generated(seed + 50_000, 4 + seed % 24, races=races)
    values = {**bounds.defaults, **GIVEN, "reviewers": ["score", "second", "third"]}
    assert outside(bounds, outcome, values, OWN_NAMES) == []


@pytest.mark.parametrize("seed", seeds(60))
def test_runs_of_small_programs_stay_within(seed: int) -> None:
    """Twenty small programs a seed, with everything that ends a body or a loop early."""
    for number in range(20):
        body = "\n".join(Running(100_000 + 20 * seed + number).program())
        engine = prose.Engine(services={"w": lambda x=None: x}, limits=prose.Limits(calls=None))
        pattern = engine.loads(HEAD + body + "\n```\n", "small.prose.md")
        try:
            bounds = call_bounds(engine, pattern)
        except ProseError:
            continue
        outcome = run_virtual(engine.outcome_async(pattern, dict.fromkeys("abcde", 1)))
        assert outside(bounds, outcome, {}, ("w",)) == [], body


def test_the_bounds_of_generated_programs_say_something() -> None:
    """Bounds that always hold could be from nothing to infinity: how many are finite, and met exactly?"""
    finite = met = exact = 0
    for seed in range(100):
        bounds, outcome = run_generated(seed + 60_000, 10)
        values = {**bounds.defaults, **GIVEN, "reviewers": ["score", "second", "third"]}
        low, high = bounds.total.within(values)
        finite += high is not None
        if outcome.status == "ok" and high is not None:
            met += len(outcome.trace.calls) in (low, high)
            exact += low == high
    assert finite >= 90
    assert met >= 20
    assert exact >= 5


# --- the corpus ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", read_cases("eval"), ids=lambda case: case.id)
def test_cases_of_the_corpus_stay_within(case: Case) -> None:
    data = case.data
    script = Script.from_data(data.get("script", {}))
    options = data.get("options", {})
    engine = prose.Engine(services=scripted_services(script), max_passes=options.get("max-passes", 1000))
    with tempfile.TemporaryDirectory() as folder:
        try:
            bounds = call_bounds(engine, load(engine, data, Path(folder))[0])
        except ProseError:
            pytest.skip("what has errors has no bounds")
    outcome, _, _ = run_case(case)
    if any(isinstance(bound, str) and bound not in data.get("script", {}) for bound in data.get("bind", {}).values()):
        pytest.skip("a slot is bound to what has a body")
    values = {**bounds.defaults, **data.get("inputs", {}), **data.get("config", {})}
    values |= {name: value for name, value in data.get("bind", {}).items() if isinstance(value, list)}
    values |= {name: int(value) for name, value in data.get("texts", {}).items() if value.isdigit()}
    assert outside(bounds, outcome, values) == []


# --- the library -----------------------------------------------------------------------------------------------------

SCENARIOS = [
    pytest.param(scenario, id=f"{name}: {scenario.name}")
    for name in library_names()
    for scenario in collect(library_folder() / f"{name}.test.prose.md").scenarios
]


@pytest.fixture(scope="module")
def engine() -> prose.Engine:
    return prose.Engine()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_scenarios_of_the_library_stay_within(scenario: Scenario, engine: prose.Engine) -> None:
    subject = subject_of(scenario.document, engine)
    bounds = call_bounds(engine, subject)
    given = given_names(scenario, subject.entry, engine, scripted_services(scenario.replies))
    outcome = run_scenario(scenario, engine).outcome
    assert outcome is not None
    values = {**bounds.defaults, **{name: item.value for name, item in given.items() if item.value is not None}}
    if outcome.status == "invalid":
        assert outcome.trace.calls == ()
    else:
        assert outside(bounds, outcome, values) == []
