"""Random programs do the same whatever their services' pace, keep their limits, and never fail but by a ProseError."""

from __future__ import annotations

from typing import Any

import pytest
from programs import INPUTS, write_program
from scale import seeds
from services import Services

import prose_lang as prose
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk
from prose_lang.testing.clock import run_virtual

#: What is given for the inputs and config keys of generated programs.
GIVEN = {"start": 3, "topic": "moss", "mode": "deep"}


def names_for(services: Services) -> dict[str, Any]:
    assert GIVEN.keys() == INPUTS.keys()
    return {**services.slots(), **GIVEN}


def run(text: str, pace: int, **limits: Any) -> tuple[Any, Services]:
    """What a run comes to, in plain data that does not depend on time, with services of a random pace."""
    services = Services(pace)
    engine = prose.Engine(services=services.all(), judge=services.judge, limits=prose.Limits(calls=None, **limits))
    pattern = engine.loads(text, "generated.prose.md")
    outcome = run_virtual(engine.outcome_async(pattern, names_for(services)))
    calls = [(call.address, call.service, call.inputs) for call in outcome.trace.calls]
    decisions = [(item.address, item.layer, item.holds) for item in outcome.trace.decisions]
    code = outcome.error.code if outcome.error is not None else None
    return (outcome.status, outcome.value, code, calls, decisions), services


@pytest.mark.parametrize("seed", seeds(60))
def test_pace_changes_nothing(seed: int) -> None:
    text = write_program(seed)
    first, _ = run(text, 1)
    second, _ = run(text, 2)
    assert first == second
    assert first[0] in ("ok", "failed")


@pytest.mark.parametrize("seed", seeds(25))
def test_an_engine_may_run_a_pattern_many_times(seed: int) -> None:
    services = Services(seed)
    engine = prose.Engine(services=services.all(), judge=services.judge, limits=prose.Limits(calls=None))
    pattern = engine.loads(write_program(1000 + seed), "generated.prose.md")
    found = []
    for _ in range(3):
        outcome = run_virtual(engine.outcome_async(pattern, names_for(services)))
        found.append((outcome.status, outcome.value, [call.address for call in outcome.trace.calls]))
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("seed", seeds(25))
@pytest.mark.parametrize("concurrency", [1, 3])
def test_concurrency_is_never_exceeded(seed: int, concurrency: int) -> None:
    _, services = run(write_program(2000 + seed, 20), seed, concurrency=concurrency)
    assert services.most <= concurrency


@pytest.mark.parametrize("seed", seeds(25))
def test_calls_are_never_exceeded(seed: int) -> None:
    services = Services(seed)
    limits = prose.Limits(calls=4)
    engine = prose.Engine(services=services.all(), judge=services.judge, limits=limits)
    pattern = engine.loads(write_program(3000 + seed, 20), "generated.prose.md")
    outcome = run_virtual(engine.outcome_async(pattern, names_for(services)))
    assert services.started <= 4
    if outcome.status == "limited":
        assert outcome.error is not None
        assert outcome.error.code == "P405"
        assert services.started == 4


@pytest.mark.parametrize("seed", seeds(25))
def test_races_end_in_a_value_or_a_code(seed: int) -> None:
    found, services = run(write_program(4000 + seed, races=True), seed)
    assert found[0] in ("ok", "failed")
    assert not any(services.busy.values()), "a call outlived its run"


def test_all_statements_occur() -> None:
    seen: set[str] = set()
    engine = prose.Engine()
    for seed in range(150):
        pattern = engine.loads(write_program(seed, 20, races=seed % 2 == 0), "generated.prose.md")
        body = engine.program(pattern).body
        assert body is not None
        seen.update(type(node).__name__ for node in walk(body))
    wanted = {
        name
        for name, kind in vars(n).items()
        if isinstance(kind, type) and issubclass(kind, n.Node) and kind not in (n.Node, n.Malformed)
    }
    # Sessions end a run (P410), and `use` needs what only an installed dependency gives.
    assert wanted - seen <= {"Session", "Resume", "AgentDef", "Use"}
