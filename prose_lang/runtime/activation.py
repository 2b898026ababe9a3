"""Activations: one running body of a program, and what all of a run's activations share."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from prose_lang.diagnostics import RunError
from prose_lang.runtime.conversations import Memory
from prose_lang.runtime.effects import Effect, Service
from prose_lang.runtime.judged import Judged
from prose_lang.runtime.ledger import Ledger
from prose_lang.runtime.parallel import Live
from prose_lang.runtime.place import Place
from prose_lang.values import Value

if TYPE_CHECKING:
    from prose_lang.runtime.compiler.code import Code, Frame
    from prose_lang.runtime.linking import Link
    from prose_lang.semantics import CallPlan

#: Python frames that may stack up before the walk goes on in a task of its own, whose stack is fresh.
MAX_STACK = 250

Perform = Callable[[Effect], Awaitable[Any]]


class Home:
    """What the activations of one bound program share: its code, and what its names call."""

    __slots__ = ("callees", "code", "find", "links")

    def __init__(self, code: Code, find: Callable[[str], Service | None]) -> None:
        self.code = code
        self.find = find
        self.callees: dict[str, Service | None] = {}
        #: What call sites and the services they reached agreed on (`linking.py`).
        self.links: dict[tuple[CallPlan, Service], Link] = {}

    def callee(self, name: str) -> Service | None:
        """What a name calls besides slots, variables and blocks."""
        if name not in self.callees:
            self.callees[name] = self.find(name)
        return self.callees[name]


class Activation:
    """One body in execution. `indices` are those of the loops and branches that are open, outermost first.

    `prefix` is the address of the call that started it, `order` that call's place in program order. `template` is the
    frame that the bodies of blocks start from, `own` the inputs without a default, which instances may take by name
    (L7), `inherited` those and the ones that it was offered itself. `within` are the names of the patterns and
    instances it is part of, which limits go by (L34). `stack` counts the Python frames below it, roughly. `memory`
    holds the conversations that it sees (L29). `leaving` tells that it runs a `finally` while its run is being ended by
    what is no outcome of the program: an interrupt, a limit, a person who has to answer. Gone on with, the run comes
    there again.
    """

    __slots__ = (
        "depth", "home", "indices", "inherited", "leaving", "memory", "order", "own", "prefix", "run", "stack",
        "template", "within",
    )  # fmt: skip

    def __init__(
        self,
        run: Run,
        home: Home,
        prefix: str = "",
        order: tuple[int, ...] = (),
        indices: tuple[int, ...] = (),
        depth: int = 0,
        stack: int = 0,
    ) -> None:
        self.run = run
        self.home = home
        self.prefix = prefix
        self.order = order
        self.indices = indices
        self.depth = depth
        self.stack = stack
        self.template: Frame = []
        self.own: Mapping[str, Value] = {}
        self.inherited: Mapping[str, Value] = {}
        self.within: tuple[str, ...] = ()
        self.memory = run.memory
        self.leaving = False

    @property
    def ledger(self) -> Ledger | None:
        """Where what it comes to know is kept; nowhere while the run is being ended, for that happens again."""
        return None if self.leaving else self.run.ledger

    def branch(self, indices: tuple[int, ...], memory: Memory | None = None, *, fresh: bool = True) -> Activation:
        """The same body in a branch or step with indices of its own; a branch is a task, so its stack is `fresh`.

        What runs beside others has a `memory` of its own, and whoever joins it takes that over.
        """
        stack = self.home.code.weight if fresh else self.stack
        made = Activation(self.run, self.home, self.prefix, self.order, indices, self.depth, stack)
        made.template = self.template
        made.own = self.own
        made.inherited = self.inherited
        made.within = self.within
        made.memory = memory or self.memory
        made.leaving = self.leaving
        return made

    def below(self, home: Home, prefix: str, order: tuple[int, ...], place: Place) -> Activation:
        """The activation of a block or pattern called from here. P307 beyond the run's ceiling."""
        depth = self.depth + 1
        if depth > self.run.max_depth:
            place.fail("P307", f"calls are nested more than {self.run.max_depth} deep")
        made = Activation(self.run, home, prefix, order, (), depth, self.stack + home.code.weight)
        made.within = self.within
        made.memory = self.memory
        made.leaving = self.leaving
        return made

    async def descend(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Run the walk of this activation; in a task of its own where the stack has grown tall.

        A task that is cancelled while it waits for another cancels that one and waits until it has ended.
        """
        if self.stack <= MAX_STACK:
            return await work
        self.stack = self.home.code.weight
        return await asyncio.create_task(work)


class Run:
    """One execution: what performs its effects, its ceilings, and where its warnings and decisions go.

    The engine makes one for each execution and fills in the performers; nothing here is shared with another run.
    """

    def __init__(
        self,
        *,
        run_id: str,
        strict: bool,
        max_depth: int,
        max_passes: int,
        judge: Service | None,
        session: Callable[[str | None], Service | None],
        memory: Memory,
        rules: Mapping[str, Callable[..., bool]],
        on_warning: Callable[[Place, str, str], None],
        on_decision: Callable[..., None] | None,
        on_event: Callable[[str, Activation, Any], None] | None,
        ledger: Ledger | None = None,
    ) -> None:
        self.run_id = run_id
        self.strict = strict
        self.max_depth = max_depth
        self.max_passes = max_passes
        self.judge = judge
        #: What does a session, by the name of its agent.
        self.session = session
        self.memory = memory
        self.rules = rules
        self.on_warning = on_warning
        self.on_decision = on_decision
        self.on_event = on_event
        self.ledger = ledger
        self.live = Live()
        self.judged = Judged()
        self.perform: Perform = _unset
        self.perform_composite: Perform = _unset

    def warn(self, place: Place, code: str, message: str) -> None:
        """A warning event; under `--strict` the error of that code."""
        if self.strict:
            place.fail(code, message)
        self.on_warning(place, code, message)

    def note(self, what: str, activation: Activation, detail: Any) -> None:
        """Something worth a line in the trace that is neither a call nor a decision."""
        if self.on_event is not None:
            self.on_event(what, activation, detail)


async def _unset(effect: Effect) -> Any:
    raise RunError("P410", "the run has no performer")
