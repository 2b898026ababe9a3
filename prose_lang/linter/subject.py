"""What rules look at: one entry of a document with its program, and tables over it that several rules need."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property

import attrs

from prose_lang.documents.model import Document, Entry
from prose_lang.linter.slips import Slip, slip_of
from prose_lang.linter.structure import Structure, read_structure
from prose_lang.semantics import Base, Environment, Program
from prose_lang.syntax import Parsed
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk

_WORD = re.compile(r"[^\W\d]\w*(?:-+\w+)*")


@attrs.frozen(eq=False)
class Subject:
    """An entry, what it was read from and what it means. `environment` knows what its calls can reach."""

    document: Document
    entry: Entry
    program: Program
    parsed: Parsed
    environment: Environment

    @cached_property
    def structure(self) -> Structure:
        """The statement lists of the body."""
        return read_structure(self.parsed.body, self.program.collects)

    @cached_property
    def nodes(self) -> tuple[n.Node, ...]:
        """Every node of the body, and of what conditions in plain language were found to name."""
        found = list(walk(self.parsed.body))
        for plan in self.program.conditions.values():
            for operand in (operand for rule in plan.rules for operand in rule.operands):
                found += walk(operand)
            for _, expression in plan.reads:
                found += walk(expression)
        return tuple(found)

    @cached_property
    def slips(self) -> dict[n.Condition, Slip]:
        """The conditions that go to a judge only because of a slip."""
        found = {condition: slip_of(plan) for condition, plan in self.program.conditions.items()}
        return {condition: slip for condition, slip in found.items() if slip is not None}

    @cached_property
    def read_cells(self) -> frozenset[int]:
        """The cells that something reads; what may be called counts as read."""
        found = set(self.program.reads.values())
        for plan in self.program.calls.values():
            found.update(cell for cell in (plan.target.slot, plan.target.variable) if cell is not None)
        return frozenset(found)

    @cached_property
    def config_keys(self) -> frozenset[str] | None:
        """The keys read as `config.KEY`; None if the object of them is used whole, and so all may be."""
        keys: set[str] = set()
        whole = set(self.program.config_reads)
        for node in self.nodes:
            match node:
                case n.Member(object=n.Name() as name, name=key) if name in whole:
                    keys.add(key)
                    whole.discard(name)
                case n.Index(object=n.Name() as name, index=n.Literal(value=str(key))) if name in whole:
                    keys.add(key)
                    whole.discard(name)
                case _:
                    pass
        return None if whole else frozenset(keys)

    @cached_property
    def said_words(self) -> frozenset[str]:
        """The words of all texts and conditions of the body: what a prompt speaks of is used, in a way."""
        words: set[str] = set()
        for plan in self.program.conditions.values():
            words.update(_WORD.findall(plan.text))
        for node in self.nodes:
            match node:
                case n.Literal(value=str(text)):
                    words.update(_WORD.findall(text))
                case n.Text(parts=parts):
                    for part in parts:
                        if isinstance(part, str):
                            words.update(_WORD.findall(part))
                case _:
                    pass
        return frozenset(words)

    def bases(self, kind: str) -> Iterator[Base]:
        """The slots, config keys or inputs that are declared."""
        return (base for base in self.program.bases if base.kind == kind)

    def uses(self, base: Base) -> bool:
        """Whether the body reads or calls a slot, config key or input, also through a variable of its name (L15)."""
        cells = {base.cell, *(cell for cell, origin in self.program.initial if origin == base.cell)}
        if base.kind == "config" and (self.config_keys is None or base.name in self.config_keys):
            return True
        return not cells.isdisjoint(self.read_cells)

    def line(self, offset: int) -> int:
        """The line of a place, as hints name it."""
        return self.document.source.position(offset).line
