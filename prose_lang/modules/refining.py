"""`refine` and `best_of_n`: several attempts of one module, scored; the first good enough or the best one is taken."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from prose_lang.engine import Engine
from prose_lang.modules.attempts import Attempt, ModuleRun, failure_of
from prose_lang.modules.calling import SAMPLE, Task, optional, perform, taken, with_inputs
from prose_lang.modules.errors import IdenticalSamplesWarning, refused
from prose_lang.modules.module import Module, engine_for, library, named, part
from prose_lang.modules.scores import finite, names_read, scorer_for
from prose_lang.modules.templates import DEFAULT_TEMPLATE, NO_FEEDBACK, FeedbackWriter, Template
from prose_lang.runtime.effects import Effect, Service
from prose_lang.semantics.signature import Parameter, Signature
from prose_lang.values import Value, equal, interpolated


def refine(
    module: Any,
    n: int = 3,
    reward_fn: Any = None,
    threshold: float = 1.0,
    fail_count: int | None = None,
    feedback_template: str | None = None,
    feedback_field: str = "feedback",
    *,
    cumulative: bool = False,
    name: str | None = None,
    engine: Engine | None = None,
) -> Refine:
    """A module that tries up to `n` times, each time with feedback on the attempt before, until a score is good enough.

    `reward_fn(prediction, inputs)` gives a number, or true or false; without one every prediction is as good as any.
    The first prediction whose score reaches `threshold` is taken, else the best, the earlier of two equals. A failed
    attempt uses one of `n`; `fail_count` failures in a row (`n` unless given) raise AttemptsError, and so does it if
    every attempt failed.

    The feedback is `feedback_template` with `{score}`, `{prediction}` and any input filled in. It is the input
    `feedback_field` where `module` declares one ("No feedback yet." at first, unless the caller gave some), else it is
    passed as `prompt`, from the second attempt on. With `cumulative` an attempt gets all feedback so far, a line each.

    Run by the library pattern `refine-with-feedback`. Raises CheckError P202 or P211 for what it cannot be made of.

    >>> def one_word(prediction, inputs): return len(prediction.split()) == 1
    >>> async def drafter(question, feedback):
    ...     return "It is Paris." if feedback == "No feedback yet." else "Paris"
    >>> short = refine(drafter, reward_fn=one_word, feedback_template="'{prediction}' scored {score}. One word!")
    >>> short(question="The capital of France?")
    'Paris'
    >>> short.feedback_history()
    ["'It is Paris.' scored 0. One word!"]
    """
    return Refine(module, n, reward_fn, threshold, fail_count, feedback_template, feedback_field,
                  cumulative=cumulative, name=name, engine=engine)  # fmt: skip


def best_of_n(
    module: Any,
    n: int = 3,
    reward_fn: Any = None,
    threshold: float | None = 1.0,
    fail_count: int | None = None,
    *,
    name: str | None = None,
    engine: Engine | None = None,
) -> BestOfN:
    """A module that tries up to `n` times, all attempts being asked the same, and gives the best prediction.

    Scores, `threshold` and `fail_count` are those of `refine`. With `threshold=None` no score ends the search, and
    unless there is a `fail_count` all attempts are made at the same time.

    Run by the library pattern `best-of-n`. Raises CheckError P202 or P211 for what it cannot be made of.

    >>> async def guess(question, sample): return ["a long one", "short", "middling"][sample]
    >>> def brevity(prediction, inputs): return 1 / len(prediction)
    >>> best = best_of_n(guess, n=3, reward_fn=brevity, threshold=None)
    >>> best(question="?")
    'short'
    >>> [round(attempt.score, 2) for attempt in best.attempts()]
    [0.1, 0.2, 0.12]
    """
    return BestOfN(module, n, reward_fn, threshold, fail_count, name=name, engine=engine)


class Attempter:
    """A module in the slot `attempter` of a library pattern. `field` is its input for feedback, where it has one."""

    def __init__(self, inner: Service, field: str, unseen: tuple[str, ...] = ()) -> None:
        self.inner = inner
        self.name = inner.name
        self.composite = inner.composite
        self.max_concurrency = getattr(inner, "max_concurrency", None)
        self.field = field
        self.declared = inner.signature.parameter(field) is not None
        self.unseen = unseen
        self.signature = Signature(
            (Parameter("task_brief", True), Parameter("feedback", False)), outputs=inner.signature.outputs
        )

    async def invoke(self, effect: Effect) -> Any:
        """One attempt."""
        task, feedback = effect.inputs["task_brief"], joined(effect.inputs.get("feedback"))
        inputs = taken(task, self.inner.signature, self.unseen)
        prompt = getattr(task, "prompt", None)
        if self.declared:
            inputs[self.field] = NO_FEEDBACK if feedback is None else feedback
        elif feedback is not None:
            prompt = feedback if prompt is None else f"{prompt}\n{feedback}"
        return await perform(self.inner, effect, inputs, prompt)


class Attempting(Module):
    """What `refine` and `best_of_n` share: settings, and the meaning of a history of attempts."""

    def __init__(self, inner: Service, reads: tuple[str, ...], slots: Mapping[str, Any], config: Mapping[str, Any],
                 pattern: str, verb: str, name: str | None, engine: Engine) -> None:  # fmt: skip
        self.n: int = checked_count("n", config["n"])
        if config["fail_count"] is not None:
            checked_count("fail_count", config["fail_count"])
        signature = optional(with_inputs(inner.signature, reads), SAMPLE, self.field_of(inner))
        config = {**config, "threshold": checked_threshold(config["threshold"])}
        self.inner = inner
        super().__init__(name or named(verb, [inner]), signature, engine, library(engine, pattern), slots, config)

    def field_of(self, inner: Service) -> str:
        """The input that tells a module of feedback, where the caller need not give it."""
        return SAMPLE

    def read(self, value: Value) -> ModuleRun:
        attempts = self.attempts_of(value["history"])
        if len(attempts) == self.n > 1 and not any(attempt.failed for attempt in attempts):
            first = attempts[0].prediction
            if all(equal(attempt.prediction, first) for attempt in attempts):
                warnings.warn(
                    f"`{self.name}`: all {self.n} attempts gave the same; a cache of answers has to tell samples apart",
                    IdenticalSamplesWarning,
                    stacklevel=2,
                )
        return ModuleRun(value["result"], attempts, attempts[value["attempt"] - 1])

    def read_failure(self, thrown: Mapping[str, Any]) -> tuple[Attempt, ...] | None:
        return self.attempts_of(thrown["history"]) if isinstance(thrown.get("history"), list) else None

    def attempts_of(self, history: list[dict[str, Any]]) -> tuple[Attempt, ...]:
        """The attempts that a pattern tells of."""
        return tuple(self.attempt(one) for one in history)

    def attempt(self, one: dict[str, Any]) -> Attempt:
        return Attempt(
            one["attempt"],
            self.inner.name,
            one["result"],
            one["score"],
            evaluation=one["evaluation"],
            error=failure_of(one["error"]),
        )


class BestOfN(Attempting):
    """See `best_of_n`."""

    def __init__(self, module: Any, n: int, reward_fn: Any, threshold: float | None, fail_count: int | None,
                 *, name: str | None, engine: Engine | None) -> None:  # fmt: skip
        engine = engine_for(engine, (module,))
        inner, scorer = part(module, engine), scorer_for(reward_fn, engine)
        reads = tuple(key for key in names_read(scorer) if inner.signature.parameter(key) is None)
        super().__init__(
            inner,
            reads,
            {"attempter": Attempter(inner, "", reads), "scorer": scorer},
            {"n": n, "threshold": threshold, "fail_count": fail_count},
            "best-of-n",
            "best_of_n",
            name,
            engine,
        )


class Refine(Attempting):
    """See `refine`."""

    def __init__(self, module: Any, n: int, reward_fn: Any, threshold: float, fail_count: int | None,
                 feedback_template: str | None, feedback_field: str, *, cumulative: bool = False,
                 name: str | None = None, engine: Engine | None = None,
                 verb: str = "refine", scorer: Any = None) -> None:  # fmt: skip
        if threshold is None:
            raise refused("`refine` needs a threshold", "`best_of_n` takes threshold=None: all attempts at once")
        if not isinstance(feedback_field, str) or not feedback_field.isidentifier():
            raise refused(f"`feedback_field` is the name of an input, not {feedback_field!r}")
        engine = engine_for(engine, (module,))
        inner = part(module, engine)
        scorer = scorer or scorer_for(reward_fn, engine)
        self.field = feedback_field
        self.attempter = Attempter(inner, feedback_field, ())
        reads = tuple(key for key in names_read(scorer) if inner.signature.parameter(key) is None)
        self.attempter.unseen = reads
        fields = tuple(key for key in (*inner.signature.names, *reads) if key != feedback_field)
        text = DEFAULT_TEMPLATE if feedback_template is None else feedback_template
        self.template = Template(text, fields, any_field=inner.signature.open)
        super().__init__(
            inner,
            reads,
            {"attempter": self.attempter, "scorer": scorer, "feedback_writer": FeedbackWriter(self.template)},
            {"n": n, "threshold": threshold, "fail_count": fail_count, "cumulative": bool(cumulative)},
            "refine-with-feedback",
            verb,
            name,
            engine,
        )

    def field_of(self, inner: Service) -> str:
        return self.field if self.attempter.declared else "prompt"

    def given(self, task: Task) -> dict[str, Value]:
        """The caller's own feedback is the first attempt's."""
        first = task.pop(self.field, None) if self.attempter.declared else None
        missing = [key for key in self.template.fields if key not in task and not self.signature.parameter(key)]
        if missing:  # a module that takes any input says nothing of their names when it is wrapped
            raise refused(f"the feedback template of `{self.name}` names `{missing[0]}`, which is no input")
        given: dict[str, Value] = {"task_brief": task}
        return given if first is None else {**given, "first_feedback": first}

    def attempt(self, one: dict[str, Any]) -> Attempt:
        feedback = joined(one["feedback"])
        if feedback is None and self.attempter.declared:
            feedback = NO_FEEDBACK
        return Attempt(
            one["attempt"],
            self.inner.name,
            one["result"],
            one["score"],
            feedback,
            joined(one["written"]),
            one["evaluation"],
            failure_of(one["error"]),
        )


def joined(feedback: Value) -> str | None:
    """Feedback as one text; several of them a line each."""
    if feedback is None:
        return None
    if isinstance(feedback, list):
        return "\n".join(interpolated(one) for one in feedback)
    return interpolated(feedback)


def checked_count(what: str, value: Any) -> int:
    """A whole number from 1. Raises CheckError P211."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise refused(f"`{what}` is a whole number from 1, not {value!r}")
    return value


def checked_threshold(value: Any) -> float | None:
    """A finite number, or None. Raises CheckError P211."""
    if value is None:
        return None
    plain = finite(int(value) if isinstance(value, bool) else value)
    if plain is None:
        raise refused(f"`threshold` is a finite number, not {value!r:.40}")
    return plain
