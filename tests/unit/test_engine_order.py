"""What a run gives does not depend on which call ends first (L35): random programs under random delays."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest

from prose_lang import Engine, Limits, Outcome
from prose_lang.testing.clock import run_virtual


class Programs:
    """Writes random programs of nested loops, branches, arms and calls."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = 0

    def program(self) -> str:
        lines = ["block shared(n):", "  call svc", "    n: n"]
        return "\n".join([*lines, *self.body(0, "", 4)]) + "\n"

    def body(self, depth: int, indent: str, length: int) -> list[str]:
        lines = []
        for _ in range(self.random.randint(1, length)):
            lines += self.statement(depth, indent)
        return lines

    def statement(self, depth: int, indent: str) -> list[str]:
        inner = indent + "  "
        number = self.random.randint(1, 9)
        self.names += 1
        name = f"v{self.names}"
        shapes = ["call", "let", "nested", "do", "return-some"]
        if depth < 3:
            shapes += ["repeat", "for", "parallel", "fan-out", "fan-out", "if", "try", "map", "pmap", "collect", "loop"]
        match self.random.choice(shapes):
            case "call":
                return [f"{indent}call svc", f"{inner}n: {number}"]
            case "let":
                return [f"{indent}let {name} = call svc", f"{inner}n: {number}"]
            case "nested":
                return [f"{indent}call svc", f"{inner}n: {number}", f"{inner}x: call svc", f"{inner}  n: {number + 1}"]
            case "do":
                return [f"{indent}do shared({number})"]
            case "return-some":
                return [f"{indent}if {number} > 8:", f"{inner}return {number}"]
            case "repeat":
                return [f"{indent}repeat {number % 3 + 1} as i{name}:", *self.body(depth + 1, inner, 3)]
            case "for":
                return [f"{indent}for x{name} in [{number}, 2]:", *self.body(depth + 1, inner, 3)]
            case "loop":
                return [f"{indent}loop until svc({number}) > 4 (max: 2):", *self.body(depth + 1, inner, 2)]
            case "collect":
                return [f"{indent}let {name} = repeat 2 as i{name}:", *self.body(depth + 1, inner, 3)]
            case "parallel":
                mode = self.random.choice(["", ' (on-fail: "continue")', ' (on-fail: "ignore")'])
                lines = [f"{indent}let {name} = parallel{mode}:"]
                for _ in range(2):
                    lines += [f"{inner}do:", *self.body(depth + 1, inner + "  ", 2)]
                return lines
            case "fan-out":
                mode = self.random.choice(["", ' (on-fail: "continue")', ' (on-fail: "ignore")'])
                return [f"{indent}parallel for x{name} in [1, 2, 3]{mode}:", *self.body(depth + 1, inner, 2)]
            case "if":
                return [
                    f"{indent}if svc({number}) > 5:",
                    *self.body(depth + 1, inner, 2),
                    f"{indent}else:",
                    *self.body(depth + 1, inner, 2),
                ]
            case "try":
                return [
                    f"{indent}try:",
                    *self.body(depth + 1, inner, 2),
                    f"{inner}if {number} > 5:",
                    f'{inner}  throw "t{number}"',
                    f"{indent}catch as e{name}:",
                    *self.body(depth + 1, inner, 2),
                    f"{indent}finally:",
                    *self.body(depth + 1, inner, 1),
                ]
            case kind:
                return [f"{indent}[1, {number}] | {kind}:", *self.body(depth + 1, inner, 2)]


def run(text: str, seed: int, concurrency: int | None = None) -> Outcome:
    delays = random.Random(seed)

    async def svc(n: int, x: Any = None) -> int:
        await asyncio.sleep(delays.choice([0, 0, 1, 2, 3, 5]))
        return n

    engine = Engine(services={"svc": svc}, limits=Limits(calls=None, concurrency=concurrency))
    return run_virtual(engine.outcome_async(engine.loads(text), {}))


def account(outcome: Outcome) -> dict[str, Any]:
    plain = outcome.as_json()
    del plain["run_id"]
    for call in plain["calls"]:
        del call["seconds"]
    return plain


@pytest.mark.parametrize("seed", range(60))
def test_the_account_of_a_run_is_the_same_whatever_ends_first(seed: int) -> None:
    text = Programs(seed).program()
    first = account(run(text, 0))
    assert first["status"] == "ok", (first["error"], text)
    addresses = [call["address"] for call in first["calls"]]
    assert len(set(addresses)) == len(addresses), text
    for delays, concurrency in ((1, None), (2, 1), (3, 2)):
        assert account(run(text, delays, concurrency)) == first, text


@pytest.mark.parametrize("seed", range(20))
def test_calls_stand_in_the_order_of_a_run_without_parallel_work(seed: int) -> None:
    """With the parallel blocks made sequential, program order is the order in which the calls start."""
    text = Programs(seed).program()
    sequential = text.replace("parallel for", "for").replace("| pmap", "| map")
    sequential = (
        "\n".join(line for line in sequential.split("\n") if line.strip())
        .replace(' (on-fail: "continue")', "")
        .replace(' (on-fail: "ignore")', "")
        .replace("= parallel:", "= do:")
    )
    started: list[int] = []

    def observe(event: Any) -> None:
        if type(event).__name__ == "CallStarted":
            started.append(event.inputs["n"])

    engine = Engine(services={"svc": lambda n, x=None: n}, limits=Limits(calls=None), observers=[observe])
    outcome = engine.outcome(engine.loads(sequential), {})
    assert outcome.status == "ok", (outcome.error, sequential)
    assert [call.inputs["n"] for call in outcome.trace.calls] == started, sequential
