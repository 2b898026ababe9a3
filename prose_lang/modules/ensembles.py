"""`ensemble`: several modules answer the same, and a reducer makes one prediction of theirs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from prose_lang.diagnostics import CheckError, ServiceError
from prose_lang.engine import Engine
from prose_lang.modules.attempts import Attempt, ModuleRun, failure_of
from prose_lang.modules.calling import SAMPLE, missing_names, perform, taken, with_inputs
from prose_lang.modules.errors import AttemptsError, refused
from prose_lang.modules.module import Module, engine_for, library, named, part
from prose_lang.modules.scores import Scorer, finite, names_read, positional_names
from prose_lang.runtime.effects import Effect, Service
from prose_lang.semantics.signature import Parameter, Signature
from prose_lang.services import FunctionService
from prose_lang.values import Value

Reading = Callable[["Ensemble", Value], ModuleRun]
ReadingFailure = Callable[["Ensemble", Mapping[str, Any]], "tuple[Attempt, ...] | None"]


@attrs.frozen(eq=False)
class Reducer:
    """A way to make one prediction of several: the library pattern that does it, and what its value means.

    `slots` makes the services of its other slots on an engine.
    """

    name: str
    pattern: str
    slot: str
    read: Reading
    read_failure: ReadingFailure
    config: Mapping[str, Any] = attrs.field(factory=dict)
    slots: Callable[[Engine], Mapping[str, Any]] = attrs.field(default=lambda engine: {})


def ensemble(
    modules: Iterable[Any], reducer: Any = None, *, name: str | None = None, engine: Engine | None = None
) -> Ensemble:
    """A module that asks several modules the same and makes one prediction of theirs.

    `reducer` is `majority` (unless given), `weighted_vote`, `best_by_metric(…)`, `first`, or a function that is called
    with the list of predictions and gives one. A member that fails is left out; if all fail, AttemptsError has every
    member's failure. Each member gets those of the inputs that it takes.

    Run by the library pattern of the reducer. Raises CheckError P202 or P211 for what it cannot be made of.

    >>> async def a(question): return "Paris"
    >>> async def b(question): raise ValueError("no answer")
    >>> async def c(question): return "Paris"
    >>> vote = ensemble([a, b, c])
    >>> vote(question="The capital of France?")
    'Paris'
    >>> [attempt.prediction or str(attempt.error) for attempt in vote.attempts()]
    ['Paris', 'no answer', 'Paris']
    """
    return Ensemble(modules, reducer, name=name, engine=engine)


def majority(*, field: str | None = None, normalizer: Callable[..., Any] | None = None, quorum: int = 1) -> Reducer:
    """A reducer: the prediction that most members gave, of several the one that the earliest member gave.

    Predictions are compared as wholes, or by `field`, or as what `normalizer` makes of them. At least `quorum` members
    must answer. Run by `majority-vote`.

    >>> async def a(question): return "paris."
    >>> async def b(question): return "Lyon"
    >>> async def c(question): return "Paris"
    >>> by_word = majority(normalizer=lambda answer: answer.strip(".").lower())
    >>> ensemble([a, b, c], by_word)(question="?")
    'paris.'
    """
    if isinstance(quorum, bool) or not isinstance(quorum, int) or quorum < 1:
        raise refused(f"`quorum` is a whole number from 1, not {quorum!r}")
    return Reducer("majority", "majority-vote", "voters", _vote, _answers_of_failure, {"quorum": quorum},
                   lambda engine: _comparing(engine, field, normalizer))  # fmt: skip


def weighted_vote(
    weights: Iterable[float] | None = None,
    *,
    field: str | None = None,
    confidence: str = "confidence",
    normalizer: Callable[..., Any] | None = None,
) -> Reducer:
    """A reducer: the prediction with the greatest weight, of several the one that the earliest member gave.

    `weights` are the members', in their order. Without them a prediction with the fields `field` (or else "answer") and
    `confidence` has that confidence as its weight, and any other the weight 1. Predictions are compared as `majority`
    does it. Run by `weighted-vote`.

    >>> async def a(question): return {"answer": "Paris", "confidence": 0.4}
    >>> async def b(question): return {"answer": "Lyon", "confidence": 0.7}
    >>> async def c(question): return {"answer": "Paris", "confidence": 0.5}
    >>> ensemble([a, b, c], weighted_vote())(question="?")
    {'answer': 'Paris', 'confidence': 0.4}
    """
    config: dict[str, Any] = {"confidence_field": confidence}
    if field is not None:
        config["answer_field"] = field
    if weights is not None:
        config["weights"] = [_weight(weight) for weight in weights]
    return Reducer("weighted_vote", "weighted-vote", "voters", _vote, _answers_of_failure, config,
                   lambda engine: _comparing(engine, field, normalizer))  # fmt: skip


def best_by_metric(metric: Any, *, lowest: bool = False) -> Reducer:
    """A reducer: the prediction with the highest score, of several the earlier member's.

    `metric(prediction, inputs)` scores as a reward function does; `as_reward_fn` makes one of a metric that compares
    with what is expected. With `lowest` the lowest score is the best. Run by `best-of-members`.

    >>> async def a(question): return "It is Paris."
    >>> async def b(question): return "Paris"
    >>> ensemble([a, b], best_by_metric(lambda prediction, inputs: len(prediction), lowest=True))(question="?")
    'Paris'
    """
    return Reducer("best_by_metric", "best-of-members", "members", _best, _history_of_failure, {"lowest": bool(lowest)},
                   lambda engine: {"scorer": Scorer(metric, engine, "a metric")})  # fmt: skip


def first(*, race: bool = False) -> Reducer:
    """A reducer: the prediction of the first member that succeeds.

    Members are asked one after the other, and those behind the first success are not asked at all. With `race` all are
    asked at once, the first prediction that comes wins and the others are cancelled; None is no prediction then. Run by
    `fallback-chain`, or by `race`.

    >>> async def a(question): raise ValueError("busy")
    >>> async def b(question): return "Paris"
    >>> ensemble([a, b], first)(question="?")
    'Paris'
    """
    if race:
        return Reducer("first", "race", "candidates", _first, _nothing)
    return Reducer("first", "fallback-chain", "chain", _first, _nothing)


class Member:
    """A module in the list slot of a reducer's pattern."""

    composite = False

    def __init__(self, inner: Service, unseen: tuple[str, ...]) -> None:
        self.inner = inner
        self.name = inner.name
        self.composite = inner.composite
        self.max_concurrency = getattr(inner, "max_concurrency", None)
        self.unseen = unseen
        self.signature = Signature((Parameter("task_brief", True),), outputs=inner.signature.outputs)

    async def invoke(self, effect: Effect) -> Any:
        """The member's prediction."""
        task = effect.inputs["task_brief"]
        inputs = taken(task, self.inner.signature, self.unseen)
        lacking = missing_names(self.inner.signature, inputs)
        if lacking:
            raise ServiceError("P404", f"`{self.name}` needs `{lacking[0]}`", service=self.name)
        return await perform(self.inner, effect, inputs, getattr(task, "prompt", None))


