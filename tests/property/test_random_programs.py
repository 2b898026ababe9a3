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


def plain(outcome: Any) -> dict[str, Any]:
    """What a run came to, without what depends on time."""
    trace, error = outcome.trace, outcome.error
    return {
        "status": outcome.status,
        "value": outcome.value,
        "error": (error.code, error.message, error.span, error.service) if error is not None else None,
        "calls": [
            (call.address, call.service, call.inputs, call.modifiers, call.value, call.error, call.attempts)
            for call in trace.calls
        ],
        "decisions": [item.as_json() for item in trace.decisions],
        "warnings": sorted((item.line, item.code, item.message, item.count) for item in trace.warnings),
    }


def run(text: str, pace: int, *, calls: int | None = None, **limits: Any) -> tuple[dict[str, Any], Services]:
    """What a run with services of a random pace comes to."""
    services = Services(pace)
    engine = prose.Engine(services=services.all(), judge=services.judge, limits=prose.Limits(calls=calls, **limits))
    outcome = run_virtual(engine.outcome_async(engine.loads(text, "generated.prose.md"), names_for(services)))
    assert not any(services.busy.values()), "a call outlived its run"
    assert outcome.error is None or outcome.error.span is not None
    return plain(outcome), services


@pytest.mark.parametrize("seed", seeds(60))
def test_pace_changes_nothing(seed: int) -> None:
    """The same value or error, calls, decisions and warnings, in program order, however long the services take."""
    text = write_program(seed, 5 + seed % 25)
    first, _ = run(text, 1)
    assert first["status"] in ("ok", "failed"), first["error"]
    assert run(text, 2)[0] == first
    assert run(text, 3)[0] == first


@pytest.mark.parametrize("seed", seeds(25))
def test_an_engine_may_run_a_pattern_many_times(seed: int) -> None:
    text = write_program(1000 + seed)
    services = Services(seed)
    engine = prose.Engine(services=services.all(), judge=services.judge, limits=prose.Limits(calls=None))
    pattern = engine.loads(text, "generated.prose.md")
    found = [plain(run_virtual(engine.outcome_async(pattern, names_for(services)))) for _ in range(2)]
    fresh, _ = run(text, seed)
    assert found == [fresh, fresh]


@pytest.mark.parametrize("seed", seeds(40))
def test_concurrency_is_never_exceeded_and_changes_nothing(seed: int) -> None:
    text = write_program(2000 + seed, 20)
    free, _ = run(text, 1)
    most = 1 + seed % 3
    found, services = run(text, seed, concurrency=most, per_service={"score": 1, "flaky": 2})
    assert services.most <= most
    assert services.peak.get("score", 0) <= 1
    assert services.peak.get("flaky", 0) <= 2
    assert found == free


@pytest.mark.parametrize("races", [False, True])
@pytest.mark.parametrize("seed", seeds(20))
def test_calls_are_never_exceeded(seed: int, races: bool) -> None:
    text = write_program(3000 + seed, 20, races=races)
    free, unlimited = run(text, seed)
    for most in {1, 4, max(1, unlimited.started - 1)}:
        found, services = run(text, seed, calls=most)
        assert services.started <= most
        if unlimited.started <= most:
            assert found == free
        elif not races:
            assert found["status"] == "limited"
            assert found["error"][0] == "P405"
            assert services.started == most


@pytest.mark.parametrize("seed", seeds(25))
def test_races_end_in_a_value_or_a_code(seed: int) -> None:
    for pace in (1, 2):
        found, _ = run(write_program(4000 + seed, races=True), pace)
        assert found["status"] in ("ok", "failed")


def test_all_statements_and_layers_occur() -> None:
    seen: set[str] = set()
    layers: set[str] = set()
    engine = prose.Engine()
    for seed in range(100):
        text = write_program(seed, 20, races=seed % 2 == 0)
        body = engine.program(engine.loads(text, "generated.prose.md")).body
        assert body is not None
        seen.update(type(node).__name__ for node in walk(body))
        if seed < 30:
            layers.update(item["layer"] for item in run(text, seed)[0]["decisions"])
    kinds = {name for name, kind in vars(n).items() if isinstance(kind, type) and issubclass(kind, n.Node)}
    assert kinds - seen == {"Node", "Malformed"}
    assert layers >= {"expression", "phrase", "verdict", "criteria", "judge", "value"}
