"""The outline of a flow: what it has, and what it leaves out."""

from __future__ import annotations

import pytest

from prose_lang import Engine
from prose_lang.report.flow_builder import flow_of
from prose_lang.report.outline import outline_of
from prose_lang.resources import library_names


async def look(at: str) -> str:
    return at


ENGINE = Engine(services={"look": look})


def outline(text: str) -> str:
    return "\n".join(outline_of(flow_of(ENGINE, ENGINE.loads(text))))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('let x = 1\nif x > 2:\n  throw "no"\nreturn x', "return x"),
        (
            'if a:\n  throw "no"\nelif b:\n  let y = 2\nelse:\n  call look\n    at: a\n',
            "if a\n  …\nelif b (may ask the judge)\n  …\nelse\n  call look",
        ),
        (
            "loop until a (max: 3):\n  let a = call look\n    at: b\n",
            "loop until, at most 3 times\n  call look → a\n  until a",
        ),
        ("loop while a (max: 3):\n  let a = b\n", ""),
        (
            "choice a:\n  option \"x\":\n    call look\n      at: a\n  option \"y\":\n    let b = 1\n",
            "choice a (may ask the judge)\n  x\n    call look\n  y",
        ),
        (
            'try:\n  call look\n    at: a\n  throw "no"\ncatch as e:\n  return 1\nfinally:\n  call look\n    at: b\n',
            'try\n  call look\n  throw "no"\ncatch as e\n  return 1\nfinally\n  call look',
        ),
        (
            "parallel (on-fail: \"ignore\"):\n  let x = call look\n    at: a\n  let y = call look\n    at: b\n",
            "parallel: all, on-fail ignore\n  call look → x\n  call look → y",
        ),
        (
            "block outer(x):\n  do inner(x)\nblock inner(x):\n  call look\n    at: x\nblock idle(x):\n  return x\n"
            "do outer(1)\ndo idle(2)\n",
            "do outer(1)\nblock outer(x)\n  do inner(x)\nblock inner(x)\n  call look",
        ),
    ],
)  # fmt: skip
def test_an_outline(text: str, wanted: str) -> None:
    assert outline(text) == wanted


@pytest.mark.parametrize("name", library_names())
def test_an_outline_of_the_library_has_every_call_and_fits_a_terminal(name: str) -> None:
    flow = flow_of(ENGINE, ENGINE.load(f"stdlib:{name}"))
    lines = outline_of(flow)
    told = sorted(line.strip().removesuffix(" →").split(" → ")[0] for line in lines if line.strip().startswith("call "))
    assert told == sorted(step.lines[0] for step in flow.steps() if step.kind == "call")
    assert len(lines) <= 30
    assert all(len(line) <= 100 for line in lines)
