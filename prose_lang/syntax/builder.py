"""From productions to nodes: one method for each alias of the grammar. Says what was written, not what it means."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from prose_lang.diagnostics import Diagnostic
from prose_lang.syntax import nodes as n
from prose_lang.syntax.tokens import Token
from prose_lang.text import Source, Span

#: Deepest nesting of one expression (P307): later walks recurse over expressions.
MAX_EXPRESSION = 100
#: A condition that is longer is never an expression: reading an essay as one takes long and comes to nothing.
MAX_CONDITION = 10_000
#: So many unknown escapes of one string are told one by one.
MAX_ESCAPES = 20

_PIECE = re.compile(r"\\(.|\r\n)|\{([^\W\d]\w*(?:-+\w+)*(?:\.[^\W\d]\w*(?:-+\w+)*)*)\}|\r\n", re.DOTALL)
_ESCAPES = {"\\": "\\", '"': '"', "n": "\n", "t": "\t", "{": "{", "}": "}"}
_CONSTANTS = {"TRUE": True, "FALSE": False, "NULL": None}


def flatten(pairs: Any) -> tuple[Any, ...]:
    """The items of a left-recursive list `((None, a), b)`, without those that a placeholder stood for."""
    items = []
    while pairs is not None:
        pairs, item = pairs
        if item is not None:
            items.append(item)
    items.reverse()
    return tuple(items)


class Builder:
    """The methods are called with the children of a production: tokens, nodes, and pairs of lists."""

    def __init__(
        self,
        source: Source,
        report: Callable[[Diagnostic], None],
        parse_expression: Callable[[int, int], n.Expression | None],
    ) -> None:
        self.source = source
        self.text = source.text
        self.report = report
        self.parse_expression = parse_expression
        self.groups: dict[Any, Span] = {}

    def fault(self, code: str, message: str, start: int, end: int, hint: str | None = None) -> None:
        self.report(Diagnostic(code, message, self.source, Span(start, end), hint=hint))

    # --- lists and wrappers ------------------------------------------------------------------------------------------

    def first(self, c: list[Any]) -> Any:
        return (None, c[0])

    def more(self, c: list[Any]) -> Any:
        return (c[0], c[1])

    def more_after_comma(self, c: list[Any]) -> Any:
        return (c[0], c[2])

    def same(self, c: list[Any]) -> Any:
        return c[0]

    token = same

    def program(self, c: list[Any]) -> n.Body:
        return self.statements(c[0])

    def lone_expression(self, c: list[Any]) -> n.Expression:
        expression: n.Expression = c[0]
        return expression

    def body(self, c: list[Any]) -> n.Body:
        return self.statements(c[2])

    def statements(self, pairs: Any) -> n.Body:
        found = flatten(pairs)
        return n.Body(found[0].start, found[-1].end, found)

    def checked(self, value: Any) -> Any:
        """A whole expression, if it is not nested too deeply for the walks to come."""
        if value.end - value.start > MAX_EXPRESSION and _depth_exceeds(value, MAX_EXPRESSION):
            self.fault("P307", f"an expression is nested more than {MAX_EXPRESSION} deep", value.start, value.start + 1)
            return n.Literal(value.start, value.end, None)
        return value

    # --- statements --------------------------------------------------------------------------------------------------

    def let(self, c: list[Any]) -> n.Let:
        return n.Let(c[0].start, self.end_of(c[3]), self.name([c[1]]), c[3], c[0].kind == "CONST")

    def destructure(self, c: list[Any]) -> n.Destructure:
        names = tuple(self.name([token]) for token in flatten(c[2]))
        return n.Destructure(c[0].start, self.end_of(c[5]), names, c[5], c[0].kind == "CONST")

    def assign(self, c: list[Any]) -> n.Assign | n.Malformed:
        target, _, value = c
        path: list[str | n.Expression] = []
        start, end = self.start_of(target), self.end_of(value)
        inner = self.checked(target)
        if inner is not target:
            return n.Malformed(start, end)  # it is nested too deeply, which has been said
        while not isinstance(inner, n.Name):
            if isinstance(inner, n.Member):
                path.append(inner.name)
            elif isinstance(inner, n.Index):
                path.append(inner.index)
            else:
                self.fault(
                    "P101",
                    "this cannot be assigned to",
                    target.start,
                    target.end,
                    hint="assign to a name or to a field of one; compare with `==`",
                )
                return n.Malformed(start, end)
            inner = inner.object
        return n.Assign(start, end, inner, tuple(reversed(path)), value)

    def evaluate(self, c: list[Any]) -> n.Evaluate:
        return n.Evaluate(self.start_of(c[0]), self.end_of(c[0]), c[0])

    def return_nothing(self, c: list[Any]) -> n.Return:
        return n.Return(c[0].start, c[0].end, None)

    def return_value(self, c: list[Any]) -> n.Return:
        return n.Return(c[0].start, self.end_of(c[1]), c[1])

    def throw(self, c: list[Any]) -> n.Throw:
        value = self.checked(c[1]) if len(c) == 3 else None
        return n.Throw(c[0].start, self.end_of(c[1]) if value else c[0].end, value)

    def record(self, c: list[Any]) -> n.Record:
        return n.Record(c[0].start, c[3].end, self.checked(c[1]), self.name([c[3]]))

    def break_(self, c: list[Any]) -> n.Break:
        return n.Break(c[0].start, c[0].end)

    def continue_(self, c: list[Any]) -> n.Continue:
        return n.Continue(c[0].start, c[0].end)

    def block_plain(self, c: list[Any]) -> n.BlockDef:
        return n.BlockDef(c[0].start, c[-1].end, self.name([c[1]]), (), c[-1])

    def block_with(self, c: list[Any]) -> n.BlockDef:
        names = tuple(self.name([token]) for token in flatten(c[3]))
        return n.BlockDef(c[0].start, c[-1].end, self.name([c[1]]), names, c[-1])

    def agent(self, c: list[Any]) -> n.AgentDef:
        properties = flatten(c[5])
        return n.AgentDef(c[0].start, properties[-1].end if properties else c[2].end, self.name([c[1]]), properties)

    def use(self, c: list[Any]) -> n.Use:
        alias = self.name([c[3]]) if len(c) == 5 else None
        return n.Use(c[0].start, c[-2].end, self.plain_text(c[1]), alias)

    def malformed(self, c: list[Any]) -> n.Malformed:
        return n.Malformed(c[0].start, c[0].end)

    def nothing(self, c: list[Any]) -> None:
        return None

    malformed_property = malformed_option = malformed_stage = nothing

    def malformed_handlers(self, c: list[Any]) -> list[Any]:
        return []

    # --- values ------------------------------------------------------------------------------------------------------

    def plain_value(self, c: list[Any]) -> n.Expression:
        expression: n.Expression = self.checked(c[0])
        return expression

    def pipeline(self, c: list[Any]) -> n.Pipeline:
        return self.piped(c[0], c[1])

    def pipeline_below(self, c: list[Any]) -> n.Pipeline:
        return self.piped(c[0], c[3])

    def pipeline_below_call(self, c: list[Any]) -> n.Pipeline:
        head = c[:-4]  # without NEWLINE INDENT … DEDENT
        return self.piped(self.call_inline(head) if len(head) == 2 else self.call_inline_with(head), c[-2])

    def piped(self, source: n.Value, pairs: Any) -> n.Pipeline:
        stages = flatten(pairs)
        end = stages[-1].end if stages else self.end_of(source)
        return n.Pipeline(self.start_of(source), end, self.checked(source), stages)

    def stage(self, c: list[Any]) -> n.Stage:
        return n.Stage(c[0].start, c[3].end, c[1].text, (), c[3])

    def reduce_stage(self, c: list[Any]) -> n.Stage:
        names = (self.name([c[3]]), self.name([c[5]]))
        return n.Stage(c[0].start, c[8].end, c[1].text, names, c[8])

    def call_inline(self, c: list[Any]) -> n.Call:
        return n.Call(c[0].start, c[1].end, self.target(c[1]), False, None, ())

    def call_inline_with(self, c: list[Any]) -> n.Call:
        arguments = tuple(self.checked(item) for item in flatten(c[3])) if len(c) == 5 else ()
        return n.Call(c[0].start, c[-1].end, self.target(c[1]), False, arguments, ())

    def call(self, c: list[Any]) -> n.Call:
        last = c[-1]
        properties = last if isinstance(last, tuple) else ()
        arguments: tuple[n.Expression, ...] | None = None
        end = c[1].end
        if len(c) > 3:
            arguments = tuple(self.checked(item) for item in flatten(c[3])) if len(c) == 6 else ()
            end = c[-2].end
        if properties:
            end = properties[-1].end
        quoted = c[1].kind == "STRING"
        return n.Call(c[0].start, end, self.target(c[1]), quoted, arguments, properties)

    def target(self, token: Token) -> n.Name:
        if token.kind == "STRING":
            return n.Name(token.start, token.end, self.plain_text(token))
        return n.Name(token.start, token.end, token.text)

    def below(self, c: list[Any]) -> tuple[n.Property, ...]:
        return flatten(c[2])

    def property_(self, c: list[Any]) -> n.Property:
        key, value = c[0], c[2]
        return n.Property(key.start, self.end_of(value), self.key_text(key), key.end, value)

    def nested_property(self, c: list[Any]) -> n.Property:
        nested = flatten(c[4])
        end = nested[-1].end if nested else c[1].end
        return n.Property(c[0].start, end, self.key_text(c[0]), c[0].end, None, nested)

    def key_text(self, token: Token) -> str:
        return self.plain_text(token) if token.kind == "STRING" else token.text

    def session(self, c: list[Any]) -> n.Session:
        properties = c[-1] if isinstance(c[-1], tuple) else ()
        words = [token for token in c[1:-1] if token.kind in ("NAME", "STRING")]
        end = properties[-1].end if properties else words[-1].end
        prompt = self.string([c[1]]) if c[1].kind == "STRING" else None
        agent = None if prompt is not None else self.name([words[-1]])
        label = words[0].text if len(words) == 2 else None
        return n.Session(c[0].start, end, label, agent, prompt, properties)

    def resume(self, c: list[Any]) -> n.Resume:
        properties = c[-1] if isinstance(c[-1], tuple) else ()
        end = properties[-1].end if properties else c[2].end
        return n.Resume(c[0].start, end, self.name([c[2]]), properties)

    def do_body(self, c: list[Any]) -> n.Do:
        return n.Do(c[0].start, c[2].end, None, (), c[2])

    def do_block(self, c: list[Any]) -> n.Do:
        arguments = tuple(self.checked(item) for item in flatten(c[3])) if len(c) == 6 else ()
        return n.Do(c[0].start, c[-2].end, self.name([c[1]]), arguments, None)

    def parallel(self, c: list[Any]) -> n.Parallel:
        modifiers = c[1] if len(c) == 4 else ()
        return n.Parallel(c[0].start, c[-1].end, modifiers, c[-1])

    def parallel_for(self, c: list[Any]) -> n.ParallelFor:
        index = self.name([c[4]]) if c[3].kind == "COMMA" else None
        at = 6 if index else 4
        modifiers = c[at + 1] if isinstance(c[at + 1], tuple) else ()
        return n.ParallelFor(c[0].start, c[-1].end, self.name([c[2]]), index, self.checked(c[at]), modifiers, c[-1])

    def parallel_repeat(self, c: list[Any]) -> n.ParallelRepeat:
        modifiers, variable = c[3] if len(c) == 6 else ((), None)
        return n.ParallelRepeat(c[0].start, c[-1].end, self.checked(c[2]), variable, modifiers, c[-1])

    def tail(self, c: list[Any]) -> tuple[tuple[n.Modifier, ...], n.Name | None]:
        modifiers: tuple[n.Modifier, ...] = next((item for item in c if isinstance(item, tuple)), ())
        named = next((token for token in c if isinstance(token, Token) and token.kind == "NAME"), None)
        return modifiers, self.name([named]) if named else None

    def modifiers(self, c: list[Any]) -> tuple[n.Modifier, ...]:
        return flatten(c[1])

    def modifier(self, c: list[Any]) -> n.Modifier:
        value = self.checked(c[-1])
        return n.Modifier(self.start_of(c[0]), self.end_of(c[-1]), c[0].text if len(c) == 3 else None, value)

    def repeat(self, c: list[Any]) -> n.Repeat:
        modifiers, variable = c[2] if len(c) == 5 else ((), None)
        self.no_modifiers(modifiers, "repeat")
        return n.Repeat(c[0].start, c[-1].end, self.checked(c[1]), variable, c[-1])

    def no_modifiers(self, modifiers: Sequence[n.Modifier], word: str) -> None:
        if modifiers:
            self.fault("P212", f"a `{word}` takes no modifiers", modifiers[0].start, modifiers[-1].end)

    def for_(self, c: list[Any]) -> n.For:
        index = self.name([c[3]]) if c[2].kind == "COMMA" else None
        return n.For(c[0].start, c[-1].end, self.name([c[1]]), index, self.checked(c[-3]), None, c[-1])

    def for_plain_each(self, c: list[Any]) -> n.For:
        return self.for_([c[0], *c[2:]])

    def for_each(self, c: list[Any]) -> n.For:
        index = self.name([c[5]]) if c[4].kind == "COMMA" else None
        at = 7 if index else 5
        modifiers, counter = c[at + 1] if isinstance(c[at + 1], tuple) else ((), None)
        if counter is not None:
            self.fault("P101", "`loop for each` has no `as`", counter.start, counter.end,
                       hint="write `for each x, i in …` to count the passes")  # fmt: skip
        limit = self.limit(modifiers)
        return n.For(c[0].start, c[-1].end, self.name([c[3]]), index, self.checked(c[at]), limit, c[-1])

    def limit(self, modifiers: Sequence[n.Modifier]) -> n.Expression | None:
        found = None
        for modifier in modifiers:
            if modifier.name == "max" and found is None:
                found = modifier.value
            else:
                self.fault("P212", "a loop takes one modifier, `max`", modifier.start, modifier.end,
                           hint="write `(max: 5)`")  # fmt: skip
        return found

    def loop(self, c: list[Any]) -> n.Loop:
        kind, condition = "forever", None
        if isinstance(c[1], Token) and c[1].kind in ("UNTIL", "WHILE"):
            kind, condition = c[1].text, c[2]
        modifiers, variable = c[-3] if isinstance(c[-3], tuple) else ((), None)
        return n.Loop(c[0].start, c[-1].end, kind, condition, self.limit(modifiers), variable, c[-1])

    def condition(self, c: list[Any]) -> n.Condition:
        token = c[0]
        short = 0 < len(token.text) <= MAX_CONDITION
        expression = self.parse_expression(token.start, token.end) if short else None
        if expression is not None:
            expression = self.checked(expression)
        return n.Condition(token.start, token.end, token.text, expression)

    def if_(self, c: list[Any]) -> n.If:
        arms = [n.Arm(c[0].start, c[3].end, c[1], c[3])]
        rest = c[4:]
        if rest and isinstance(rest[0], tuple):
            arms.extend(flatten(rest[0]))
        otherwise = rest[-1] if rest and isinstance(rest[-1], n.Body) else None
        end = otherwise.end if otherwise else arms[-1].end
        return n.If(c[0].start, end, tuple(arms), otherwise)

    def arm(self, c: list[Any]) -> n.Arm:
        return n.Arm(c[0].start, c[3].end, c[1], c[3])

    def choice(self, c: list[Any]) -> n.Choice:
        options = flatten(c[5])
        return n.Choice(c[0].start, options[-1].end if options else c[2].end, c[1], options)

    def option(self, c: list[Any]) -> n.Option:
        return n.Option(c[0].start, c[3].end, self.plain_text(c[1]), c[3])

    def try_(self, c: list[Any]) -> n.Try:
        parts: list[Any] = c[3]
        name: n.Name | None = None
        handler: n.Body | None = None
        cleanup: n.Body | None = None
        where = ""
        for part in parts:
            if isinstance(part, n.Body):
                if where == "CATCH":
                    handler = part
                else:
                    cleanup = part
            elif part.kind in ("CATCH", "FINALLY"):
                where = part.kind
            elif part.kind == "NAME":
                name = self.name([part])
        end = parts[-1].end if parts else c[2].end
        return n.Try(c[0].start, end, c[2], name, handler, cleanup)

    def handlers(self, c: list[Any]) -> list[Any]:
        return c

    # --- expressions -------------------------------------------------------------------------------------------------

    def binary(self, c: list[Any]) -> n.Binary:
        left, operator, right = c
        return n.Binary(self.start_of(left), self.end_of(right), operator.text, left, right)

    def binary_not_in(self, c: list[Any]) -> n.Binary:
        return n.Binary(self.start_of(c[0]), self.end_of(c[3]), "not in", c[0], c[3])

    def unary(self, c: list[Any]) -> n.Unary | n.Literal:
        operator, operand = c
        if operator.kind == "MINUS" and isinstance(operand, n.Literal) and type(operand.value) in (int, float):
            return n.Literal(operator.start, self.end_of(operand), -operand.value)
        return n.Unary(operator.start, self.end_of(operand), operator.text, operand)

    def member(self, c: list[Any]) -> n.Member:
        return n.Member(self.start_of(c[0]), c[2].end, c[0], c[2].text)

    def index(self, c: list[Any]) -> n.Index:
        return n.Index(self.start_of(c[0]), c[3].end, c[0], c[2])

    def invoke(self, c: list[Any]) -> n.Invoke:
        arguments = flatten(c[2]) if len(c) == 4 else ()
        return n.Invoke(c[0].start, c[-1].end, self.name([c[0]]), arguments)

    def name(self, c: list[Any]) -> n.Name:
        token = c[0]
        return n.Name(token.start, token.end, token.text)

    def number(self, c: list[Any]) -> n.Literal:
        token = c[0]
        text = token.text
        value: float | int
        if text.isdigit():
            value = int(text) if len(text) <= 300 else float("inf")
        else:
            value = float(text)
        if value == float("inf"):
            self.fault("P101", "this number is too large", token.start, token.end)
            value = 0
        return n.Literal(token.start, token.end, value)

    def constant(self, c: list[Any]) -> n.Literal:
        return n.Literal(c[0].start, c[0].end, _CONSTANTS[c[0].kind])

    def grouped(self, c: list[Any]) -> n.Expression:
        expression: n.Expression = c[1]
        self.groups[expression] = Span(c[0].start, c[2].end)
        return expression

    def start_of(self, part: Any) -> int:
        """Where a node or token begins, with the brackets around it: `(a + b) * c` begins at its bracket."""
        return self.groups[part].start if part in self.groups else int(part.start)

    def end_of(self, part: Any) -> int:
        return self.groups[part].end if part in self.groups else int(part.end)

    def list_(self, c: list[Any]) -> n.ListLiteral:
        return n.ListLiteral(c[0].start, c[-1].end, flatten(c[1]) if len(c) == 3 else ())

    def object_(self, c: list[Any]) -> n.ObjectLiteral:
        return n.ObjectLiteral(c[0].start, c[-1].end, flatten(c[1]) if len(c) == 3 else ())

    def shorthand(self, c: list[Any]) -> n.ObjectEntry:
        name = c[0]
        return n.ObjectEntry(name.start, name.end, name.id, name)

    def entry(self, c: list[Any]) -> n.ObjectEntry:
        return n.ObjectEntry(c[0].start, self.end_of(c[2]), self.key_text(c[0]), c[2])

    # --- strings -----------------------------------------------------------------------------------------------------

    def string(self, c: list[Any]) -> n.Literal | n.Text:
        """A string with its escapes read and its interpolations parsed (L10)."""
        token = c[0]
        width = 3 if token.end - token.start >= 6 and token.text.startswith('"""') else 1
        start, end = token.start + width, token.end - width
        raw = self.text[start:end]
        if "\\" not in raw and "{" not in raw and "\r" not in raw:
            return n.Literal(token.start, token.end, raw)
        parts: list[str | n.Expression] = []
        plain: list[str] = []
        position = faults = 0
        for match in _PIECE.finditer(raw):
            plain.append(raw[position : match.start()])
            position = match.end()
            escape, reference = match.groups()
            if reference is not None:
                parts.append("".join(plain))
                plain.clear()
                parts.append(self.reference(reference, start + match.start() + 1))
            elif escape is None:
                plain.append("\n")  # a line break is a line break, however the file spells it
            else:
                plain.append(_ESCAPES.get(escape, "\\" + escape))
                if escape not in _ESCAPES and faults < MAX_ESCAPES:
                    faults += 1
                    self.bad_escape(escape, start + match.start())
        plain.append(raw[position:])
        if not parts:
            return n.Literal(token.start, token.end, "".join(plain))
        parts.append("".join(plain))
        return n.Text(token.start, token.end, tuple(part for part in parts if part != ""))

    def bad_escape(self, char: str, start: int) -> None:
        self.fault("P110", f"`\\{char}` is not an escape", start, start + 1 + len(char),
                   hint='the escapes are \\\\ \\" \\n \\t \\{ and \\}; write `\\\\` for a backslash')  # fmt: skip

    def reference(self, words: str, start: int) -> n.Expression:
        first, *fields = words.split(".")
        node: n.Expression = n.Name(start, start + len(first), first)
        end = start + len(first)
        for field in fields:
            end += 1 + len(field)
            node = n.Member(start, end, node, field)
        return node

    def plain_text(self, token: Token) -> str:
        """A string where only a plain text makes sense: nothing is interpolated."""
        made = self.string([token])
        if isinstance(made, n.Literal):
            return str(made.value)
        return "".join(
            part if isinstance(part, str) else "{" + self.text[part.start : part.end] + "}" for part in made.parts
        )


def _depth_exceeds(value: Any, limit: int) -> bool:
    """Whether an expression is nested more than `limit` deep; walks with a stack of its own."""
    stack: list[tuple[Any, int]] = [(value, 1)]
    while stack:
        node, depth = stack.pop()
        if depth > limit:
            return True
        match node:
            case n.Binary():
                stack += [(node.left, depth + 1), (node.right, depth + 1)]
            case n.Unary():
                stack.append((node.operand, depth + 1))
            case n.Member():
                stack.append((node.object, depth + 1))
            case n.Index():
                stack += [(node.object, depth + 1), (node.index, depth + 1)]
            case n.ListLiteral():
                stack += [(item, depth + 1) for item in node.items]
            case n.ObjectLiteral():
                stack += [(entry.value, depth + 1) for entry in node.entries]
            case n.Invoke():
                stack += [(item, depth + 1) for item in node.arguments]
            case n.Text():
                stack += [(part, depth + 1) for part in node.parts if not isinstance(part, str)]
            case _:
                pass
    return False
