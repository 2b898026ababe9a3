"""Names: what a body reads, declares and writes, and which of these it may (L14–L17)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain

from prose_lang.semantics.program import Base
from prose_lang.semantics.scopes import Variable, declarations
from prose_lang.semantics.walk import Walk
from prose_lang.syntax import nodes as n
from prose_lang.text import did_you_mean
from prose_lang.values import as_number

_ARITHMETIC = re.compile(r"-\d|\d-")


class Names(Walk):
    """The part of the walk that looks names up and writes them."""

    def open_frame(self, statements: Sequence[n.Statement]) -> None:
        """Give the variables of a body their cells in the frame scope that is the current scope."""
        names: dict[str, Variable] = {}
        for name, constant in declarations(statements):
            known = names.get(name.id)
            why = "is a constant" if constant or (known and known.read_only) else ""
            if known is not None:
                names[name.id] = Variable(name.id, known.cell, why)
                continue
            outer = self.scope.parent.find(name.id) if self.scope.parent else None
            if outer is not None:
                # The row of the body is a copy of the one around it: the same cell starts with the outer value (L18).
                cell = outer[0].cell
            else:
                cell = self.cell()
                base = self.bases.get(name.id)
                if base is not None:
                    self.initial.append((cell, base.cell))
                else:
                    self.unbased.setdefault(name.id, []).append(cell)
            names[name.id] = Variable(name.id, cell, why)
        self.scope.names.update(names)

    def declare_local(self, name: n.Name, why: str) -> None:
        if name.id in self.scope.names:
            self.report("P207", f"`{name.id}` is declared twice here", name)
            return
        cell = self.cell()
        self.scope.names[name.id] = Variable(name.id, cell, why)
        self.writes[name] = cell

    def not_constant(self, name: n.Name) -> None:
        """A `let` of a constant that stands before it, in a list around, would assign it (L14, L16)."""
        found = self.scope.find(name.id)
        if found is not None and found[0].cell in self.constants:
            self.report("P208", f"`{name.id}` is a constant and is read-only", name)

    def declare(self, name: n.Name) -> None:
        for scope in self.scope.chain():
            found = scope.names.get(name.id)
            if scope.frame:
                if found is not None:
                    self.writes[name] = found.cell
                return
            if found is not None:
                self.report(
                    "P208",
                    f"`{name.id}` {found.read_only} and is read-only here",
                    name,
                    hint="choose another name for the new variable",
                )
                self.writes[name] = found.cell
                return

    def write(self, name: n.Name, what: str) -> None:
        """An assignment, `record` or `append` to an existing variable."""
        found = self.scope.find(name.id)
        if found is None:
            self.write_nowhere(name, what)
            return
        variable, own = found
        if variable.read_only:
            constant = variable.read_only == "is a constant"
            hint = "declare it with `let` if it is to change" if constant else "take another name for what changes"
            self.report("P208", f"`{name.id}` {variable.read_only} and is read-only", name, hint=hint)
        elif not own:
            self.report(
                "P205",
                f"`{name.id}` belongs to the body around this one and cannot be changed from here",
                name,
                hint=f"return the value to the body around, or make a copy first: let {name.id} = {name.id}",
            )
        self.writes[name] = variable.cell

    def write_nowhere(self, name: n.Name, what: str) -> None:
        base = self.bases.get(name.id)
        if base is not None:
            article = {"slot": "a slot", "config": "a config key"}.get(base.kind, "an input")
            self.report(
                "P208",
                f"`{name.id}` is {article} and is read-only",
                name,
                hint=f"make a variable of it first: let {name.id} = {name.id}",
            )
            self.writes[name] = base.cell
            return
        if name.id == "config":
            self.report("P208", "`config` stands for the config keys and is read-only", name)
            self.writes[name] = self.cell()
            return
        if name.id in self.broken_words:
            self.writes[name] = self.cell()
            return
        close = self.nearest(name.id, self.scope.visible())
        hint = did_you_mean(close[:1]) or f"declare it first: let {name.id} = {'[]' if what == 'record' else '…'}"
        self.report("P201", f"nothing declares `{name.id}`", name, hint=hint)
        self.writes[name] = self.cell()
        # What reads it further down, or assigns it again, is not another fault.
        self.scope.own_frame().names.setdefault(name.id, Variable(name.id, self.writes[name]))

    def lookup(self, name: str) -> int | None:
        """The cell that a name is read from, or None."""
        found = self.scope.find(name)
        if found is not None:
            return found[0].cell
        base = self.bases.get(name)
        return base.cell if base is not None else None

    def read(self, name: n.Name, *, implicit: bool = True) -> None:
        cell = self.lookup(name.id)
        if cell is not None:
            self.reads[name] = cell
            return
        if name.id == "config":
            self.config_reads.add(name)
            return
        if name.id in self.broken_words:
            self.reads[name] = self.cell()
            return
        arithmetic = self.arithmetic_hint(name.id)
        if implicit and self.is_pattern and arithmetic is None:
            base = Base(name.id, "implicit", self.cell())
            self.bases[name.id] = base
            self.initial += [(variable, base.cell) for variable in self.unbased.pop(name.id, ())]
            self.reads[name] = base.cell
            self.lint(
                "undeclared-input",
                f"nothing declares `{name.id}`; it is taken as an optional input",
                name,
                hint=self.meant_or(name.id, f"declare it under Requires: {name.id}: string -- (optional) …"),
            )
            return
        self.unknown(name, arithmetic)

    def meant_or(self, name: str, advice: str) -> str:
        """The name that an undeclared one looks like, before the advice for the case that it is meant."""
        close = self.nearest(name, chain(self.scope.visible(), (known for known in self.bases if known != name)))
        return f"did you mean `{close[0]}`? if not, {advice}" if close else advice

    def unknown(self, name: n.Name, arithmetic: str | None = None) -> None:
        hint = arithmetic
        if hint is None:
            close = self.nearest(name.id, chain(self.scope.visible(), self.bases))
            hint = did_you_mean(close)
        self.report("P201", f"nothing declares `{name.id}`", name, hint=hint)
        self.reads[name] = self.cell()

    def arithmetic_hint(self, name: str) -> str | None:
        """`n-1` is one name (L9); whoever writes it mostly means a difference (L15)."""
        if "-" not in name:
            return None
        parts = name.split("-")
        known = [self.lookup(part) is not None or as_number(part) is not None for part in parts]
        if all(known) or _ARITHMETIC.search(name):
            return f"a minus needs spaces around it: {' - '.join(parts)}"
        return None
