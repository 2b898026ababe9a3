"""A Python callable as a service.

Everything that can be known of the callable is found out once, when it is bound: its parameters, their types and
the way in which it has to be called. A call then costs one pass over the parameters, and an asynchronous function's
own coroutine is what the caller awaits. Exceptions of the function are not touched here; the dispatcher names them.

Not here: taking in what the function returns (`values.intake`, done for every service by the dispatcher), and
collecting marked functions (`registry.py`).
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import attrs

from prose_lang.diagnostics import ServiceError
from prose_lang.runtime.effects import Effect
from prose_lang.semantics.signature import Parameter, Signature
from prose_lang.services.annotations import TypedInput, declared_type, needs_structure, resolved_annotations
from prose_lang.services.threads import WorkerThreads
from prose_lang.values import handout

#: The attribute by which `@service` marks a callable.
OPTIONS_ATTRIBUTE = "__prose_service__"

#: Kinds of values that cannot be changed by their receiver, and go out as they are.
_ATOMS = frozenset({str, int, float, bool})


@attrs.frozen
class ServiceOptions:
    """What `@service(...)` was told; every part may be overridden where the function is bound."""

    name: str | None = None
    inline: bool = False
    max_concurrency: int | None = None
    cacheable: bool = False


class FunctionService:
    """A function, sync or async, a bound method, a partial or any other callable, called with the inputs by name.

    A parameter without a default is required, and receives None when its binding is null (L32); one with a default
    is left out then. `**keywords` make the service open. Lists and objects arrive as copies. A parameter annotated
    with an attrs class, dataclass, pydantic model, enum, date and the like arrives as one, and what does not fit
    is `P404`.

    A synchronous function runs in a thread of `threads`, or on the event loop if it is `inline`.

    >>> async def evaluator(task_brief: str, rounds: int = 3) -> dict: ...
    >>> FunctionService(evaluator).signature.names
    ('task_brief', 'rounds')
    """

    __slots__ = (
        "_call",
        "_directly",
        "_inline",
        "_open",
        "_parameters",
        "_threads",
        "_typed",
        "cacheable",
        "function",
        "max_concurrency",
        "name",
        "signature",
    )

    composite = False
    metered = False

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        name: str | None = None,
        threads: WorkerThreads | None = None,
        inline: bool | None = None,
        max_concurrency: int | None = None,
    ) -> None:
        check_callable(function)
        options = options_of(function) or ServiceOptions()
        self.function = function
        self.name = name or options.name or name_of(function)
        self.max_concurrency = max_concurrency or options.max_concurrency
        #: What its cached answers are known by, for another program may have a function of the same name; else "".
        self.cacheable = _whole_name(function) if options.cacheable else ""
        self._inline = options.inline if inline is None else inline
        self._directly = any(inspect.iscoroutinefunction(part) for part in _layers(function))
        self._threads = threads or WorkerThreads()

        formal = _formal_parameters(function)
        annotations = resolved_annotations(function, formal)
        named = [p for p in formal if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        self._open = any(p.kind is p.VAR_KEYWORD for p in formal)
        self._parameters = tuple((p.name, p.default is p.empty) for p in named)
        self._typed = tuple(
            TypedInput(p.name, annotations[p.name]) for p in named if needs_structure(annotations[p.name])
        )
        self._call = _by_name(function, named)
        self.signature = Signature(
            parameters=tuple(
                Parameter(
                    p.name,
                    required=p.default is p.empty,
                    type=declared_type(annotations[p.name]),
                    pass_null=p.default is p.empty,
                )
                for p in named
            ),
            open=self._open,
        )

    def invoke(self, effect: Effect) -> Awaitable[Any]:
        """Call the function with copies of the effect's inputs; those it does not take are left out."""
        inputs = effect.inputs
        arguments: dict[str, Any] = {}
        for name, passes_null in self._parameters:
            value = inputs.get(name)
            if value is None:
                if passes_null:
                    arguments[name] = None
            elif type(value) in _ATOMS:
                arguments[name] = value
            else:
                arguments[name] = handout(value)
        if self._open:
            for name, value in inputs.items():
                if value is not None and name not in arguments:
                    arguments[name] = handout(value)
        if self._typed:
            self._structure(arguments)
        if self._directly:
            # The function's own coroutine: no layer between it and the dispatcher.
            return self._call(**arguments)  # type: ignore[no-any-return]
        return self._on_the_loop(arguments) if self._inline else self._in_a_thread(arguments)

    def _structure(self, arguments: dict[str, Any]) -> None:
        from prose_lang.values.hosts import Mismatch

        for typed in self._typed:
            value = arguments.get(typed.name)
            if value is None:
                continue
            try:
                arguments[typed.name] = typed.structure(value)
            except Mismatch as error:
                message = f"`{self.name}` cannot take `{typed.name}`: {error}"
                raise ServiceError("P404", message, service=self.name) from None

    async def _on_the_loop(self, arguments: dict[str, Any]) -> Any:
        result = self._call(**arguments)
        return await result if inspect.isawaitable(result) else result

    async def _in_a_thread(self, arguments: dict[str, Any]) -> Any:
        result = await self._threads.run(self._call, **arguments)
        # A plain function may hand over a coroutine: a decorator or a lambda around an async function does.
        return await result if inspect.isawaitable(result) else result

    def __repr__(self) -> str:
        return f"FunctionService({self.name})"


def options_of(function: object) -> ServiceOptions | None:
    """The options of a marked callable; None if it is not marked."""
    options = getattr(function, OPTIONS_ATTRIBUTE, None)
    return options if isinstance(options, ServiceOptions) else None


def name_of(function: Callable[..., Any]) -> str:
    """The name of a callable: of the function itself, of what a partial calls, or of an object's class."""
    inner = _without_partials(function)
    return getattr(inner, "__name__", None) or type(inner).__name__


def _whole_name(function: Callable[..., Any]) -> str:
    inner = _without_partials(function)
    return f"{getattr(inner, '__module__', '')}:{getattr(inner, '__qualname__', name_of(function))}"


def check_callable(function: object) -> None:
    """Raise `TypeError` for what cannot be a service: something not callable, or a generator function."""
    if not callable(function):
        raise TypeError(f"a service must be a function or another callable, not {type(function).__name__}")
    for part in _layers(function):
        if inspect.isgeneratorfunction(part) or inspect.isasyncgenfunction(part):
            raise TypeError(
                f"{name_of(function)} is a generator function; a service returns its result, "
                "so build a list and return it instead of using `yield`"
            )


def _layers(function: Callable[..., Any]) -> tuple[Any, ...]:
    """The callables among which a `async def` may hide: the function, or the `__call__` of an object."""
    inner = _without_partials(function)
    return (inner,) if inspect.isclass(inner) else (inner, type(inner).__call__)


def _without_partials(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _formal_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:
        raise TypeError(
            f"the parameters of {name_of(function)} cannot be found out; write a function around it"
        ) from None


def _by_name(function: Callable[..., Any], named: list[inspect.Parameter]) -> Callable[..., Any]:
    """The function as one that takes all its parameters by name."""
    positional = [(p.name, p.default) for p in named if p.kind is p.POSITIONAL_ONLY]
    if not positional:
        return function

    def call(**arguments: Any) -> Any:
        return function(*[arguments.pop(name, default) for name, default in positional], **arguments)

    return call
