"""Expressions (L10–L13a). Most are plain functions; one with a call inside becomes a coroutine function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from prose_lang.runtime.access import index as index_of
from prose_lang.runtime.access import member as member_of
from prose_lang.runtime.access import single_output
from prose_lang.runtime.compiler.code import Frame, Value
from prose_lang.runtime.operators import BINARY, Refused, negate
from prose_lang.runtime.place import Place
from prose_lang.syntax import nodes as n
from prose_lang.values import GrowingList, TooLarge, interpolated
from prose_lang.values.model import MAX_TEXT

if TYPE_CHECKING:
    from prose_lang.runtime.compiler.compiler import Compiler


def compile_expression(c: Compiler, node: n.Expression) -> Value:
    """The closure of an expression."""
    match node:
        case n.Literal(value=value):
            return Value(lambda f: value)
        case n.Name():
            return Value(read(c, node))
        case n.Text(parts=parts):
            return _text(c, node, parts)
        case n.Member():
            return _member(c, node)
        case n.Index(object=inner, index=index):
            place = c.place(node)

            def look(values: Sequence[Any], f: Frame) -> Any:
                return index_of(values[0], values[1], place, f[0].run.warn)

            return combine([_inner(c, inner), compile_expression(c, index)], look)
        case n.ListLiteral(items=items):
            return _list([compile_expression(c, item) for item in items])
        case n.ObjectLiteral(entries=entries):
            return _object([entry.key for entry in entries], [compile_expression(c, e.value) for e in entries])
        case n.Unary(operator=operator, operand=operand):
            return _unary(c, node, operator, compile_expression(c, operand))
        case n.Binary(operator=operator, left=left, right=right):
            if operator in ("and", "or"):
                return _short_circuit(operator == "or", compile_expression(c, left), compile_expression(c, right))
            return _binary(c, node, operator, _inner(c, left), _inner(c, right))
        case n.Invoke():
            return c.invoke(node)


def combine(parts: Sequence[Value], make: Callable[[Sequence[Any], Frame], Any]) -> Value:
    """A value made of the values of its parts, evaluated from left to right."""
    if not any(part.waits for part in parts):
        runs = [part.run for part in parts]
        if len(runs) == 2:
            one, two = runs
            return Value(lambda f: make((one(f), two(f)), f))
        return Value(lambda f: make([run(f) for run in runs], f))

    async def run_all(f: Frame) -> Any:
        values = []
        for part in parts:
            values.append(await part.run(f) if part.waits else part.run(f))
        return make(values, f)

    return Value(run_all, waits=True)


# --- names -----------------------------------------------------------------------------------------------------------


def read(c: Compiler, node: n.Name) -> Callable[[Frame], Any]:
    """Reading a name as a whole. A list that `record` extends in place is shared from then on (L20)."""
    if node in c.program.config_reads:
        keys = [(base.name, base.cell) for base in c.program.bases if base.kind == "config"]
        return lambda f: {name: f[cell] for name, cell in keys}
    cell = c.program.reads.get(node)
    if cell is None:
        word = node.id  # a symbol: `model: sonnet` (L9)
        return lambda f: word
    if cell not in c.program.growing:
        return lambda f: f[cell]

    def read_growing(f: Frame) -> Any:
        value = f[cell]
        if type(value) is GrowingList:
            value.shared = True
        return value

    return read_growing


def _inner(c: Compiler, node: n.Expression) -> Value:
    """An expression of which only a part is taken, or a copy: a growing list stays private to its variable."""
    if isinstance(node, n.Name):
        cell = c.program.reads.get(node)
        if cell is not None:
            return Value(lambda f: f[cell])
    return compile_expression(c, node)


def _member(c: Compiler, node: n.Member) -> Value:
    name, place = node.name, c.place(node)
    inner = node.object
    if isinstance(inner, n.Name):
        if inner in c.program.config_reads:
            base = next((base for base in c.program.bases if base.kind == "config" and base.name == name), None)
            if base is not None:
                cell = base.cell
                return Value(lambda f: f[cell])
        variable = c.program.reads.get(inner)
        if variable is not None:
            alias = c.program.aliases.get(variable)
            return Value(_field_of_cell(variable, alias, name, place))
    part = compile_expression(c, inner)
    if part.waits:
        return combine([part], lambda values, f: _field(values[0], name, place, f))
    run = part.run

    def field(f: Frame) -> Any:
        value = run(f)
        if type(value) is dict and name in value:
            return value[name]
        return member_of(value, name, place, f[0].run.warn)

    return Value(field)


def _field(value: Any, name: str, place: Place, f: Frame) -> Any:
    return member_of(value, name, place, f[0].run.warn)


def _field_of_cell(cell: int, alias: int | None, name: str, place: Place) -> Callable[[Frame], Any]:
    def field(f: Frame) -> Any:
        value = f[cell]
        if type(value) is dict and name in value:
            return value[name]
        if alias is not None and f[alias] == name:
            return single_output(value, name)
        return member_of(value, name, place, f[0].run.warn)

    return field


# --- texts, lists, objects -------------------------------------------------------------------------------------------


def _text(c: Compiler, node: n.Text, parts: Sequence[str | n.Expression]) -> Value:
    place = c.place(node)
    values = [Value(_constant(part)) if isinstance(part, str) else compile_expression(c, part) for part in parts]

    def join(found: Sequence[Any], f: Frame) -> str:
        try:
            pieces = [interpolated(value) for value in found]
        except TooLarge as error:
            place.fail("P304", f"a value cannot be written into this text: {error}")
        if sum(map(len, pieces)) > MAX_TEXT:
            place.fail("P304", f"the text would be longer than {MAX_TEXT:,} characters")
        return "".join(pieces)

    return combine(values, join)


def _constant(value: Any) -> Callable[[Frame], Any]:
    return lambda f: value


def _list(parts: Sequence[Value]) -> Value:
    if any(part.waits for part in parts):
        return combine(parts, lambda values, f: list(values))
    runs = [part.run for part in parts]
    return Value(lambda f: [run(f) for run in runs])


def _object(keys: Sequence[str], parts: Sequence[Value]) -> Value:
    if any(part.waits for part in parts):
        return combine(parts, lambda values, f: dict(zip(keys, values, strict=True)))
    pairs = list(zip(keys, [part.run for part in parts], strict=True))
    return Value(lambda f: {key: run(f) for key, run in pairs})


# --- operators -------------------------------------------------------------------------------------------------------


def _unary(c: Compiler, node: n.Unary, operator: str, operand: Value) -> Value:
    if operator == "not":
        if operand.waits:
            return combine([operand], lambda values, f: not values[0])
        run = operand.run
        return Value(lambda f: not run(f))
    place = c.place(node)

    def minus(values: Sequence[Any], f: Frame) -> Any:
        try:
            return negate(values[0])
        except Refused as error:
            place.fail("P304", str(error))

    return combine([operand], minus)


def _binary(c: Compiler, node: n.Binary, operator: str, left: Value, right: Value) -> Value:
    place, operate = c.place(node), BINARY[operator]

    def apply(one: Any, two: Any) -> Any:
        try:
            return operate(one, two)
        except Refused as error:
            place.fail("P304", str(error))
        except TooLarge as error:
            place.fail("P304", str(error))

    if left.waits or right.waits:
        return combine([left, right], lambda values, f: apply(values[0], values[1]))
    one, two = left.run, right.run
    fast = _FAST.get(operator)
    if fast is not None:
        return Value(fast(one, two, apply))
    return Value(lambda f: apply(one(f), two(f)))


def _fast_add(one: Any, two: Any, apply: Any) -> Callable[[Frame], Any]:
    def run(f: Frame) -> Any:
        a, b = one(f), two(f)
        # Small integers are what loops count with; everything else takes the careful way.
        if type(a) is int and type(b) is int and -(1 << 53) < a < 1 << 53 and -(1 << 53) < b < 1 << 53:
            return a + b
        return apply(a, b)

    return run


def _fast_less(one: Any, two: Any, apply: Any) -> Callable[[Frame], Any]:
    def run(f: Frame) -> Any:
        a, b = one(f), two(f)
        if type(a) is int and type(b) is int:
            return a < b
        return apply(a, b)

    return run


_FAST: dict[str, Callable[[Any, Any, Any], Callable[[Frame], Any]]] = {"+": _fast_add, "<": _fast_less}


def _short_circuit(stop_at: bool, left: Value, right: Value) -> Value:
    """`and` and `or` give one of their sides, as the truth of it decides."""
    if not left.waits and not right.waits:
        one, two = left.run, right.run

        def choose(f: Frame) -> Any:
            value = one(f)
            return value if bool(value) is stop_at else two(f)

        return Value(choose)

    async def choose_waiting(f: Frame) -> Any:
        value = await left.run(f) if left.waits else left.run(f)
        if bool(value) is stop_at:
            return value
        return await right.run(f) if right.waits else right.run(f)

    return Value(choose_waiting, waits=True)
