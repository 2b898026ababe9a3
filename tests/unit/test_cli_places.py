"""Addresses in words, and why a run stopped."""

from __future__ import annotations

import pytest

from prose_lang.cli.places import called, passes, role
from prose_lang.cli.stopping import why_it_stopped
from prose_lang.engine import Engine


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("delegation/0.call:a", ""),
        ("delegation/3.repeat[2]/0.call:refiner", "round 2"),
        ("delegation/0.for[0]/1.parallel[2]/0.call:a", "item 1, branch 3"),
        ("delegation/0.for[1]/0.call:z/delegation/3.repeat[1]/0.call:r", "item 2, round 1"),
        ("delegation/6.0.pmap[0]/0.call:r", "item 1"),
    ],
)
def test_passes(address: str, words: str) -> None:
    assert passes(address) == words


def test_role_and_service() -> None:
    assert role("delegation/0.for[1]/0.call:z/delegation/3.repeat[1]/0.call:refiner#2") == "refiner"
    assert role("delegation/3.repeat[2]/4.if0.if") is None
    assert called("delegation/0.call:a", "a") == "a"
    assert called("delegation/0.call:a", "cmd:x") == "a (cmd:x)"
    assert called("delegation/4.if0.if", "judge") == "judge"


def why(body: str) -> str | None:
    engine = Engine()
    pattern = engine.loads(body)
    outcome = engine.run(pattern, {})
    return why_it_stopped(engine.program(pattern), outcome.trace.decisions)


SCORED = """\
let threshold = {}
let score = 0
repeat 3 as i:
  score = i * 0.25
  if score meets threshold:
    return i
return 0
"""


def test_a_return_out_of_a_loop() -> None:
    assert why(SCORED.format(0.5)) == "stopped: score meets threshold (0.5 >= 0.5)"


def test_a_bar_that_was_not_reached() -> None:
    assert why(SCORED.format(2)) == "not met: score meets threshold (0.75 >= 2)"


def test_until_and_while() -> None:
    body = "let i = 0\nloop {}i {} 3 (max: 9):\n  i = i + 1\n"
    assert why(body.format("until ", ">=")) == "stopped: i >= 3 (the expression is true)"
    assert why(body.format("while ", "<")) == "stopped, no longer: i < 3 (the expression is false)"


def test_break_ends_a_loop() -> None:
    assert why("repeat 3 as i:\n  if i == 2:\n    break\n") == "stopped: i == 2 (the expression is true)"


def test_other_decisions_explain_nothing() -> None:
    assert why("repeat 3 as i:\n  if i == 3:\n    let x = i\n") is None
    assert why("if 1 == 1:\n  return 2\n") is None
    assert why("return 2\n") is None
