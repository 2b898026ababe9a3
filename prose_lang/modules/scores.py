"""Scores: what a reward function may give, and reward functions as services.

A score is a finite number, or true or false, which count as 1 and 0. Everything else fails the attempt, and its error
names the reward function: None, NaN, infinity, a text ("0.9" too: numbers are never read out of texts), an object.
"""

from __future__ import annotations

import decimal
import inspect
import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from prose_lang.diagnostics import CheckError, ServiceError
from prose_lang.engine import Engine
from prose_lang.modules.calling import perform
from prose_lang.modules.module import part
from prose_lang.runtime.effects import Effect, Service
from prose_lang.semantics.signature import Parameter, Signature
from prose_lang.services import FunctionService

Score = float | int


def as_score(found: Any) -> Score | None:
    """A number as a score: None if it is no number, or not a finite one.

    Whatever Python counts as a real number is one: `int`, `float`, `Fraction`, `Decimal`, and numpy's scalars, its
    truth values included.

    >>> as_score(True), as_score(0.5), as_score("0.5"), as_score(float("nan"))
    (1, 0.5, None, None)
    """
    if isinstance(found, bool):
        return int(found)
    if isinstance(found, int):
        return int(found) if abs(found) < 2**1023 else None
    if isinstance(found, (numbers.Real, decimal.Decimal)):
        try:
            plain = float(found)
        except (OverflowError, ValueError):
            return None
        return plain if math.isfinite(plain) else None
    item = getattr(found, "item", None)
    if callable(item) and getattr(found, "shape", None) == ():  # numpy's truth values are registered as nothing
        plain = item()
        return as_score(plain) if isinstance(plain, (bool, int, float)) else None
    return None


class Scorer:
    """A reward function in the slot `scorer` of a library pattern.

    >>> Scorer(lambda prediction, inputs: 1, Engine()).names
    ('prediction', 'inputs')
    """

    composite = False

    def __init__(self, reward_fn: Any, engine: Engine, what: str = "a reward function") -> None:
        self.inner = part(reward_fn, engine)
        self.name = self.inner.name
        self.composite = self.inner.composite
        self.max_concurrency = getattr(self.inner, "max_concurrency", None)
        self.signature = Signature((Parameter("task_brief", True), Parameter("result", False)))
        self.names = pair_of_names(self.inner, ("prediction", "inputs"), what)
        self.reads: tuple[str, ...] = tuple(getattr(reward_fn, "reads", ()))

    async def invoke(self, effect: Effect) -> Any:
        """Score a result. P404 where the score is none."""
        prediction, inputs = self.names
        given = {prediction: effect.inputs.get("result"), inputs: dict(effect.inputs["task_brief"])}
        found = await perform(self.inner, effect, given)
        score = as_score(found)
        if score is None:
            raise not_a_score(self.name, found)
        return score


class AlwaysOne:
    """The scorer of a module without a reward function: every prediction is as good as any."""

    name = "always-one"
    composite = True  # it reaches nobody, and is no call
    signature = Signature((Parameter("task_brief", True), Parameter("result", False)))
    reads: tuple[str, ...] = ()

    async def invoke(self, effect: Effect) -> Any:
        return 1


def scorer_for(reward_fn: Any, engine: Engine) -> Scorer | AlwaysOne:
    """The scorer of a reward function, or of none."""
    return AlwaysOne() if reward_fn is None else Scorer(reward_fn, engine)


def not_a_score(name: str, found: Any) -> ServiceError:
    """The error of an attempt whose score is none; it names the reward function."""
    shown = repr(found) if found is None or isinstance(found, (str, float, int)) else f"a {type(found).__name__}"
    if len(shown) > 60:
        shown = shown[:57] + "..."
    return ServiceError(
        "P404",
        f"`{name}` gave {shown} as its score; a score is a finite number, or true or false",
        service=name,
    )


