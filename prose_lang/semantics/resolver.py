"""The walk that says what every name, call and condition of a body means (L14–L18, L22, L35).

It finds all faults in one pass. Names that stand in conditions and interpolations are resolved last, because they
create no implicit inputs (L15) but may read one that a binding creates. Below it: bodies (`bodies.py`, `actions.py`),
expressions and names. Beside it: the checks of calls in `calls.py`, plans of conditions in `conditions.py`, the rules
of scopes in `scopes.py`, those of collecting loops in `returns.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prose_lang.semantics.actions import Actions
from prose_lang.semantics.calls import check_call, check_taken, plan_call
from prose_lang.semantics.conditions import plan_condition
from prose_lang.semantics.hoisting import hoist
from prose_lang.semantics.program import Target
from prose_lang.semantics.sessions import check_session
from prose_lang.syntax import nodes as n
from prose_lang.text import Span

#: Maps of an agent whose values are words of their own.
_SETTINGS = ("permissions", "shape")


class Resolver(Actions):
    """One walk over one body: its declarations, its statements, and then what had to wait for them."""

    def resolve(self, body: n.Body) -> None:
        """Resolve the whole body, then what had to wait for it."""
        self.open_frame(body.statements)
        hoist(self, body)
        self.statements(body.statements, tail=False)
        for scope, task in self.later:
            self.scope = scope
            task()
        for call, plan in self.called:
            check_call(self, call, plan)
        for names, plan in self.taken:
            check_taken(self, names, plan)
        self.report_keys()

    def call(self, node: n.Call) -> None:
        if node.arguments is not None:
            for argument in node.arguments:
                self.expression(argument)
        target = self.target(node.target)
        if node.quoted:
            target = Target(node.target.id, node.target.span, None, None, True)
            if self.environment.signature(node.target.id) is None:
                self.report("P109", f"`{node.target.id}` does not resolve", node.target, missing=node.target.id)
        with self.addresses.inside("", len(node.properties)):  # it starts after the calls among its properties
            site = self.addresses.site(node.span, f"call:{node.target.id}")
        self.properties(node.properties)
        plan = plan_call(target, site, node.properties)
        self.calls[node] = plan
        listed = target.name in self.entry.services  # a result of the same name does not hide that nothing gave it
        if target.slot is None and not target.static and (target.variable is None or listed):
            self.unknown_target(node.target)
        self.called.append((node, plan))

    def properties(self, properties: Sequence[n.Property], *, agent: bool = False, within: str = "") -> None:
        """The properties of a call, or of an `agent`; `within` is the property whose indented map they are. In the
        permissions and the shape of an agent a bare word is a symbol, as a model's is (`bash: deny`)."""
        seen: set[str] = set()
        for number, item in enumerate(properties):
            if item.name in seen:
                self.report("P209", f"`{item.name}` is bound twice", Span(item.start, item.name_end))
            seen.add(item.name)
            with self.addresses.inside(f".{item.name}", number):
                self.properties(item.nested, agent=agent, within=item.name)
                if item.value is None:
                    continue
                key = "model" if agent and within in _SETTINGS else item.name
                if isinstance(item.value, n.Name) and is_symbol(key, item.value.id, self.lookup):
                    continue
                self.value(item.value, collecting=True)

    def session(self, node: n.Session | n.Resume) -> None:
        check_session(self, node)
        if isinstance(node, n.Session) and node.prompt is not None:
            self.expression(node.prompt)
        word = "session" if isinstance(node, n.Session) else "resume"
        self.sites[node] = self.addresses.site(node.span, word)
        self.properties(node.properties, agent=True)

    def condition(
        self, condition: n.Condition, word: str, labels: tuple[str, ...] = (), *, after: int | None = None
    ) -> None:
        """A condition; in program order it comes before the statements it heads, or `after` so many of them."""
        with self.addresses.inside("", -1 if after is None else after):
            site = self.addresses.site(condition.span, word)
            addresses, path, order = self.addresses, self.addresses.path, self.addresses.order

        def plan() -> None:
            self.addresses, addresses.path, addresses.order = addresses, path, order
            plan_condition(self, condition, site, labels)

        self.later.append((self.scope, plan))


def is_symbol(key: str, word: str, lookup: Callable[[str], int | None]) -> bool:
    """Whether a bare word is a symbol, not a name (L9): `model: sonnet`, `persist: project`, `backoff: linear`."""
    if key in ("persist", "backoff"):
        return True
    return key == "model" and lookup(word) is None
