"""Calls (L17, L32): finding the service, gathering what is sent, performing the effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prose_lang.conditions import BOOLEAN_FIELDS, TEXT_FIELDS
from prose_lang.runtime.compiler.code import Frame, Value
from prose_lang.runtime.completion import Escape
from prose_lang.runtime.effects import NO_MODIFIERS, Call, Modifiers, Service
from prose_lang.runtime.linking import Link, link, missing_inputs
from prose_lang.runtime.place import Place
from prose_lang.semantics import CallPlan, Target
from prose_lang.semantics.modifiers import BACKOFF
from prose_lang.syntax import nodes as n
from prose_lang.values import ServiceRef, TooLarge, interpolated, kind_of

if TYPE_CHECKING:
    from prose_lang.runtime.compiler.compiler import Compiler

_DECISION_FIELDS = frozenset((*BOOLEAN_FIELDS, *TEXT_FIELDS))


def compile_call(
    c: Compiler, node: n.Call, alias: int | None = None, declared: int | None = None, into: int | None = None
) -> Value:
    """`call TARGET`. `alias` is a cell for the name of the single output of the service that answered (§9 L13),
    `declared` one for whether it declares its outputs at all (L33). With `into` the result goes into that cell and
    nothing is given back: one coroutine less for what programs do most."""
    plan = c.program.calls[node]
    place, site = Place(c.program.source, plan.target.span), plan.site
    locate = _locator(c, plan.target, node)
    note = _note(c, plan, alias, declared)
    values = {name: property_value(c, item) for name, item in plan.bindings}
    values.update({name: property_value(c, item) for name, item in plan.words.items()})
    if node.arguments is not None:
        return _positional(c, plan, node.arguments, values, note)
    modifiers = _modifiers(c, plan)
    waits = any(value.waits or value.escapes for value in values.values())
    runs = {name: value.run for name, value in values.items()}

    async def call(f: Frame) -> Any:
        here = f[0]
        run = here.run
        service = locate(f)
        links = here.home.links
        agreed: Link | None = links.get((plan, service))
        if agreed is None:
            agreed = links[plan, service] = link(plan, service, values, place)
        if not waits:
            inputs = {}
            for name in agreed.inputs:
                value = runs[name](f)
                if value is not None or agreed.keep_null:
                    inputs[name] = value
            if agreed.dropped:
                agreed.warn(service, {name: runs[name](f) for name in agreed.dropped}, place, run.warn)
            words = {name: runs[name](f) for name in agreed.words} if agreed.words else None
        else:
            evaluated = await evaluate_all(values, f)
            if type(evaluated) is Escape:
                return evaluated
            inputs = {
                name: evaluated[name] for name in agreed.inputs if evaluated[name] is not None or agreed.keep_null
            }
            words = {name: evaluated[name] for name in agreed.words}
            agreed.warn(service, evaluated, place, run.warn)
        if agreed.required:
            missing = [name for name in agreed.required if inputs.get(name) is None]
            if missing:
                raise missing_inputs(service, missing, place)
        if agreed.typed:
            agreed.check(service, inputs, place, run.warn)
        chosen = NO_MODIFIERS
        if modifiers is not None or words:
            chosen = await chosen_modifiers(modifiers, words or {}, f, place)
            if type(chosen) is Escape:
                return chosen
        effect = Call(site, here, here.indices, service, inputs, chosen)
        result = await (run.perform_composite(effect) if service.composite else run.perform(effect))
        if note is not None:
            note(f, service, result)
        if into is not None:
            f[into] = result
            return None
        return result

    return Value(
        call, waits=True, escapes=any(value.escapes for value in (*values.values(), *(modifiers or {}).values()))
    )


def _note(
    c: Compiler, plan: CallPlan, alias: int | None, declared: int | None
) -> Callable[[Frame, Service, Any], None] | None:
    """What remembers of an answer all that is asked for later, beside its value; None if nothing is."""
    slot = None if plan.target.shadowed else plan.target.slot
    latest = c.program.latest.get(slot) if slot is not None else None
    if latest is None and alias is None and declared is None:
        return None

    def note(f: Frame, service: Service, result: Any) -> None:
        outputs = service.signature.outputs
        single = outputs[0].name if outputs is not None and len(outputs) == 1 else None
        if latest is not None:
            f[latest] = {single: result} if single in _DECISION_FIELDS else result
        if alias is not None:
            f[alias] = single
        if declared is not None:
            f[declared] = bool(outputs)

    return note


def property_value(c: Compiler, item: n.Property) -> Value:
    """The value of a property; that of an indented map is an object."""
    if item.value is not None:
        return c.value(item.value)
    values = {inner.name: property_value(c, inner) for inner in item.nested}
    if any(value.waits or value.escapes for value in values.values()):
        return Value(lambda f: evaluate_all(values, f), waits=True, escapes=True)
    runs = {name: value.run for name, value in values.items()}
    return Value(lambda f: {name: run(f) for name, run in runs.items()})


async def evaluate_all(values: dict[str, Value], f: Frame) -> Any:
    """The values by name, in order; the first `Escape` instead of them."""
    found = {}
    for name, value in values.items():
        result = await value.run(f) if value.waits else value.run(f)
        if type(result) is Escape:
            return result
        found[name] = result
    return found


def _positional(
    c: Compiler,
    plan: CallPlan,
    arguments: tuple[n.Expression, ...],
    named: dict[str, Value],
    note: Callable[[Frame, Service, Any], None] | None,
) -> Value:
    """`call f(a, b)` and `f(a, b)`: the values bind to the declared inputs in their order (L13a)."""
    place, site = Place(c.program.source, plan.site.span), plan.site
    locate = _locator(c, plan.target, None)
    positional = [c.expression(argument) for argument in arguments]
    modifiers = _modifiers(c, plan)

    async def call(f: Frame) -> Any:
        here = f[0]
        run = here.run
        service = locate(f)
        names = service.signature.names
        if len(positional) > len(names):
            wanted = ", ".join(names) or "nothing that is declared"
            place.fail("P210", f"`{service.name}` takes {wanted}; {len(positional)} values given in brackets")
        given = {**dict(zip(names, positional, strict=False)), **named}
        links = here.home.links
        agreed: Link | None = links.get((plan, service))
        if agreed is None:
            agreed = links[plan, service] = link(plan, service, given, place)
        evaluated = await evaluate_all(given, f)
        if type(evaluated) is Escape:
            return evaluated
        inputs = {name: evaluated[name] for name in agreed.inputs if evaluated[name] is not None or agreed.keep_null}
        agreed.warn(service, evaluated, place, run.warn)
        missing = [name for name in agreed.required if inputs.get(name) is None]
        if missing:
            raise missing_inputs(service, missing, place)
        agreed.check(service, inputs, place, run.warn)
        chosen = await chosen_modifiers(modifiers, {name: evaluated[name] for name in agreed.words}, f, place)
        if type(chosen) is Escape:
            return chosen
        effect = Call(site, here, here.indices, service, inputs, chosen)
        result = await (run.perform_composite(effect) if service.composite else run.perform(effect))
        if note is not None:
            note(f, service, result)
        return result

    return Value(
        call, waits=True, escapes=any(value.escapes for value in (*named.values(), *(modifiers or {}).values()))
    )


def compile_invoke(c: Compiler, node: n.Invoke) -> Value:
    """`f(a, b)` inside an expression."""
    plan = c.program.calls[node]
    return _positional(c, plan, node.arguments, {}, _note(c, plan, None, None))


# --- finding the service ---------------------------------------------------------------------------------------------


def _locator(c: Compiler, target: Target, node: n.Call | None) -> Callable[[Frame], Service]:
    """A slot, else a variable while it holds a reference, else something by name (L17)."""
    name, place = target.name, Place(c.program.source, target.span)
    use = c.program.uses.get(name)
    called = use.reference if use is not None else name
    slot, variable = target.slot, target.variable

    def by_name(f: Frame) -> Service:
        service: Service | None = f[0].home.callee(called)
        if service is None:
            place.fail("P202", f"there is nothing called `{name}` to call")
        return service

    def by_variable(f: Frame) -> Service:
        value = f[variable] if variable is not None else None
        if isinstance(value, ServiceRef):
            return value.target  # type: ignore[no-any-return]
        found: Service | None = f[0].home.callee(called)
        if found is not None:
            return found
        if isinstance(value, str):
            place.fail("P202", f"`{name}` holds a text, and a text is never callable",
                       "bind a slot to the service and call the slot")  # fmt: skip
        place.fail("P202", f"`{name}` holds no reference to a service")

    if slot is None:
        return by_name if variable is None else by_variable

    def by_slot(f: Frame) -> Service:
        value = f[slot]
        if type(value) is ServiceRef:
            return value.target  # type: ignore[no-any-return]
        if isinstance(value, list):
            place.fail("P206", f"the slot `{name}` is bound to several services: {', '.join(value) or 'none'}",
                       f"run over them: for one in {name}: call one")  # fmt: skip
        place.fail("P203", f"the slot `{name}` is not bound", f"it is optional: call it under `if {name} is present:`")

    def by_shadow(f: Frame) -> Service:
        value = f[variable] if variable is not None else None
        return value.target if type(value) is ServiceRef else by_slot(f)

    return by_shadow if target.shadowed else by_slot


# --- modifiers -------------------------------------------------------------------------------------------------------


def _modifiers(c: Compiler, plan: CallPlan) -> dict[str, Value] | None:
    found = {name: c.value(item.value) for name, item in plan.modifiers.items() if item.value is not None}
    return found or None


async def chosen_modifiers(modifiers: dict[str, Value] | None, words: dict[str, Any], f: Frame, place: Place) -> Any:
    """Evaluate the modifiers of a call, to the `words` among its values; P212 for values that they cannot have."""
    evaluated = await evaluate_all(modifiers or {}, f)
    if type(evaluated) is Escape:
        return evaluated
    values = {**evaluated, **words}
    retry, backoff, timeout = values.get("retry"), values.get("backoff"), values.get("timeout")
    if retry is not None and (isinstance(retry, bool) or not isinstance(retry, (int, float)) or retry < 0
                              or retry != int(retry)):  # fmt: skip
        place.fail("P212", f"`retry` is a whole number of further attempts, not {_shown(retry)}")
    if backoff is not None and backoff not in BACKOFF:
        place.fail("P212", f"`backoff` is none, linear or exponential, not {_shown(backoff)}")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or timeout <= 0):
        place.fail("P212", f"`timeout` is a number of seconds above 0, not {_shown(timeout)}")
    return Modifiers(
        retry=int(retry or 0),
        backoff=backoff or "none",
        timeout=timeout,
        prompt=worded("prompt", values, place),
        model=worded("model", values, place),
        context=values.get("context"),
    )


def worded(name: str, values: dict[str, Any], place: Place) -> str | None:
    """One of the values as a text; None if it is null or not there."""
    value = values.get(name)
    try:
        return None if value is None else interpolated(value)
    except TooLarge as error:
        place.fail("P304", f"the value of `{name}` cannot be written out: {error}")


def _shown(value: Any) -> str:
    return repr(value) if isinstance(value, (int, float, str)) else f"a {kind_of(value)}"
