"""Extreme programs and values end in a result or a code, within bounds of time and memory."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import prose_lang as prose

ROOT = Path(__file__).parents[2]


def outcome_of(body: str, **names: Any) -> Any:
    engine = prose.Engine(limits=prose.Limits(calls=None))
    return engine.outcome(engine.loads(body), names)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("let x = " + "[" * 10_000 + "\nreturn x\n", "P307"),
        ("let x = " + "(" * 10_000 + "1" + ")" * 10_000 + "\nreturn x\n", "P307"),
        ("let x = " + "1 + " * 20_000 + "1\nreturn x\n", "P307"),
        ("let x = a" + ".b" * 20_000 + "\nreturn x\n", "P307"),
        ("let x = " + "not " * 20_000 + "true\nreturn x\n", "P307"),
        ("".join("  " * level + "if true:\n" for level in range(300)) + "  " * 300 + "return 1\n", "P307"),
        ('let x = "' + "a" * 5_000_000 + "\nreturn x\n", "P102"),
        ("let x = 1\nrepeat 60:\n  x = [x, x]\nreturn x\n", "P305"),
        ('let x = 1\nrepeat 60:\n  x = [x, x]\nreturn "{x}"\n', "P304"),
        ("let x = 1\nrepeat 10000:\n  x = [x]\nreturn x\n", "P305"),
        ('let x = "ab"\nrepeat 60:\n  x = x + x\nreturn x.length\n', "P304"),
        ("let x = [1, 2]\nrepeat 60:\n  x = x + x\nreturn x.length\n", "P304"),
        ("let x = 99\nrepeat 60:\n  x = x * x\nreturn x\n", "P304"),
        ("block f(n):\n  return do f(n + 1)\nreturn do f(0)\n", "P307"),
        ("loop:\n  let x = 1\n", "P306"),
    ],
    ids=lambda value: value[:24].replace("\n", " ") if isinstance(value, str) else None,
)
def test_what_is_too_much_has_a_code(body: str, code: str) -> None:
    outcome = outcome_of(body)
    assert outcome.error is not None
    assert outcome.error.code == code
    assert outcome.error.span is not None


def test_comparing_values_that_share_their_parts_ends() -> None:
    body = "let x = 1\nlet y = 1\nrepeat 24:\n  x = [x, x]\n  y = [y, y]\nreturn x == y\n"
    outcome = outcome_of(body)
    assert outcome.value is True or (outcome.error is not None and outcome.error.code == "P304")


def test_a_text_of_five_million_characters_is_a_text_like_any_other() -> None:
    assert outcome_of('let x = "' + "a" * 5_000_000 + '"\nreturn x.length\n').value == 5_000_000


def test_ten_thousand_statements_run() -> None:
    assert outcome_of("let x = 1\n" + "x = x + 1\n" * 10_000 + "return x\n").value == 10_001


def test_a_hundred_thousand_records_do_not_cost_quadratic_time() -> None:
    body = "let log = []\nrepeat 100000 as i:\n  record i in log\n  if log.length < 0:\n    break\nreturn log.length\n"
    assert outcome_of(body).value == 100_000


def test_a_hundred_thousand_branches() -> None:
    assert outcome_of("let r = parallel repeat 100000 as i:\n  i * 2\nreturn r[99999]\n").value == 200_000


def test_two_hundred_nested_blocks_with_deep_bodies() -> None:
    deep = "".join("  " * level + "if true:\n" for level in range(1, 60))
    body = (
        f"block f(n):\n  if n == 0:\n    return 0\n{deep}{'  ' * 60}let r = do f(n - 1)\n  return r\nreturn do f(199)\n"
    )
    assert outcome_of(body).value == 0


def test_a_long_computation_can_be_cancelled() -> None:
    engine = prose.Engine(limits=prose.Limits(seconds=0.05))
    began = time.monotonic()
    outcome = engine.outcome(engine.loads("let x = 1\nrepeat 1000000000:\n  x = 1\nreturn x\n"), {})
    assert outcome.error is not None
    assert outcome.error.code == "P405"
    assert time.monotonic() - began < 30


_FLAT = """
import asyncio, resource, sys
import prose_lang as prose
async def step(n): return n + 1
engine = prose.Engine(services=[step], limits=prose.Limits(calls=None), trace=False)
body = "let n = 0\\nloop while n < rounds (max: rounds):\\n  n = call step\\n    n: n\\nreturn n\\n"
head = "---\\nname: f\\nkind: pattern\\n---\\n\\n### Config\\n\\n- `rounds`: 3\\n\\n### Delegation\\n\\n```prose\\n"
pattern = engine.loads(head + body + "```\\n")
asyncio.run(pattern.arun(rounds=2000))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
asyncio.run(pattern.arun(rounds=100000))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_hundred_thousand_calls_need_no_memory_with_the_trace_off() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _FLAT], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert int(done.stdout) < 30 * 1024  # KiB


class Hostile:
    """An object that lies about itself."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no")

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise RuntimeError("no")

    def __len__(self) -> int:
        return -1


def _cycle() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (float("nan"), "P305"),
        (float("inf"), "P305"),
        (b"bytes", "P305"),
        (_cycle(), "P305"),
        ({1: "x"}, "P305"),
        (object(), "P305"),
        (Hostile(), "P305"),
        ((item for item in ()), "P305"),
        (10**400, "P305"),
        ("\ud800", "P305"),
        ({"deep": _cycle()}, "P305"),
        ("x" * 50_000_000, None),
    ],
    ids=[
        "nan",
        "inf",
        "bytes",
        "cycle",
        "key",
        "object",
        "hostile",
        "generator",
        "integer",
        "surrogate",
        "deep",
        "50 MB",
    ],
)
def test_what_is_no_value_is_refused_and_the_rest_stays_intact(result: Any, code: str | None) -> None:
    async def odd() -> Any:
        return result

    body = """let a = call fine
try:
  let x = call odd
  return [a, x.length]
catch as e:
  return [a, e.code, e.service]
"""
    engine = prose.Engine(services={"odd": odd, "fine": lambda: "fine"})
    value = asyncio.run(engine.run_async(engine.loads(body), {})).value
    assert value == (["fine", code, "odd"] if code else ["fine", 50_000_000])
