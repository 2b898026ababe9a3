"""Conversations in random programs (L29): what is said to whom depends on the program alone, not on who answers first,
and is what a plain reading of the rule says."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from prose_lang import Engine
from prose_lang.runtime.effects import Effect
from prose_lang.semantics.signature import Signature
from prose_lang.testing.clock import run_virtual

#: `session`, `resume`, or a parallel block of lists of such.
Tree = Any

STEPS = st.recursive(
    st.sampled_from(["session", "resume"]),
    lambda inner: st.lists(st.lists(inner, min_size=1, max_size=3), min_size=1, max_size=3),
    max_leaves=14,
)
PROGRAMS = st.lists(STEPS, min_size=1, max_size=5)


class Poet:
    """Answers each prompt with itself, after a time that depends on `seed`."""

    name = "poet"
    composite = False
    signature = Signature(open=True, positional=False)

    def __init__(self, seed: int) -> None:
        self.seed = seed

    async def invoke(self, effect: Effect) -> str:
        from asyncio import sleep

        prompt = effect.inputs["prompt"]
        await sleep(hash((self.seed, prompt)) % 97)
        return str(prompt)


def written(steps: list[Tree], numbers: Iterator[int], indent: str = "") -> str:
    lines = []
    for step in steps:
        if isinstance(step, str):
            lines.append(f'{indent}{step}: poet\n{indent}  prompt: "{next(numbers)}"')
        else:
            lines.append(f"{indent}parallel:")
            for branch in step:
                lines.append(f"{indent}  do:\n{written(branch, numbers, indent + '    ')}")
    return "\n".join(lines)


def model(
    steps: list[Tree], numbers: Iterator[int], before: list[str], heard: list[list[str]]
) -> tuple[bool, list[str]]:
    """Whether the steps begin anew, and what they add; `heard` gets what each call is told of the past."""
    anew, added = False, list[str]()
    for step in steps:
        past = added if anew else before + added
        if isinstance(step, str):
            number = str(next(numbers))
            heard.append(past if step == "resume" else [])
            if step == "session":
                anew, added = True, []
            added = [*added, number]
            continue
        for branch_anew, branch_added in [model(branch, numbers, past, heard) for branch in step]:
            anew, added = anew or branch_anew, branch_added if branch_anew else added + branch_added
    return anew, added


@settings(max_examples=60, deadline=None)
@given(PROGRAMS, st.integers(0, 1000))
def test_what_is_said_is_what_the_program_says(steps: list[Tree], seed: int) -> None:
    text = f"agent poet:\n  persist: true\n{written(steps, iter(range(1000)))}\n"
    wanted: list[list[str]] = []
    model(steps, iter(range(1000)), [], wanted)
    engine = Engine(services=[Poet(seed)])
    outcome = run_virtual(engine.outcome_async(engine.loads(text), {}))
    assert outcome.error is None, text
    told = [[turn["answer"] for turn in call.inputs.get("conversation", ())] for call in outcome.trace.calls]
    assert told == wanted, text
