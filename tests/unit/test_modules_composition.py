"""Modules inside modules, inside patterns, as services: one run, with its limits, its trace and its cancellation."""

from __future__ import annotations

import asyncio
import copy
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import prose_lang as prose
from prose_lang.modules import (
    AttemptsError,
    IdenticalSamplesWarning,
    Module,
    best_of_n,
    ensemble,
    first,
    majority,
    module,
    pipeline,
    refine,
    with_assertions,
)
from prose_lang.testing.clock import run_virtual

ROOT = str(Path(prose.__file__).parents[1])


def pattern(body: str, slots: str = "", **options: Any) -> prose.Pattern:
    lines = "".join(f"- `{name}`: a service\n" for name in slots.split()) or "None.\n"
    text = f"---\nname: outer\nkind: pattern\n---\n\n### Slots\n\n{lines}\n### Delegation\n\n```prose\n{body}\n```\n"
    return prose.Engine(**options).loads(text)


async def draft(topic: str, feedback: str = "") -> str:
    return f"{topic}{'!' if feedback.startswith('louder') else '.'}"


async def shout(text: str) -> str:
    return text.upper()


def loud(prediction: str, inputs: Any) -> bool:
    return "!" in prediction


# --- to any depth ----------------------------------------------------------------------------------------------------


def test_a_refinement_of_an_ensemble_of_pipelines() -> None:
    async def failing(topic: str) -> str:
        raise ValueError("busy")

    lines = [pipeline([draft, shout]), pipeline([failing, shout]), pipeline([draft, shout])]
    made = refine(ensemble(lines, majority), n=3, reward_fn=loud, feedback_template="louder, not {prediction}")
    run = made.run(topic="tea")
    assert run.prediction == "TEA!"
    assert [attempt.prediction for attempt in run.attempts] == ["TEA.", "TEA!"]
    assert run.outcome is not None
    services = [call.service for call in run.outcome.trace.calls]
    assert services == ["draft", "shout", "failing", "draft", "shout", "loud"] * 2  # one run, one trace
    assert len(lines[0].attempts(all=True)) == 4
    assert lines[0].outcome is None


LAYERS: list[Callable[[Any], Module]] = [
    lambda inner: refine(inner, n=2, feedback_template="louder"),
    lambda inner: best_of_n(inner, n=2),
    lambda inner: pipeline([inner]),
    lambda inner: ensemble([inner], first),
    lambda inner: ensemble([inner], majority),
    lambda inner: with_assertions(inner, [_anything]),
    lambda inner: module(inner),
]


def _anything(prediction: Any) -> bool:
    return True


@pytest.mark.parametrize("outer", range(len(LAYERS)))
@pytest.mark.parametrize("inner", range(len(LAYERS)))
def test_every_kind_of_module_in_every_kind_of_module(outer: int, inner: int) -> None:
    made = LAYERS[outer](LAYERS[inner](draft))
    assert made(topic="tea") == "tea."
    assert asyncio.run(made.acall(topic="tea")) == "tea."


@pytest.mark.parametrize("kind", range(len(LAYERS)))
def test_fifty_concurrent_runs_of_every_kind_of_module(kind: int) -> None:
    async def slow(topic: int) -> int:
        await asyncio.sleep(topic % 7)
        return topic

    made = LAYERS[kind](slow)

    async def main() -> list[Any]:
        return list(await asyncio.gather(*(made.arun(topic=number) for number in range(50))))

    runs = run_virtual(main())
    assert [run.prediction for run in runs] == list(range(50))
    assert [run.attempts[-1].prediction for run in runs] == list(range(50))


@pytest.mark.parametrize("kind", range(len(LAYERS)))
def test_wrong_inputs_of_every_kind_of_module_are_errors_before_any_call(kind: int) -> None:
    called = []

    async def noted(topic: str) -> str:
        called.append(topic)
        return topic

    made = LAYERS[kind](noted)
    for inputs, code in (({}, "P203"), ({"topik": 1}, "P210"), ({"topic": b""}, "P211")):
        with pytest.raises(prose.CheckError) as caught:
            made(**inputs)
        assert caught.value.code == code
    assert (called, made.attempts(all=True)) == ([], [])


