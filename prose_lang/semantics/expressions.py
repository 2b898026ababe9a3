"""Expressions: the names in them, interpolations, and what a callable name means (L10, L13a, L17).

Names that stand in interpolations are resolved when the rest of the body has been: they create no implicit inputs
(L15) but may read one that a binding creates.
"""

from __future__ import annotations

from functools import partial

from prose_lang.semantics.names import Names
from prose_lang.semantics.program import CallPlan, Target
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk
from prose_lang.text import did_you_mean


class Expressions(Names):
    """The part of the walk that reads expressions."""

    def expression(self, expression: n.Expression) -> None:
        match expression:
            case n.Literal():
                pass
            case n.Name():
                self.read(expression)
            case n.Text(parts=parts):
                for part in parts:
                    if not isinstance(part, str):
                        self.later.append((self.scope, partial(self.interpolation, part)))
            case n.Member(object=inner, name=key):
                self.expression(inner)
                self.note_alias(expression)
                self.config_key(inner, key, expression)
            case n.Index(object=inner, index=index):
                self.expression(inner)
                self.expression(index)
                if isinstance(index, n.Literal) and isinstance(index.value, str):
                    self.config_key(inner, index.value, expression)
            case n.ListLiteral(items=items):
                for item in items:
                    self.expression(item)
            case n.ObjectLiteral(entries=entries):
                seen: set[str] = set()
                for entry in entries:
                    if entry.key in seen:
                        self.report("P207", f"the key `{entry.key}` stands twice in this object", entry)
                    seen.add(entry.key)
                    self.expression(entry.value)
            case n.Unary(operand=operand):
                self.expression(operand)
            case n.Binary(left=left, right=right):
                self.expression(left)
                self.expression(right)
            case n.Invoke(target=target, arguments=arguments):
                for argument in arguments:
                    self.expression(argument)
                self.invoke(expression, target)

    def interpolation(self, part: n.Expression) -> None:
        name = part
        while isinstance(name, n.Member):
            self.note_alias(name)
            self.config_key(name.object, name.name, name)
            name = name.object
        if isinstance(name, n.Name):
            self.read(name, implicit=False)

    def config_key(self, inner: n.Expression, key: str, whole: n.Expression) -> None:
        """`config.max_round` where Config has `max_rounds`: it is null in every run (L13, L17)."""
        if not (isinstance(inner, n.Name) and inner.id == "config" and self.lookup("config") is None):
            return
        if not any(base.kind == "config" and base.name == key for base in self.bases.values()):
            self.no_keys.append((whole, key))

    def report_keys(self) -> None:
        """Tell of each key that Config does not have, once, where the text reads it first."""
        keys = [base.name for base in self.bases.values() if base.kind == "config"]
        first: dict[str, n.Node] = {}
        for node, key in sorted(self.no_keys, key=lambda found: found[0].start):
            first.setdefault(key, node)
        for key, node in first.items():
            close = self.nearest(key, keys)
            advice = f"declare it under Config: - `{key}` (default: …): …"
            hint = f"did you mean `config.{close[0]}`?" if close else advice
            self.lint("unknown-config-key", f"Config has no key `{key}`; this is always null", node, hint)

    def note_alias(self, member: n.Member) -> None:
        """`x.out` may be the single output of the call that set `x` (§9 L13): give `x` a cell to remember that in."""
        if isinstance(member.object, n.Name):
            found = self.scope.find(member.object.id)
            if found is not None and not found[0].read_only and found[0].cell not in self.aliases:
                self.aliases[found[0].cell] = self.cell()

    def invoke(self, node: n.Invoke, target: n.Name) -> None:
        site = self.addresses.site(node.span, f"call:{target.id}")
        plan = CallPlan(self.target(target), site, (), {}, {})
        self.calls[node] = plan
        self.called.append((node, plan))
        signature = self.environment.signature(target.id)
        if signature is None and plan.target.slot is None and plan.target.variable is None:
            self.unknown_target(target)

    def target(self, name: n.Name) -> Target:
        found = self.scope.find(name.id)
        base = self.bases.get(name.id)
        slot = base.cell if base is not None and base.kind == "slot" else None
        variable = found[0].cell if found is not None else None
        if variable is None and base is not None and base.kind != "slot":
            variable = base.cell  # an input or a config key may hold a reference
        static = self.environment.signature(name.id) is not None or name.id in self.uses
        shadowed = found is not None and found[0].read_only not in ("", "is a constant")
        return Target(name.id, name.span, slot, variable, static, shadowed)

    def unknown_target(self, name: n.Name) -> None:
        if name.id in self.broken_words:
            return
        if name.id in self.entry.services:
            if name.id not in self.unprovided:  # said once, and not at each of its calls
                advice = f"put {name.id}.prose.md beside this file, or give such a service (--services, --script)"
                self.report("P202", f"Services lists `{name.id}`, and nothing provides it", name, advice, name.id)
            self.unprovided.add(name.id)
            return
        candidates = [base.name for base in self.bases.values() if base.kind == "slot"]
        candidates += self.environment.names()
        # Of the variables, those of loops may hold a service; a result cannot be called.
        candidates += [name for scope in self.scope.chain() for name, held in scope.names.items() if held.read_only]
        close = self.nearest(name.id, dict.fromkeys(candidates))
        hint = did_you_mean(close)
        if hint is None and name.id in self.blocks:
            hint = f"`{name.id}` is a block: do {name.id}(…)"
        slots = [f"`{base.name}`" for base in self.bases.values() if base.kind == "slot"]
        if hint is None and 0 < len(slots) <= 8:
            hint = f"the slots are {', '.join(slots)}" if len(slots) > 1 else f"the slot is {slots[0]}"
        self.report("P202", f"there is nothing called `{name.id}` to call", name, hint, name.id)

    def names_resolve(self, expression: n.Expression) -> bool:
        """Whether every name in an expression means something here; names to call included."""
        called = {node.target for node in walk(expression) if isinstance(node, n.Invoke)}
        for node in walk(expression):
            if isinstance(node, n.Name):
                if node in called:
                    if self.environment.signature(node.id) is None:
                        return False
                elif self.lookup(node.id) is None and node.id != "config" and node.id not in self.broken_words:
                    return False
        return True
