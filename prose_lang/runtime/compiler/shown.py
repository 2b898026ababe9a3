"""What a decision shows of the values it read (L30): names, or the parts of them that its expression looks at.

A decision stays in the trace for the whole run. It therefore shows no long list, keeps no growing one (L20), and a look
at a value for the trace's sake neither warns nor fails.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from prose_lang.conditions.rule import Operand
from prose_lang.diagnostics import RunError
from prose_lang.runtime.access import index, member, single_output
from prose_lang.runtime.compiler.code import Frame
from prose_lang.runtime.compiler.expressions import read
from prose_lang.runtime.place import Place
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import children, walk
from prose_lang.values import GrowingList, kind_of

if TYPE_CHECKING:
    from prose_lang.runtime.compiler.compiler import Compiler

#: Entries of a list or object beyond which only their number is shown.
MOST_ENTRIES = 100


def bounded(value: Any) -> Any:
    """A value as a decision keeps it."""
    if isinstance(value, (list, dict)):
        if len(value) > MOST_ENTRIES:
            return f"(a {kind_of(value)} of {len(value):,} entries)"
        if type(value) is GrowingList:
            return list(value)
    return value


def parts_read(c: Compiler, expression: n.Expression) -> list[tuple[Operand, Callable[[Frame], Any]]]:
    """The names and parts of them that an expression reads, each once, in the order of the text."""
    found: dict[str, n.Expression] = {}
    stack: list[n.Node] = [expression]
    text = c.program.source.text
    while stack:
        node = stack.pop()
        if isinstance(node, n.Invoke):
            stack.extend(reversed(node.arguments))
        elif isinstance(node, (n.Name, n.Member, n.Index)) and _is_path(node):
            found.setdefault(text[node.start : node.end], node)
            stack.extend(part.index for part in walk(node) if isinstance(part, n.Index))
        else:
            stack.extend(reversed(tuple(children(node))))
    return [(Operand(node, label), _shown(_look(c, node))) for label, node in found.items()]


def _is_path(node: n.Expression) -> bool:
    """Whether a node is a name, or access to parts of one that calls nothing."""
    while isinstance(node, (n.Member, n.Index)):
        if isinstance(node, n.Index) and any(isinstance(part, n.Invoke) for part in walk(node.index)):
            return False
        node = node.object
    return isinstance(node, n.Name)


def _look(c: Compiler, node: n.Expression) -> Callable[[Frame], Any]:
    place = c.place(node)
    if isinstance(node, n.Index):
        inner, key = _look(c, node.object), c.expression(node.index).run
        return lambda f: index(inner(f), key(f), place, _silent)
    if isinstance(node, n.Member):
        whole, name = _look(c, node.object), node.name
        cell = c.program.reads.get(node.object) if isinstance(node.object, n.Name) else None
        alias = c.program.aliases.get(cell) if cell is not None else None

        def field(f: Frame) -> Any:
            value = whole(f)
            if alias is not None and f[alias] == name:
                return single_output(value, name)
            return member(value, name, place, _silent)

        return field
    assert isinstance(node, n.Name)
    at = c.program.reads.get(node)
    return read(c, node) if at is None else lambda f: f[at]


def _shown(look: Callable[[Frame], Any]) -> Callable[[Frame], Any]:
    def shown(f: Frame) -> Any:
        try:
            return bounded(look(f))
        except RunError:
            return None  # the expression did not look there: `and` and `or` stop early

    return shown


def _silent(place: Place, code: str, message: str) -> None:
    return None
