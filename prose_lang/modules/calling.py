"""How the services in a library pattern's slots call the modules behind them.

A library pattern knows one task (`task_brief`), a module has inputs of its own names. The task of a module's run is the
object of its inputs, and what stands in the slots (adapters) spreads it. An adapter's call is the call: what it calls
is recorded and limited with it, under its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prose_lang.diagnostics import CheckError
from prose_lang.runtime.effects import NO_MODIFIERS, Call, Effect, Modifiers, Service
from prose_lang.semantics.signature import Parameter, Signature
from prose_lang.services import FunctionService
from prose_lang.text import did_you_mean, nearest
from prose_lang.values import NotAValue, Value, intake, interpolated

#: A module that declares this input gets its sample number there, unless the caller gives one.
SAMPLE = "sample"


class Task(dict[str, Value]):
    """The inputs of a module's run as the task of a pattern, with the extra instruction it was called with (L32)."""

    prompt: str | None = None


def task_of(inputs: Mapping[str, Value], prompt: str | None) -> Task:
    """The task of a run."""
    task = Task(inputs)
    task.prompt = prompt
    return task


async def perform(inner: Service, effect: Effect, inputs: dict[str, Any], prompt: str | None = None) -> Any:
    """Call a service in the place of an effect: at its address, with its sample number, for its account.

    `prompt` is an extra instruction: an input where the service declares one (or takes any), else a modifier.
    """
    signature, modifiers = inner.signature, NO_MODIFIERS
    if prompt is not None:
        if signature.parameter("prompt") is not None or (signature.open and isinstance(inner, FunctionService)):
            own = inputs.get("prompt")
            inputs["prompt"] = prompt if own is None else f"{interpolated(own)}\n{prompt}"
        else:
            modifiers = Modifiers(prompt=prompt)
    numbers_its_own = getattr(inner, "numbers_its_own", False)
    if not numbers_its_own and signature.parameter(SAMPLE) is not None and inputs.get(SAMPLE) is None:
        inputs[SAMPLE] = effect.sample
    call = Call(effect.site, effect.place, effect.indices, inner, inputs, modifiers)
    try:
        return await inner.invoke(call)
    finally:
        effect.usage = call.usage


def taken(inputs: Mapping[str, Value], signature: Signature, but: tuple[str, ...] = ()) -> dict[str, Value]:
    """The inputs that a service takes; one that takes any does not get those in `but`."""
    if signature.open:
        return {name: value for name, value in inputs.items() if name not in but or signature.parameter(name)}
    return {name: value for name, value in inputs.items() if signature.parameter(name) is not None}


def checked_inputs(name: str, signature: Signature, inputs: Mapping[str, Any]) -> dict[str, Value]:
    """The inputs of a module's run as values. P203 for missing ones, P210 for unknown ones, P211 for no values."""
    values: dict[str, Value] = {}
    for key, thing in inputs.items():
        if not signature.open and signature.parameter(key) is None:
            close = nearest(key, signature.names)
            hint = did_you_mean(close[:1]) or f"it takes {', '.join(signature.names) or 'nothing'}"
            raise CheckError("P210", f"`{name}` takes no `{key}`", hint=hint)
        try:
            values[key] = intake(thing)
        except NotAValue as error:
            raise CheckError("P211", f"`{key}` cannot be an input of `{name}`: {error}") from None
    missing = missing_names(signature, values)
    if missing:
        words = ", ".join(f"`{key}`" for key in missing)
        raise CheckError(
            "P203", f"`{name}` needs {words}", hint=f"give {'it' if len(missing) == 1 else 'them'} by name"
        )
    return values


def missing_names(signature: Signature, inputs: Mapping[str, Value]) -> list[str]:
    """The required inputs that are not there. None counts as given where a Python function takes it (L32)."""
    return [
        one.name
        for one in signature.parameters
        if one.required
        and inputs.get(one.name) is None
        and one.name != SAMPLE
        and not (one.pass_null and one.name in inputs)
    ]


def optional(signature: Signature, *names: str) -> Signature:
    """A signature in which some inputs may be left out."""
    changed = tuple(
        Parameter(one.name, False, one.type, one.pass_null) if one.name in names else one
        for one in signature.parameters
    )
    return Signature(changed, signature.open, signature.outputs, signature.positional)


def with_inputs(signature: Signature, names: tuple[str, ...]) -> Signature:
    """A signature with further required inputs."""
    more = tuple(Parameter(name, True) for name in names if signature.parameter(name) is None)
    return Signature((*signature.parameters, *more), signature.open, signature.outputs, signature.positional)