class Ensemble(Module):
    """See `ensemble`."""

    def __init__(
        self, modules: Iterable[Any], reducer: Any = None, *, name: str | None = None, engine: Engine | None = None
    ) -> None:
        parts = list(modules)
        if not parts:
            raise refused("an ensemble needs at least one member")
        engine = engine_for(engine, parts)
        self.members = [part(one, engine) for one in parts]
        self.reducer = _reducer(reducer)
        weights = self.reducer.config.get("weights")
        if weights is not None and len(weights) != len(self.members):
            raise refused(f"there are {len(weights)} weights for {len(self.members)} members")
        slots = dict(self.reducer.slots(engine))
        joined = _joined([one.signature for one in self.members])
        reads = tuple(key for key in names_read(*slots.values()) if joined.parameter(key) is None)
        super().__init__(
            name or named(self.reducer.name, self.members),
            with_inputs(joined, reads),
            engine,
            library(engine, self.reducer.pattern),
            {self.reducer.slot: [Member(one, reads) for one in self.members], **slots},
            self.reducer.config,
        )

    def read(self, value: Value) -> ModuleRun:
        return self.reducer.read(self, value)

    def read_failure(self, thrown: Mapping[str, Any]) -> tuple[Attempt, ...] | None:
        return self.reducer.read_failure(self, thrown)


def _reducer(reducer: Any) -> Reducer:
    if reducer is None:
        return majority()
    if isinstance(reducer, Reducer):
        return reducer
    if reducer in (majority, weighted_vote, first):
        made: Reducer = reducer()
        return made
    if reducer is best_by_metric:
        raise refused("`best_by_metric` needs its metric: best_by_metric(metric)")
    if not callable(reducer):
        raise CheckError("P202", f"a reducer is one of `majority`, `weighted_vote`, `best_by_metric(…)`, `first`, or a "
                                 f"function of the predictions, not {type(reducer).__name__}")  # fmt: skip
    return Reducer("reduced", "mixture-of-agents", "proposers", _reduced, _reduced_failure, {"layers": 1},
                   lambda engine: {"aggregator": Aggregator(reducer, engine)})  # fmt: skip


def _joined(signatures: list[Signature]) -> Signature:
    """What an ensemble takes: what any member takes; it is required if a member requires it."""
    found: dict[str, Parameter] = {}
    for signature in signatures:
        for one in signature.parameters:
            known = found.get(one.name)
            required = one.required and one.name != SAMPLE
            if known is None or (required and not known.required):
                found[one.name] = Parameter(one.name, required, one.type, one.pass_null)
    return Signature(tuple(found.values()), any(signature.open for signature in signatures))


# --- services of the other slots -------------------------------------------------------------------------------------


class Normalizer:
    """What is compared of a prediction: a field, then what the caller's function makes of it."""

    def __init__(self, field: str | None, inner: Service | None) -> None:
        self.field = field
        self.inner = inner
        self.name = inner.name if inner is not None else f"field {field}"
        self.composite = inner.composite if inner is not None else True
        self.signature = Signature((Parameter("answer", False),))

    async def invoke(self, effect: Effect) -> Any:
        answer = effect.inputs.get("answer")
        if self.field is not None and isinstance(answer, dict):
            if self.field not in answer:
                raise ServiceError("P404", f"the prediction has no field `{self.field}`", service=self.name)
            answer = answer[self.field]
        if self.inner is None:
            return answer
        return await perform(self.inner, effect, {_only_name(self.inner, "answer"): answer})


