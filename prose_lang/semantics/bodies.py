"""Bodies: frames of their own, statement lists, and each kind of statement (L14, L16, L20, L22)."""

from __future__ import annotations

import abc
import re
from collections.abc import Sequence

from prose_lang.semantics.addressing import Addresses
from prose_lang.semantics.expressions import Expressions
from prose_lang.semantics.returns import collects_as_tail
from prose_lang.semantics.scopes import Scope
from prose_lang.semantics.sessions import check_agent
from prose_lang.syntax import nodes as n

#: How a text begins that tells a reader which value belongs in its place.
_PLACEHOLDER = re.compile(r"(?:the )?(?:number|count|list|array|name) of \w", re.IGNORECASE)


class Bodies(Expressions, abc.ABC):
    """The part of the walk that goes through statements. What stands in value position is `value`'s to read."""

    @abc.abstractmethod
    def value(self, value: n.Value, *, collecting: bool) -> None:
        """Resolve a value; `collecting` tells that it stands where a loop collects (L22)."""

    @abc.abstractmethod
    def properties(self, properties: Sequence[n.Property], *, agent: bool = False, within: str = "") -> None:
        """Resolve the properties of a call, a session or an agent."""

    def own_body(
        self, body: n.Body, parameters: Sequence[tuple[n.Name, str]], *, tail: bool = False, sealed: bool = False
    ) -> None:
        """A body with a frame of its own, and names that are read-only in it.

        A `sealed` body (a block's) sees nothing of the bodies around it but the base names (§9 L14).
        """
        outer = self.scope
        self.scope = Scope(None if sealed else outer, frame=False)
        for name, why in parameters:
            self.declare_local(name, why)
        self.scope = Scope(self.scope, frame=True)
        self.open_frame(body.statements)
        self.loops.append(False)
        constants, self.constants = self.constants, frozenset()
        self.statements(body.statements, tail=tail)
        self.constants = constants
        self.loops.pop()
        self.scope = outer

    def statements(self, statements: Sequence[n.Statement], *, tail: bool) -> None:
        """A statement list; in a collecting pass or branch its last loop may collect (`tail`, L22)."""
        declared: dict[str, n.Name] = {}
        constants = self.constants
        for index, statement in enumerate(statements):
            for name in declared_by(statement):
                if name.id in declared:
                    self.report(
                        "P207",
                        f"`{name.id}` is declared twice in the same list of statements",
                        name,
                        hint=f"assign to it instead: {name.id} = …",
                    )
                else:
                    self.not_constant(name)
                declared.setdefault(name.id, name)
            with self.addresses.inside(f"/{index}", index):
                self.statement(statement, tail=tail and index == len(statements) - 1)
            if isinstance(statement, (n.Let, n.Destructure)) and statement.constant:
                self.constants |= {self.writes[name] for name in declared_by(statement) if name in self.writes}
        self.constants = constants

    def statement(self, statement: n.Statement, *, tail: bool) -> None:
        match statement:
            case n.Let(name=name, value=value):
                self.value(value, collecting=True)
                self.declare(name)
            case n.Destructure(names=names, value=value):
                self.value(value, collecting=True)
                for name in names:
                    self.declare(name)
                if isinstance(value, n.Call):
                    self.taken.append((names, self.calls[value]))
            case n.Assign(name=name, path=path, value=value):
                unknown = self.lookup(name.id) is None
                if unknown:
                    self.write(name, "assign")  # told before its value reads the same name
                self.value(value, collecting=True)
                for part in path:
                    if not isinstance(part, str):
                        self.expression(part)
                if not unknown:
                    self.write(name, "assign")
            case n.Evaluate(value=value):
                collecting = tail and isinstance(value, (n.Repeat, n.For)) and collects_as_tail(value)
                self.value(value, collecting=collecting)
            case n.Return(value=value):
                if value is not None:
                    self.value(value, collecting=True)
                    self.placeholders(value)
            case n.Throw(value=value):
                if value is not None:
                    self.expression(value)
            case n.Record(value=value, name=name):
                self.expression(value)
                self.write(name, "record")
                if name in self.writes:
                    self.growing.add(self.writes[name])
            case n.Break() | n.Continue():
                word = "break" if isinstance(statement, n.Break) else "continue"
                if not self.loops[-1]:
                    self.report("P101", f"`{word}` stands in no loop of this body", statement)
            case n.BlockDef(name=name, parameters=parameters, body=body):
                self.block(name, parameters, body)
            case n.AgentDef(properties=properties):
                check_agent(self, statement)
                self.properties(properties, agent=True)
            case n.Use() | n.Malformed():
                pass

    def placeholders(self, value: n.Value) -> None:
        """`attempts: "number of attempts"`: published files describe a value so; a text is a text (§9 L6)."""
        for entry in value.entries if isinstance(value, n.ObjectLiteral) else ():
            text = entry.value
            if isinstance(text, n.Literal) and isinstance(text.value, str) and _PLACEHOLDER.match(text.value):
                message = f"`{entry.key}` is returned as this text itself, not as what it describes"
                self.lint("placeholder-text", message, text, hint="write the expression that gives the value")

    def block(self, name: n.Name, parameters: Sequence[n.Name], body: n.Body) -> None:
        around, self.addresses = self.addresses, Addresses(self.source, "")
        self.own_body(body, [(parameter, "is a parameter") for parameter in parameters], sealed=True)
        self.addresses = around


def declared_by(statement: n.Statement) -> Sequence[n.Name]:
    """What a statement of a list declares. The `let`s under a `parallel:` stand in a list of their own (§9 L14)."""
    match statement:
        case n.Let(name=name):
            return (name,)
        case n.Destructure(names=names):
            return names
        case _:
            return ()
