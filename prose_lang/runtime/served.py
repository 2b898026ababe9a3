"""A contract without a body as the whole of a run: one call of the service that stands in for it (L6).

The call passes every handler, as a call in a body does. Not here: finding that service, which is the linker's part.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prose_lang.runtime.activation import Activation, Home, Run
from prose_lang.runtime.compiler.code import Code, Step
from prose_lang.runtime.effects import Call, Service
from prose_lang.runtime.place import Place
from prose_lang.semantics import Program
from prose_lang.semantics.addressing import Addresses
from prose_lang.values import Value


class ServedContract:
    """An entry without a body, and the service that does its work. One object serves any number of runs."""

    def __init__(self, program: Program, service: Service) -> None:
        entry = program.entry
        self.name = entry.name
        self.program = program
        self.service = service
        self.place = Place(program.source, entry.span)
        self.site = Addresses(program.source, "contract").site(entry.span, f"call:{entry.name}")
        self.home = Home(Code(program, Step(lambda f: None), {}, program.cells, 8), lambda name: None)

    async def run(self, run: Run, inputs: Mapping[str, Value], place: Place) -> Any:
        """Call the service with what was given, and with the defaults of what was not; null is absent (L32)."""
        sent: dict[str, Value] = {}
        for base in self.program.bases:
            value = inputs.get(base.name)
            if base.name not in inputs and base.item is not None and base.item.has_default:
                value = base.item.default
            if value is not None:
                sent[base.name] = value
        here = Activation(run, self.home, stack=self.home.code.weight)
        effect = Call(self.site, here, (), self.service, sent)
        return await (run.perform_composite(effect) if self.service.composite else run.perform(effect))
