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


async def echo(v: Any) -> Any:
    return v


def outcome_of(body: str, **names: Any) -> Any:
    engine = prose.Engine(services=[echo], limits=prose.Limits(calls=None))
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
        ("let x = 1\nrepeat 60:\n  x = [x, x]\nthrow x\n", "P308"),
        ("let x = 1\nrepeat 60:\n  x = [x, x]\nthrow { detail: x }\n", "P308"),
        ("let x = 1\nrepeat 60:\n  x = [x, x]\ncall echo\n  v: x\n", "P305"),
        ('let x = 1\nrepeat 60:\n  x = [x, x]\ncall echo\n  v: "a"\n  prompt: x\n', "P304"),
        ("let x = 1\nrepeat 60:\n  x = { a: x, b: x }\nreturn x\n", "P305"),
        ('let x = "ab"\nrepeat 60:\n  x = "{x}{x}"\nreturn x.length\n', "P304"),
        ('let x = "ab"\nrepeat 25:\n  x = x + x\nlet y = [x, x, x, x, x, x, x]\nreturn "{y}"\n', "P304"),
        ("let x = 1\nrepeat 10000:\n  x = { a: x }\ncall echo\n  v: x\n", "P305"),
        ("return parallel repeat 1e300:\n  1\n", "P302"),
        ("return parallel repeat 1000000000:\n  call echo\n    v: 1\n", "P302"),
        ("let x = [1]\nreturn x[1e300]\n", "P303"),
        ("let x = 3\nrepeat 2000:\n  x = x + x\nreturn x\n", "P304"),
        ("let x = call echo(" + "1 + " * 20_000 + "1) | map:\n  item\n", "P307"),
        ('return "' + "\\q" * 100_000 + '"\n', "P110"),
        ("return " + "9" * 100_000 + "\n", "P101"),
        ("if " + "word " * 200_000 + ":\n  return 1\n", "P403"),
        ("if " + "(" * 1_000_000 + ":\n  return 1\n", "P403"),
        ("let = 3\n" * 20_000, "P101"),
        ('x "\n' * 20_000, "P102"),
        ("let x = (\n" * 20_000, "P307"),
        ("".join(f'let y{number} = "{{z{number}}}"\n' for number in range(2_000)), "P201"),
        ("".join(f"call f{number}\n" for number in range(2_000)), "P202"),
    ],
    ids=lambda value: value[:24].replace("\n", " ") if isinstance(value, str) else None,
)
def test_what_is_too_much_has_a_code(body: str, code: str) -> None:
    outcome = outcome_of(body)
    assert outcome.error is not None
    assert outcome.error.code == code
    assert outcome.error.span is not None


def test_comparing_values_that_share_their_parts_ends() -> None:
    body = "let x = 1\nlet y = 1\nrepeat 60:\n  x = [x, x]\n  y = [y, y]\nreturn [x == y, x in [y], x == [y]]\n"
    assert outcome_of(body).value == [True, True, False]


def test_lists_that_grew_are_compared_by_kind() -> None:
    body = "let x = []\nlet y = []\nrecord 1 in x\nrecord true in y\nreturn [x == y, x == [1], y == [true]]\n"
    assert outcome_of(body).value == [False, True, True]


@pytest.mark.parametrize("text", ["[" * 500, "[" * 500 + "]" * 500, "[" + "9" * 5000 + "]", "[1e999]", "[NaN]"])
def test_json_that_is_a_trap_is_a_plain_text(text: str) -> None:
    outcome = outcome_of(f'let x = "{text}"\nreturn [x.a, x["k"]]\n')
    assert outcome.value == [None, None]
    assert len(outcome.trace.warnings) == 2


def test_a_text_of_five_million_characters_is_a_text_like_any_other() -> None:
    assert outcome_of('let x = "' + "a" * 5_000_000 + '"\nreturn x.length\n').value == 5_000_000


