"""A checked program: the tree with what its names, calls and conditions mean, in tables keyed by node. Immutable.

A frame is a row of cells. Every name that a body can read or write has one cell for the whole entry: first the base
names (slots, config keys, inputs), then the variables. A body of its own (L14) starts from a copy of the row around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import attrs

from prose_lang.conditions import Rule
from prose_lang.diagnostics import Diagnostic, Severity
from prose_lang.documents.model import Document, Entry, Item, Slot
from prose_lang.semantics.signature import Signature
from prose_lang.syntax import nodes as n
from prose_lang.text import Source, Span


class Base(NamedTuple):
    """A name that a body gets from outside: `kind` is slot, config, input or implicit (L15)."""

    name: str
    kind: str
    cell: int
    item: Item | None = None
    slot: Slot | None = None


@attrs.frozen(eq=False)
class Site:
    """Where a call, a block or a condition stands: its place in the text and the template of its addresses (L35).

    `template` is the address cut at the places where loop indices go; `order_template` sorts occurrences in
    program order, None standing for an index.
    """

    source: Source
    span: Span
    template: tuple[str, ...]
    order_template: tuple[int | None, ...]

    def address(self, prefix: str, indices: tuple[int, ...]) -> str:
        """The address of an occurrence.

        >>> Site(Source("", ""), Span(0, 0), ("d/3.repeat[", "]/0.call:a"), ()).address("", (2,))
        'd/3.repeat[2]/0.call:a'
        """
        if len(self.template) == 1:
            return prefix + self.template[0]
        parts = [prefix, self.template[0]]
        for index, text in zip(indices, self.template[1:], strict=True):
            parts.append(str(index))
            parts.append(text)
        return "".join(parts)

    def order(self, indices: tuple[int, ...]) -> tuple[int, ...]:
        """The place of an occurrence in program order, within its body."""
        rest = iter(indices)
        return tuple(next(rest) if part is None else part for part in self.order_template)


class Target(NamedTuple):
    """What a call may mean (L17): a slot, else a variable while it holds a reference, else something by name.

    `shadowed` tells that the variable is a loop variable or the like and goes before the slot of its name (L16).
    """

    name: str
    span: Span
    slot: int | None
    variable: int | None
    static: bool
    shadowed: bool = False


@attrs.frozen(eq=False)
class CallPlan:
    """A call: its target, its bindings in order, its modifiers (as written), and its site.

    `words` are properties that are modifiers unless the callee declares an input of that name (L32).
    """

    target: Target
    site: Site
    bindings: tuple[tuple[str, n.Property], ...]
    modifiers: Mapping[str, n.Property]
    words: Mapping[str, n.Property]


@attrs.frozen(eq=False)
class ConditionPlan:
    """A condition with the layers that can decide it, in their order (L30)."""

    text: str
    site: Site
    expression: n.Expression | None
    rules: tuple[Rule, ...]
    reads: tuple[tuple[str, n.Expression], ...]  # what the judge is shown: label and reference
    labels: tuple[str, ...]  # of a choice
    hint: str | None  # a form that would be exact
    visible: tuple[str, ...] = ()  # where a judge may be asked: the names that can be read there

    @property
    def layers(self) -> tuple[str, ...]:
        """The names of the layers that can decide, in order; `judge` last unless one before it always decides."""
        if self.labels:
            return ("value", "judge") if self.expression is not None else ("judge",)
        if self.expression is not None:
            return ("expression",)
        found = tuple(rule.layer for rule in self.rules)
        if self.rules and self.rules[-1].total:
            return found
        return (*found, "judge")


@attrs.frozen(eq=False)
class Program:
    """An entry ready to run: see the module's text. `diagnostics` hold errors too; a program with errors never runs."""

    document: Document
    entry: Entry
    source: Source
    body: n.Body | None
    cells: int
    bases: tuple[Base, ...]
    names: Mapping[str, Base]  # the same by name
    required: tuple[Item, ...]  # inputs that must be given
    initial: tuple[tuple[int, int], ...]  # (cell of a variable, cell of the base name it reads as until it is set)
    reads: Mapping[n.Name, int]
    config_reads: frozenset[n.Name]
    writes: Mapping[n.Name, int]
    aliases: Mapping[int, int]  # cell of a variable -> cell of the name of its single output (§9 L13)
    sites: Mapping[n.Node, Site]
    calls: Mapping[n.Node, CallPlan]
    conditions: Mapping[n.Condition, ConditionPlan]
    collects: frozenset[n.Node]
    growing: frozenset[int]  # cells that `record` extends in place
    latest: Mapping[int, int]  # cell of a slot -> cell of its latest result
    items: Mapping[n.Stage, int]  # cells of the `item` of pipeline stages
    blocks: Mapping[str, n.BlockDef]
    uses: Mapping[str, n.Use]
    agents: Mapping[str, n.AgentDef]
    signature: Signature
    diagnostics: tuple[Diagnostic, ...]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that keep the program from running."""
        return tuple(item for item in self.diagnostics if item.severity is Severity.ERROR)

    @property
    def implicit_inputs(self) -> tuple[str, ...]:
        """Names that nothing declares and that are therefore optional inputs (L15)."""
        return tuple(base.name for base in self.bases if base.kind == "implicit")