@pytest.mark.parametrize("kind", range(len(LAYERS)))
def test_ten_runs_of_every_kind_of_module_are_alike(kind: int) -> None:
    made = LAYERS[kind](draft)
    assert [made(topic="tea") for _ in range(10)] == ["tea."] * 10
    assert len(made.attempts(all=True)) == 10 * len(made.attempts())


def test_sixty_deep() -> None:
    made: Any = shout
    for number in range(60):
        made = LAYERS[number % 4](made)
    assert made(text="x") == "X"
    assert len(made.name) <= 80


def test_deeper_than_the_ceiling_is_an_error_of_the_interpreter() -> None:
    made: Any = shout
    for _ in range(202):
        made = pipeline([made])
    with pytest.raises(prose.RunError) as caught:
        made(text="x")
    assert caught.value.code == "P307"


def test_synchronous_functions_all_the_way_down() -> None:
    def twice(text: str) -> str:
        return text * 2

    def of_length(prediction: str, inputs: dict[str, Any]) -> bool:
        return len(prediction) == 8

    made = best_of_n(pipeline([refine(twice), pipeline([twice, twice])]), reward_fn=of_length)
    assert made(text="a") == "aaaaaaaa"


def test_one_object_in_several_threads() -> None:
    def slow(number: int, feedback: str) -> int:
        return number if feedback == "No feedback yet." else number + 1

    made = refine(slow, reward_fn=lambda prediction, inputs: prediction > inputs["number"])
    found: dict[int, Any] = {}
    threads = [threading.Thread(target=lambda n=n: found.update({n: made(number=n)})) for n in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == {number: number + 1 for number in range(20)}
    assert len(made.attempts(all=True)) == 40


# --- failures --------------------------------------------------------------------------------------------------------


def test_an_inner_module_that_gives_up_is_a_failed_attempt_of_the_outer_one() -> None:
    replies = iter([ValueError("a"), ValueError("b"), "x"])

    async def flaky(topic: str) -> str:
        reply = next(replies)
        if isinstance(reply, Exception):
            raise reply
        return reply

    inner = refine(flaky, n=2, name="inner")
    outer = refine(inner, n=2)
    assert outer(topic="t") == "x"
    failure = outer.attempts()[0].error
    assert failure is not None
    assert (failure.name, failure.service) == ("every-attempt-failed", "inner")
    assert failure.message == "`inner`: all 2 attempts failed; the last: b"
    assert [attempt.failed for attempt in inner.attempts(all=True)] == [True, True, False]


def test_the_outermost_error_has_the_attempts_of_the_outermost_module() -> None:
    async def bad(topic: str) -> str:
        raise ValueError("bad")

    inner = refine(bad, n=3, name="inner")
    with pytest.raises(AttemptsError) as caught:
        refine(inner, n=2, name="outer")(topic="t")
    assert [attempt.module for attempt in caught.value.history] == ["inner", "inner"]
    assert len(inner.attempts(all=True)) == 6


# --- in patterns -----------------------------------------------------------------------------------------------------


def test_a_module_in_a_slot_of_a_pattern() -> None:
    made = refine(draft, n=2, reward_fn=loud, feedback_template="louder")
    outer = pattern("let one = call writer\n  topic: topic\nreturn [one, one.length]", "writer")
    outcome = outer.run(writer=made, topic="tea")
    assert outcome.value == ["tea!", 4]
    assert [call.service for call in outcome.trace.calls] == ["draft", "loud", "draft", "loud"]
    assert outcome.usage.calls == 4
    assert len(made.attempts()) == 2
    for layer in LAYERS:
        assert outer.run(writer=layer(draft), topic="tea").value == ["tea.", 4]


def test_modules_in_a_list_slot_of_a_library_pattern() -> None:
    async def busy(task_brief: str) -> str:
        raise ValueError("busy")

    async def plain(task_brief: str) -> str:
        return task_brief

    outcome = prose.load("stdlib:fallback-chain").run(
        chain=[refine(busy, n=2, name="careful"), pipeline([plain, shout])], task_brief="tea"
    )
    assert outcome.value["result"] == "TEA"
    assert outcome.value["failure_history"][0]["delegate"] == "careful"
    assert outcome.value["failure_history"][0]["reason"]["name"] == "every-attempt-failed"


def test_a_module_inside_a_pattern_inside_a_module() -> None:
    inner = refine(draft, n=2, reward_fn=loud, feedback_template="louder")
    middle = module(pattern("return call writer\n  topic: topic", "writer"), writer=inner)
    outer = ensemble([middle, pipeline([middle])], majority)
    assert outer(topic="tea") == "tea!"
    assert outer.outcome is not None
    assert outer.outcome.usage.calls == 8
    assert asyncio.run(outer.acall(topic="tea")) == "tea!"


def test_a_module_as_a_registered_service() -> None:
    engine = prose.Engine(services={"write": refine(draft, reward_fn=loud, feedback_template="louder")})
    outcome = engine.run(engine.loads('return call write\n  topic: "tea"'), {})
    assert outcome.value == "tea!"
    assert outcome.usage.calls == 4
    with pytest.raises(prose.CheckError):
        engine.run(engine.loads('return call write\n  topik: "tea"'), {})


def test_a_module_by_its_name_on_the_command_line(tmp_path: Any) -> None:
    (tmp_path / "mine.py").write_text(
        "from prose_lang.modules import refine\n\n\n"
        "async def draft(task_brief, feedback):\n    return task_brief + feedback[-1]\n\n\n"
        "writer = refine(draft, reward_fn=lambda p, i: p.endswith('!'), feedback_template='louder!')\n"
    )
    command = [sys.executable, "-m", "prose_lang", "run", "fallback-chain", "chain=py:mine:writer", "task_brief=tea"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), ROOT))}
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
    assert "tea!" in done.stdout, done.stderr