@pytest.mark.parametrize("nesting", ["if true:", "repeat 1:", "try:", "do:", "parallel:", "let r = for q in [1]:"])
@pytest.mark.parametrize("depth", [3, 150])
def test_depth_of_blocks_bodies_and_values_together(nesting: str, depth: int) -> None:
    """The deepest values go to a service and back from the bottom of deep bodies in blocks that call themselves."""
    heads = [f"{'  ' * level}{nesting}\n" for level in range(1, 50)]
    tails = [f"{'  ' * level}finally:\n{'  ' * level}  1\n" for level in reversed(range(1, 50))]
    inner = "  " * 50
    lines = ["if n == 0:", "  let z = call echo", "    v: w", "  return 1", "else:", "  return do f(n - 1, w)"]
    body = (
        "let v = 1\nrepeat 198:\n  v = [v]\nblock f(n, w):\n"
        + "".join(heads)
        + "".join(f"{inner}{line}\n" for line in lines)
        + ("".join(tails) if nesting == "try:" else "")
        + f"let r = do f({depth}, v)\nreturn 1\n"
    )

    outcome = outcome_of(body)
    assert outcome.value == 1, outcome.error
    assert [call.service for call in outcome.trace.calls] == ["echo"]


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


_GREEDY = """
import resource
import prose_lang as prose
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
engine = prose.Engine()
body = 'let x = "ab"\\nrepeat 25:\\n  x = x + x\\nlet ys = repeat 100 as i:\\n  "{x}{i}"\\nreturn 1\\n'
outcome = engine.outcome(engine.loads(body), {})
print(outcome.status, outcome.error.code, outcome.error.span is not None)
"""


def test_a_run_that_needs_more_memory_than_there_is_ends_in_a_code() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _GREEDY], cwd=ROOT, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout == "limited P405 True\n"


_LARGE = {
    "statements": ("'let x = 0\\n' + 'x = x + 1\\n' * 100_000 + 'return x\\n'", "ok 100000"),
    "calls": ("'call step\\n  n: 1\\n' * 100_000 + 'return 1\\n'", "ok 1"),
    "branches": ("'parallel:\\n' + '  call step\\n    n: 1\\n' * 20_000 + 'return 1\\n'", "ok 1"),
    "parallel calls": ("'let r = parallel repeat 100000 as i:\\n  call step\\n    n: i\\nreturn r[9]\\n'", "ok 11"),
    "records": ("'let l = []\\nrepeat 2000000 as i:\\n  record i in l\\nreturn l.length\\n'", "ok 2000000"),
    "list": ("'let l = [' + '1, ' * 500_000 + ']\\nreturn l.length\\n'", "ok 500000"),
    "sum": ("'return ' + '1 + ' * 500_000 + '1\\n'", "P307"),
    "path": ("'let x = 1\\nreturn x' + '.a' * 500_000 + '\\n'", "P307"),
    "interpolations": ("'let x = 1\\nlet t = \"' + '{x}' * 500_000 + '\"\\nreturn t.length\\n'", "ok 500000"),
    "open stars": ("'if ***' + 'a\\n' * 50_000 + ':\\n  1\\n'", "P112"),
    "blocks": ("''.join(' ' * level + 'if true:\\n' for level in range(5_000))", "P307"),
}
_RUN_LARGE = """
import sys
import prose_lang as prose
async def step(n): return n + 1
engine = prose.Engine(services=[step], limits=prose.Limits(calls=None), trace=False)
outcome = engine.outcome(engine.loads(eval(sys.argv[1])), {})
print(outcome.error.code if outcome.error else f"{outcome.status} {outcome.value}")
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", _LARGE)
def test_large_programs_end(name: str) -> None:
    expression, wanted = _LARGE[name]
    command = [sys.executable, "-c", _RUN_LARGE, expression]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert (done.stdout.strip(), done.stderr[-500:]) == (wanted, "")


class Hostile:
    """An object that lies about itself."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("no")

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
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
        (iter([1]), "P305"),
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


class Unspeakable(Exception):
    """An error that cannot say what it is."""

    def __str__(self) -> str:
        raise ValueError("no")

    __repr__ = __str__


class Liar(Exception):
    """An error that lies about what it is."""

    @property
    def __class__(self) -> Any:  # type: ignore[override]
        raise ValueError("no")


@pytest.mark.parametrize("kind", [Unspeakable, Liar])
@pytest.mark.parametrize("waits", [False, True])
def test_an_error_that_misbehaves_is_the_failure_of_its_service(kind: type[Exception], waits: bool) -> None:
    def odd() -> Any:
        raise kind

    async def odd_later() -> Any:
        raise kind

    engine = prose.Engine(services={"odd": odd_later if waits else odd}, limits=prose.Limits(seconds=30))
    outcome = engine.outcome(
        engine.loads("try:\n  call odd\ncatch as e:\n  return [e.code, e.service, e.message]\n"), {}
    )
    assert outcome.value == ["P406", "odd", kind.__name__]