def finite(number: Any) -> float | None:
    """A real number as one that can be computed with; None for anything else, truth values included.

    >>> finite(1), finite(10**400), finite(True), finite("1")
    (1.0, None, None, None)
    """
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        return None
    try:
        plain = float(number)
    except OverflowError:
        return None
    return plain if math.isfinite(plain) else None


def pair_of_names(service: Service, usual: tuple[str, str], what: str) -> tuple[str, str]:
    """The two inputs of a service that are told about by position: what a function calls them is its own business.

    Raises CheckError P211 where it does not take two.
    """
    if isinstance(service, FunctionService):
        names = positional_names(service.function)
        if names is None:
            return usual
        if len(names) < 2 and all(service.signature.parameter(name) is not None for name in usual):
            return usual  # it takes them by name only
        if len(names) < 2 or any(one.required and one.name not in names[:2] for one in service.signature.parameters):
            raise CheckError("P211", f"{what} takes {usual[0]} and {usual[1]}; `{service.name}` takes "
                                     f"{', '.join(service.signature.names) or 'nothing'}")  # fmt: skip
        return names[0], names[1]
    if service.signature.open or all(service.signature.parameter(name) is not None for name in usual):
        return usual
    raise CheckError("P211", f"{what} takes `{usual[0]}` and `{usual[1]}`; `{service.name}` takes "
                             f"{', '.join(service.signature.names) or 'nothing'}")  # fmt: skip


def positional_names(function: Callable[..., Any]) -> tuple[str, ...] | None:
    """The names of the parameters that may be given by position; None if it takes any by name."""
    formal = list(inspect.signature(function).parameters.values())
    if any(p.kind is p.VAR_POSITIONAL for p in formal):
        raise CheckError("P211", "a reward function must name its inputs; `*args` does not")
    named = tuple(p.name for p in formal if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
    return None if not named and any(p.kind is p.VAR_KEYWORD for p in formal) else named


class Reward:
    """A metric as a reward function; see `as_reward_fn`."""

    def __init__(self, metric: Callable[[Any, Any], Any], expected: str, field: str | None) -> None:
        self.metric = metric
        self.expected = expected
        self.field = field
        self.reads = (expected,)
        self.__name__ = getattr(metric, "__name__", type(metric).__name__)

    def __call__(self, prediction: Any, inputs: Mapping[str, Any]) -> Any:
        if inputs.get(self.expected) is None:
            raise LookupError(f"the input `{self.expected}` is missing, with which predictions are compared")
        if self.field is not None:
            if not isinstance(prediction, Mapping) or self.field not in prediction:
                raise LookupError(f"the prediction has no field `{self.field}`")
            prediction = prediction[self.field]
        return self.metric(prediction, inputs[self.expected])


def as_reward_fn(metric: Callable[[Any, Any], Any], *, expected: str = "expected", field: str | None = None) -> Reward:
    """A metric, called as `metric(prediction, expected)`, as a reward function, called as `reward(prediction, inputs)`.

    `expected` names the input that holds what is expected, and `field` the field of the prediction that is compared.
    That input is given to the module that is made with the reward, and goes no further: the wrapped module does not see
    it unless it declares it. Where it is missing, or the field is, the attempt fails; it is never a silent 0.

    >>> from prose_lang.modules import best_of_n
    >>> exact = as_reward_fn(lambda found, wanted: found == wanted)
    >>> async def answer(question): return "Paris"
    >>> checked = best_of_n(answer, n=2, reward_fn=exact)
    >>> checked(question="The capital of France?", expected="Paris")
    'Paris'
    >>> exact("Lyon", {"expected": "Paris"})
    False
    """
    if not callable(metric):
        raise CheckError("P202", f"a metric must be a function, not {type(metric).__name__}")
    return Reward(metric, expected, field)


def names_read(*scorers: Any) -> Iterable[str]:
    """The inputs that scorers read and modules need not."""
    return dict.fromkeys(name for scorer in scorers for name in getattr(scorer, "reads", ()))