def test_the_limits_of_the_run_around_it_hold_inside_a_module() -> None:
    outer = pattern("return call writer\n  topic: topic", "writer", limits=prose.Limits(calls=3))
    made = refine(draft, n=5, reward_fn=lambda prediction, inputs: 0)
    with pytest.raises(prose.LimitError) as caught:
        outer.run(writer=made, topic="tea")
    assert caught.value.outcome.usage.calls == 3


def test_cancelling_the_outermost_run_runs_the_finally_of_the_innermost_call() -> None:
    ended = []

    async def slow(topic: str) -> str:
        try:
            await asyncio.sleep(100)
        finally:
            await asyncio.sleep(1)
            ended.append(topic)
        return topic

    async def quick(topic: str) -> str:
        await asyncio.sleep(2)
        return "quick"

    async def main() -> tuple[Any, float]:
        race = ensemble([refine(pipeline([slow])), pipeline([quick])], first(race=True))
        return await race.acall(topic="t"), asyncio.get_running_loop().time()

    assert run_virtual(main()) == ("quick", 3.0)
    assert ended == ["t"]


def test_strict_runs_have_no_warnings_of_ours() -> None:
    engine = prose.Engine(strict=True)
    for layer in LAYERS:
        layer_made = layer(draft)
        outer = module(layer_made, engine=engine)
        assert outer(topic="tea") == "tea."


# --- patterns as modules ---------------------------------------------------------------------------------------------


def test_a_pattern_runs_on_its_own_engine() -> None:
    engine = prose.Engine(services={"write": draft}, limits=prose.Limits(calls=7))
    made = refine(engine.loads("return call write\n  topic: topic"), n=1)
    assert made.engine is engine
    assert made(topic="tea") == "tea."


