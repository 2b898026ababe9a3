"""A service as the whole of a run: an entry without a body, run by itself (L6). Its one call is the program."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prose_lang.runtime.activation import Activation, Home, Run
from prose_lang.runtime.compiler.code import Code, Step
from prose_lang.runtime.completion import Return
from prose_lang.runtime.effects import Call, Service
from prose_lang.runtime.place import Place
from prose_lang.semantics import Program, Site
from prose_lang.values import Value


class WholeCall:
    """A call of one service, with what the run is given as its inputs."""

    def __init__(self, name: str, program: Program, service: Service) -> None:
        self.name = name
        self.program = program
        self.service = service
        entry = program.entry
        self.site = Site(program.source, entry.span, (f"call:{name}",), (0,))
        self.home = Home(Code(program, Step(lambda f: Return(None)), {}, program.cells, 0), lambda name: None)

    async def run(self, run: Run, inputs: Mapping[str, Value], place: Place) -> Any:
        """Make the call."""
        here = Activation(run, self.home)
        given = {name: value for name, value in inputs.items() if value is not None}
        effect = Call(self.site, here, (), self.service, given)
        return await (run.perform_composite(effect) if self.service.composite else run.perform(effect))