class Aggregator:
    """A function of the list of predictions in the slot `aggregator`."""

    def __init__(self, reduce: Callable[..., Any], engine: Engine) -> None:
        self.inner = part(reduce, engine)
        self.name = self.inner.name
        self.composite = self.inner.composite
        self.max_concurrency = getattr(self.inner, "max_concurrency", None)
        self.signature = Signature((Parameter("task_brief", True), Parameter("references", True)))
        self.input = _only_name(self.inner, "predictions")

    async def invoke(self, effect: Effect) -> Any:
        return await perform(self.inner, effect, {self.input: effect.inputs["references"]})


def _comparing(engine: Engine, field: str | None, normalizer: Any) -> Mapping[str, Any]:
    if field is None and normalizer is None:
        return {}
    inner = part(normalizer, engine) if normalizer is not None else None
    if inner is not None:
        _only_name(inner, "answer")
    return {"normalizer": Normalizer(field, inner)}


def _only_name(service: Service, usual: str) -> str:
    """The input of a service that is called with one thing."""
    names = positional_names(service.function) if isinstance(service, FunctionService) else service.signature.names
    if names is None or (not names and service.signature.open) or usual in names:
        return usual
    if not names:
        raise refused(f"`{service.name}` takes nothing, and is called with `{usual}`")
    return names[0]


def _weight(weight: Any) -> float:
    plain = finite(weight)
    if plain is None or plain < 0:
        raise refused(f"a weight is a number from 0, not {weight!r:.40}")
    return plain


# --- what the patterns' values mean ----------------------------------------------------------------------------------


def _vote(self: Ensemble, value: Value) -> ModuleRun:
    attempts = _answers(self, value["answers"])
    best = attempts[value["first_voter"]]
    return ModuleRun(best.prediction, attempts, best)


def _answers(self: Ensemble, answers: list[Any]) -> tuple[Attempt, ...]:
    return tuple(
        Attempt(number, member.name, one.get("answer"), one.get("weight"), error=failure_of(one.get("error")))
        for number, (member, one) in enumerate(zip(self.members, answers, strict=True), 1)
    )


def _answers_of_failure(self: Ensemble, thrown: Mapping[str, Any]) -> tuple[Attempt, ...] | None:
    return _answers(self, thrown["answers"]) if isinstance(thrown.get("answers"), list) else None


def _best(self: Ensemble, value: Value) -> ModuleRun:
    attempts = _scored(self, value["history"])
    return ModuleRun(value["result"], attempts, attempts[value["member"]])


def _scored(self: Ensemble, history: list[Any]) -> tuple[Attempt, ...]:
    return tuple(
        Attempt(
            number,
            member.name,
            one["result"],
            one["score"],
            evaluation=one["evaluation"],
            error=failure_of(one["error"]),
        )
        for number, (member, one) in enumerate(zip(self.members, history, strict=True), 1)
    )


def _history_of_failure(self: Ensemble, thrown: Mapping[str, Any]) -> tuple[Attempt, ...] | None:
    return _scored(self, thrown["history"]) if isinstance(thrown.get("history"), list) else None


def _first(self: Ensemble, value: Value) -> ModuleRun:
    failures = [
        Attempt(number, str(one.get("delegate") or one.get("candidate")), one.get("result"),
                error=failure_of(one.get("reason") or one.get("error")))
        for number, one in enumerate(value["failure_history"], 1)
    ]  # fmt: skip
    if value["winner"] is None:
        last = f"; the last: {failures[-1].error}" if failures and failures[-1].error else ""
        raise AttemptsError("P308", f"`{self.name}`: all {len(self.members)} members failed{last}", history=failures,
                            error_name="every-member-failed", service=self.name)  # fmt: skip
    best = Attempt(len(failures) + 1, str(value["winner"]), value["result"])
    return ModuleRun(value["result"], (*failures, best), best)


def _nothing(self: Ensemble, thrown: Mapping[str, Any]) -> None:
    return None


def _reduced(self: Ensemble, value: Value) -> ModuleRun:
    attempts = _proposals(self, value["layer_results"][0], value["failures"])
    return ModuleRun(value["result"], attempts)


def _proposals(self: Ensemble, answers: list[Any], failures: list[Any]) -> tuple[Attempt, ...]:
    failed = {one["proposer"]: one["error"] for one in failures}
    rest = iter(answers)
    return tuple(
        Attempt(number, member.name, error=failure_of(failed[number - 1]))
        if number - 1 in failed
        else Attempt(number, member.name, next(rest))
        for number, member in enumerate(self.members, 1)
    )


def _reduced_failure(self: Ensemble, thrown: Mapping[str, Any]) -> tuple[Attempt, ...] | None:
    return _proposals(self, [], thrown["failures"]) if isinstance(thrown.get("failures"), list) else None
