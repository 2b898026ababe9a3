"""A bound program as a service (L7, L17): a pattern with its slots bound, or a function with an Execution.

A pattern is a service wherever one is accepted. It makes no call itself; it makes calls. One object serves one run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from prose_lang.diagnostics import RunError, ServiceError
from prose_lang.documents.model import Entry, Item
from prose_lang.runtime.activation import Activation, Home, Run
from prose_lang.runtime.compiler.code import Code, Frame
from prose_lang.runtime.compiler.statements import value_of
from prose_lang.runtime.completion import Return
from prose_lang.runtime.effects import Effect, Service
from prose_lang.runtime.linking import missing_inputs
from prose_lang.runtime.place import Place
from prose_lang.semantics import Program, Signature
from prose_lang.text import Span
from prose_lang.values import ServiceRef, Value, a_kind_of


class BoundPattern:
    """A program with some of its names bound.

    `slots` hold references, or lists of them; `config` the instance's own settings. What neither binds may be bound
    by each call, where it is an instance taken from a same-named input of the entry around it, or defaulted, in this
    order (L7). Everything else sees what its call binds and nothing more (L32). `within` is the entry in which an
    instance stands; None for what is no instance.
    """

    composite = True

    def __init__(
        self,
        name: str,
        code: Code,
        slots: Mapping[str, Value],
        config: Mapping[str, Value],
        find: Callable[[str], Service | None],
        *,
        within: Entry | None = None,
    ) -> None:
        self.name = name
        self.code = code
        self.slots = slots
        self.config = config
        self.within = within
        self.inherits = within is not None
        self.home = Home(code, find)
        self.signature = _relaxed(code.program.signature)
        self.place = whole_place(code.program)

    @property
    def program(self) -> Program:
        """What it was made of."""
        return self.code.program

    async def invoke(self, effect: Effect) -> Any:
        """Run the body for one call; its place is that of the call.

        A further attempt makes calls of its own: their addresses say which attempt they belong to (L35).
        """
        caller: Activation = effect.place
        place = Place(effect.site.source, effect.site.span)
        order = (*caller.order, *effect.site.order(effect.indices), effect.attempt)
        again = f".retry[{effect.attempt - 1}]" if effect.attempt > 1 else ""
        here = caller.below(self.home, f"{effect.address}{again}/", order, place)
        here.within = (*caller.within, *dict.fromkeys((self.name, self.code.program.entry.name)))
        return await here.descend(self.execute(here, effect.inputs, self.offered(caller), place))

    def offered(self, caller: Activation) -> Mapping[str, Value]:
        """The inputs that an instance may take by name: those of the entry in which it stands.

        Where that entry itself calls it, only its own; where a pattern calls it that it was bound to, what reached that
        pattern from there as well.
        """
        if self.within is None:
            return {}
        return caller.own if caller.home.code.program.entry is self.within else caller.inherited

    async def run(self, run: Run, inputs: Mapping[str, Value], place: Place) -> Any:
        """Run the body as the whole of a run."""
        here = Activation(run, self.home, stack=self.code.weight)
        here.within = (self.name,)
        return await self.execute(here, inputs, {}, place)

    async def execute(
        self, here: Activation, inputs: Mapping[str, Value], offered: Mapping[str, Value], place: Place
    ) -> Any:
        """Make the frame, walk the body, and shape what it gave by the declared outputs (L33)."""
        frame = self.frame(here, inputs, offered, place)
        step = self.code.step
        completion = step.run(frame)
        if step.waits:
            completion = await completion
        return self.shaped(completion, here, place)

    def frame(self, here: Activation, inputs: Mapping[str, Value], offered: Mapping[str, Value], place: Place) -> Frame:
        frame: Frame = [None] * self.code.cells
        frame[0] = here
        missing: list[str] = []
        own: dict[str, Value] = {}
        for base in self.code.program.bases:
            name, item = base.name, base.item
            if base.kind == "slot":
                value = self.slots[name] if name in self.slots else _as_slot(inputs.get(name))
                if value is None and not (base.slot is not None and base.slot.optional):
                    missing.append(name)
            elif name in inputs:
                value = inputs[name]
            elif name in self.config:
                value = self.config[name]
            elif name in offered:
                value = offered[name]
                here.run.note("inherited", here, name)
            elif item is not None and item.has_default:
                value = item.default
            else:
                value = None
                if base.kind == "input" and item is not None and not item.optional:
                    missing.append(name)
            frame[base.cell] = value
            if base.kind != "slot" and base.kind != "config" and value is not None and not _defaulted(item):
                own[name] = value
        if missing:
            unbound = any(base.kind == "slot" and base.name in missing for base in self.code.program.bases)
            hint = "the slots of a pattern are bound by an instance of it: name, pattern and with, under Services"
            raise missing_inputs(self, missing, place, hint if unbound else None)
        for cell, source in self.code.program.initial:
            frame[cell] = frame[source]
        here.template = frame.copy() if self.code.blocks else frame
        here.own = own
        here.inherited = {**offered, **own} if offered else own  # an instance bound to a slot stands further out
        return frame

    def shaped(self, completion: Any, here: Activation, place: Place) -> Value:
        """A function with one declared output gives that value, with several an object that has them all (L33).

        What is missing is missing where the body gave its value: at its `return`, else at its last statement.
        """
        value = value_of(completion)
        outputs = self.signature.outputs
        if not outputs:
            return value
        span = completion.span if type(completion) is Return else None
        if span is None and (body := self.code.program.body) is not None and body.statements:
            span = body.statements[-1].span
        given = Place(self.code.program.source, span) if span is not None else place
        return shaped(value, outputs, self.name, place, here.run.warn, given)


def shaped(
    value: Value,
    outputs: tuple[Item, ...],
    name: str,
    place: Place,
    warn: Callable[[Place, str, str], None],
    given: Place | None = None,
) -> Value:
    """What a service with declared outputs gave, as its caller gets it (L33).

    P404 where outputs are missing, at the place where the value was `given` if that is in a text.
    """
    if len(outputs) == 1:
        key = outputs[0].name
        if isinstance(value, dict) and key in value:
            if len(value) > 1:
                others = ", ".join(other for other in value if other != key)
                warn(
                    place, "P404", f"`{name}` declares the one output `{key}`; it also gave {others}, which is dropped"
                )
            return value[key]
        return value
    wanted = [item.name for item in outputs if not item.optional]
    if not isinstance(value, dict):
        raise broken_contract(
            name, f"it gave {a_kind_of(value)}, not an object with {', '.join(wanted)}", given or place
        )
    missing = [key for key in wanted if key not in value]
    if missing:
        raise broken_contract(name, f"its result has no {', '.join(missing)}", given or place)
    return value


def broken_contract(name: str, what: str, place: Place) -> RunError:
    """P404, naming the service."""
    return ServiceError(
        "P404", f"`{name}` broke its contract: {what}", source=place.source, span=place.span, service=name
    )


def _defaulted(item: Item | None) -> bool:
    return item is not None and item.has_default


def _as_slot(value: Value) -> Value:
    """A slot can be bound by a call too: by a reference, or a list of them."""
    if isinstance(value, ServiceRef):
        return value
    if isinstance(value, list) and value and all(isinstance(item, ServiceRef) for item in value):
        return value
    return None


def _relaxed(signature: Signature) -> Signature:
    """The signature that callers see. A caller's input of the same name may fill what a call leaves out (L7), so
    nothing is missing before the frame is made."""
    parameters = tuple(attrs.evolve(parameter, required=False) for parameter in signature.parameters)
    return Signature(parameters, signature.open, signature.outputs, signature.positional)


def whole_place(program: Program) -> Place:
    """The place of a program as a whole, for faults that concern it before its first statement."""
    start = program.body.start if program.body is not None else 0
    return Place(program.source, Span(start, start))