def test_scripted_replies_count_for_each_run_anew() -> None:
    script = prose.read_script(prose.Source("s.yaml", "writer: [one, two, three]"))
    engine = prose.Engine(script=script)
    made = refine(engine.loads("return call writer"), n=3, reward_fn=lambda p, i: p == "two")
    for _ in range(3):
        assert made() == "two"
        assert [attempt.prediction for attempt in made.attempts()] == ["one", "two"]


@pytest.mark.parametrize(
    ("bound", "code", "message"),
    [
        ({}, "P203", "slot `writer` is not bound"),
        ({"writer": draft, "topik": 1}, "P210", "takes no `topik`"),
        ({"writer": 3}, "P202", "must be a function"),
    ],
)
def test_what_is_bound_to_a_pattern_is_checked_at_once(bound: dict[str, Any], code: str, message: str) -> None:
    with pytest.raises(prose.CheckError, match=message) as caught:
        module(pattern("return call writer\n  topic: topic", "writer"), **bound)
    assert caught.value.code == code


def test_inputs_of_a_function_may_be_bound() -> None:
    async def translate(text: str, language: str) -> str:
        return f"[{language}] {text}"

    made = module(translate, language="fr")
    assert (made.name, made.signature.names) == ("translate", ("text",))
    assert made(text="a") == "[fr] a"


# --- prompt and sample -----------------------------------------------------------------------------------------------


def test_feedback_reaches_the_innermost_module_as_prompt_through_those_that_declare_none() -> None:
    seen = []

    async def model(topic: str, prompt: str = "") -> str:
        seen.append(prompt)
        return topic + prompt

    inner = best_of_n(ensemble([pipeline([model])], majority), n=1)
    made = refine(inner, n=2, reward_fn=loud, feedback_template="!")
    assert made(topic="tea") == "tea!"
    assert seen == ["", "!"]


def test_sample_numbers_differ_in_loops_inside_loops() -> None:
    async def sampled(topic: str, sample: int) -> int:
        return sample

    inner = best_of_n(sampled, n=3, reward_fn=lambda prediction, inputs: 0)
    refine(inner, n=3, reward_fn=lambda prediction, inputs: 0)(topic="t")
    first_run = [attempt.prediction for attempt in inner.attempts(all=True)]
    assert len(set(first_run)) == 9
    refine(inner, n=3, reward_fn=lambda prediction, inputs: 0)(topic="t")
    assert [attempt.prediction for attempt in inner.attempts(all=True)] == first_run * 2


def test_importing_prose_lang_loads_no_module() -> None:
    code = "import prose_lang, sys; print('prose_lang.modules' in sys.modules); prose_lang.modules.refine; " \
           "print('prose_lang.modules' in sys.modules, 'cattrs' in sys.modules, 'rich' in sys.modules)"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["False", "True", "False", "False"]


@pytest.mark.parametrize("copier", [pickle.dumps, copy.copy, copy.deepcopy])
def test_a_module_says_that_it_cannot_be_pickled_or_copied(copier: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match=r"the module `refine\(len\)` holds functions"):
        copier(refine(len, n=1))


def test_threads_may_share_a_module() -> None:
    async def answer(number: int, feedback: str) -> int:
        return number if feedback == "No feedback yet." else number + 100

    made = refine(answer, n=2, reward_fn=lambda prediction, inputs: prediction >= 100)
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda number: made(number=number), range(24))) == list(range(100, 124))
    assert len(made.attempts(all=True)) == 48


def test_what_callers_and_functions_do_with_values_changes_no_attempt() -> None:
    def spoil(prediction: list[int], inputs: dict[str, Any]) -> int:
        prediction.append(9)
        inputs["number"] = 7
        return 0

    async def answer(number: int) -> list[int]:
        return [number]

    made = refine(answer, n=2, reward_fn=spoil)
    with pytest.warns(IdenticalSamplesWarning):
        made(number=1).append(5)
    assert [attempt.prediction for attempt in made.attempts()] == [[1], [1]]
