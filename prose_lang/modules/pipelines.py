"""`pipeline` and `step`: modules in a row, the prediction of one being the inputs of the next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from prose_lang.diagnostics import CheckError, ServiceError
from prose_lang.engine import Engine
from prose_lang.modules.attempts import Attempt, ModuleRun
from prose_lang.modules.calling import SAMPLE, missing_names, perform, taken
from prose_lang.modules.errors import refused
from prose_lang.modules.module import Module, engine_for, library, named, part
from prose_lang.runtime.effects import Effect, Service
from prose_lang.semantics.signature import Parameter, Signature
from prose_lang.values import NotAValue, Value, intake


@attrs.frozen(eq=False)
class Step:
    """A step of a pipeline; made by `step`."""

    module: Any
    rename: Mapping[str, str]
    select: tuple[str, ...]
    whole: str | None
    fixed: Mapping[str, Any]


def step(
    module: Any,
    /,
    *,
    map: Mapping[str, str] | None = None,
    select: Iterable[str] | None = None,
    whole: str | None = None,
    **fixed: Any,
) -> Step:
    """A step of a pipeline whose inputs are not called like the fields of the prediction before it.

    `map` renames them, from the field to the input; `whole` names the input that gets the prediction as a whole;
    `select` names the fields of its own prediction that go on. What else is given by name is an input with that value.

    >>> from prose_lang.modules import pipeline
    >>> async def summarize(text): return {"summary": text[:5]}
    >>> async def translate(passage, language): return f"[{language}] {passage}"
    >>> pipeline([summarize, step(translate, map={"summary": "passage"}, language="fr")])(text="Hello world")
    '[fr] Hello'
    """
    if isinstance(select, str):
        raise refused(f"`select` is a list of fields, not the text {select!r}")
    if whole is not None and map:
        raise refused("a step takes the prediction as a whole or by its fields, not both")
    return Step(module, dict(map or {}), tuple(select or ()), whole, dict(fixed))


def pipeline(steps: Iterable[Any], *, name: str | None = None, engine: Engine | None = None) -> Pipeline:
    """A module that runs modules one after the other.

    The first step gets the inputs, every later one those fields of the prediction before it that it takes, and nothing
    else; `step` renames and adds. A prediction without fields goes to the step's only input. A step that lacks an input
    fails. A `prompt` (feedback for a pipeline that declares no input for it) is the first step's.

    Run by the library pattern `pipeline`. Raises CheckError P202 or P211 for what it cannot be made of.

    >>> async def draft(topic): return f"On {topic}."
    >>> async def shout(text): return text.upper()
    >>> loud = pipeline([draft, shout])
    >>> loud(topic="tea")
    'ON TEA.'
    >>> [(attempt.module, attempt.prediction) for attempt in loud.attempts()]
    [('draft', 'On tea.'), ('shout', 'ON TEA.')]
    """
    return Pipeline(steps, name=name, engine=engine)


class Stage:
    """A step in the slot `stages` of the library pattern."""

    def __init__(self, number: int, made: Step, engine: Engine) -> None:
        self.number = number
        self.made = made
        self.inner: Service = part(made.module, engine)
        self.name = self.inner.name
        self.composite = self.inner.composite
        self.max_concurrency = getattr(self.inner, "max_concurrency", None)
        self.signature = Signature((Parameter("input", False),))
        own = self.inner.signature
        for key in (*made.rename.values(), *made.fixed, *((made.whole,) if made.whole else ())):
            if not own.open and own.parameter(key) is None:
                raise CheckError("P210", f"`{self.name}` takes no `{key}`", hint=f"it takes {', '.join(own.names)}")
        try:
            self.fixed: dict[str, Value] = {key: intake(value) for key, value in made.fixed.items()}
        except NotAValue as error:
            raise refused(f"a fixed input of `{self.name}` is not a value: {error}") from None

    async def invoke(self, effect: Effect) -> Any:
        """Run the step on what the one before it gave."""
        before = effect.inputs.get("input")
        inputs = self.inputs(before)
        lacking = missing_names(self.inner.signature, inputs)
        if lacking:
            raise self.broken(f"it needs {', '.join(f'`{key}`' for key in lacking)}, and there is {_what_is(before)}")
        prompt = getattr(before, "prompt", None)
        return self.selected(await perform(self.inner, effect, {**inputs, **self.fixed}, prompt))

    def inputs(self, before: Value) -> dict[str, Value]:
        """The inputs of the step: what it takes of the prediction before it, and its fixed ones."""
        signature, made = self.inner.signature, self.made
        if made.whole is not None:
            return {**self.fixed, made.whole: before}
        if isinstance(before, dict):
            renamed = {made.rename.get(key, key): value for key, value in before.items()}
            return {**taken(renamed, signature), **self.fixed}
        free = [one for one in signature.parameters if one.name not in self.fixed and one.name != SAMPLE]
        wanted = [one for one in free if one.required] or free
        if len(wanted) != 1:
            raise self.broken(f"a prediction without fields needs one input to go to, and it has {len(wanted)}")
        return {**self.fixed, wanted[0].name: before}

    def selected(self, found: Any) -> Any:
        """The fields that go on."""
        if not self.made.select:
            return found
        try:
            plain = intake(found)
        except NotAValue as error:
            raise ServiceError("P305", f"`{self.name}` returned what is not a value: {error}") from None
        lacking = [key for key in self.made.select if not isinstance(plain, dict) or key not in plain]
        if lacking:
            raise self.broken(f"its prediction has no `{lacking[0]}`")
        return {key: plain[key] for key in self.made.select}

    def broken(self, why: str) -> ServiceError:
        return ServiceError("P404", f"step {self.number} of the pipeline, `{self.name}`: {why}", service=self.name)


class Pipeline(Module):
    """See `pipeline`."""

    def __init__(self, steps: Iterable[Any], *, name: str | None = None, engine: Engine | None = None) -> None:
        made = [one if isinstance(one, Step) else step(one) for one in steps]
        if not made:
            raise refused("a pipeline needs at least one step")
        engine = engine_for(engine, (one.module for one in made))
        self.stages = [Stage(number, one, engine) for number, one in enumerate(made, 1)]
        super().__init__(
            name or named("pipeline", [stage.inner for stage in self.stages]),
            _inputs_of(self.stages[0]),
            engine,
            library(engine, "pipeline"),
            {"stages": self.stages},
            {},
        )

    def read(self, value: Value) -> ModuleRun:
        outputs = value["stage_outputs"]
        attempts = tuple(
            Attempt(stage.number, stage.name, output) for stage, output in zip(self.stages, outputs, strict=True)
        )
        return ModuleRun(value["result"], attempts, attempts[-1])


def _inputs_of(stage: Stage) -> Signature:
    """The inputs of a pipeline: those of its first step, as the callers know them."""
    own = stage.inner.signature
    back = {new: old for old, new in stage.made.rename.items()}
    return Signature(
        tuple(
            Parameter(back.get(one.name, one.name), one.required and one.name != SAMPLE, one.type, one.pass_null)
            for one in own.parameters
            if one.name not in stage.fixed
        ),
        own.open,
    )


def _what_is(before: Value) -> str:
    if isinstance(before, dict):
        return "only " + ", ".join(f"`{key}`" for key in before) if before else "nothing"
    return "a prediction without fields"
