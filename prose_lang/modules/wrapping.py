"""`module`: a function, a pattern or a service as a module, with some of its inputs bound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prose_lang.diagnostics import CheckError
from prose_lang.documents.model import ANY
from prose_lang.engine import Engine, Pattern
from prose_lang.modules.attempts import Attempt, ModuleRun
from prose_lang.modules.calling import Task
from prose_lang.modules.module import Module, engine_for, part
from prose_lang.semantics.signature import Parameter, Signature
from prose_lang.values import Value


def module(thing: Any, /, *, name: str | None = None, engine: Engine | None = None, **bound: Any) -> Module:
    """Anything callable with named inputs as a module: a function, a loaded pattern with its slots bound, a service.

    What is bound by name here need not be given by the callers: slots and config keys of a pattern, inputs of either.
    What takes modules takes functions and patterns too; `module` is for binding, or to have `map` and `acall`.

    Raises CheckError: P202 for what is not callable, P203 for a slot that stays unbound, P210 for unknown names.

    >>> import prose_lang as prose
    >>> def improve(task_brief, current_result=None, improvement_suggestions=None):
    ...     return (current_result or task_brief) + "!"
    >>> def judge(result): return {"score": result.count("!") / 2, "suggestions": "louder"}
    >>> louder = module(prose.load("stdlib:refine"), refiner=improve, evaluator=judge, threshold=1)
    >>> louder(task_brief="Hello")["result"]
    'Hello!!'
    """
    if isinstance(thing, Pattern):
        return PatternModule(thing, bound, name, engine or thing.engine)
    from prose_lang.modules.pipelines import Pipeline, step

    engine = engine_for(engine, (thing,))
    return Pipeline([step(thing, **bound)], name=name or part(thing, engine).name, engine=engine)


class PatternModule(Module):
    """A loaded pattern with its slots bound; its prediction is what the pattern returns."""

    numbers_its_own = False

    def __init__(self, pattern: Pattern, bound: Mapping[str, Any], name: str | None, engine: Engine) -> None:
        bases = engine.program(pattern).names
        slots = {key: value for key, value in bound.items() if key in bases and bases[key].kind == "slot"}
        config = {key: value for key, value in bound.items() if key not in slots}
        unknown = [key for key in config if key not in bases]
        if unknown:
            raise CheckError("P210", f"`{pattern.name}` takes no `{unknown[0]}`", hint=f"it takes {', '.join(bases)}")
        service = engine.bound(pattern, slots)
        inputs = tuple(
            Parameter(base.name, base.name in _required(engine, pattern), base.item.type if base.item else ANY)
            for base in bases.values()
            if base.kind != "slot" and base.name not in config
        )
        super().__init__(
            name or pattern.name,
            Signature(inputs, outputs=service.signature.outputs),
            engine,
            pattern,
            slots,
            config,
        )

    def given(self, task: Task) -> dict[str, Value]:
        return dict(task)

    def read(self, value: Value) -> ModuleRun:
        attempt = Attempt(1, self.name, value)
        return ModuleRun(value, (attempt,), attempt)


def _required(engine: Engine, pattern: Pattern) -> frozenset[str]:
    return frozenset(item.name for item in engine.program(pattern).required)
