"""The driver: walks the parse table over the tokens, and goes on after a fault.

Parsing never raises. At every line start the driver keeps a snapshot of its stacks. When a token does not fit, the
smallest broken line is reported once, the stacks go back to that line's start, a placeholder takes its place, and
reading resumes at the next line indented no deeper (§9 L9). The trees of all other statements survive.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any

import attrs

from prose_lang.diagnostics import Diagnostic, sort_diagnostics
from prose_lang.syntax import nodes as n
from prose_lang.syntax.builder import Builder
from prose_lang.syntax.expected import Fault, describe
from prose_lang.syntax.lexer import MAX_FAULTS, lex, lex_expression
from prose_lang.syntax.table import Table, table
from prose_lang.syntax.tokens import Token
from prose_lang.text import Source, Span

_WORD = re.compile(r"[^\W\d]\w*(?:-+\w+)*")


@attrs.frozen(eq=False)
class Parsed:
    """A program text's tree, its tokens, and what was wrong.

    `broken` are the spans that placeholders stand for; `broken_words` are the words in them: a name that is unknown
    only because its declaration could not be read is not a second fault.
    """

    source: Source
    span: Span
    body: n.Body
    tokens: tuple[Token, ...]
    diagnostics: tuple[Diagnostic, ...]
    broken: tuple[Span, ...]

    @property
    def broken_words(self) -> frozenset[str]:
        text = self.source.text
        return frozenset(word for span in self.broken for word in _WORD.findall(text, span.start, span.end))


def parse(source: Source, span: Span | None = None, indent: int = 0) -> Parsed:
    """Parse a program text, the whole of a source or the part in `span`, whose lines are indented by `indent`.

    >>> parsed = parse(Source("-", "let x = 1\\nreturn x\\n"))
    >>> [type(statement).__name__ for statement in parsed.body.statements]
    ['Let', 'Return']
    """
    span = span or Span(1 if source.text.startswith("\ufeff") else 0, len(source.text))
    lexed = lex(source, span.start, span.end, indent)
    run = _Run(source, lexed.tokens, lexed.line_starts)
    body = run.program()
    if body is None:
        body = n.Body(span.start, span.start, ())
    uneven = {item.span.start for item in lexed.diagnostics if item.code == "P111" and item.span is not None}
    # A line that is indented like none around it may stand in a place where it does not fit: that is one fault.
    told = [item for item in run.diagnostics if item.span is None or item.span.start not in uneven]
    told = [item for item in told if not any(_holds(span, item.span) for span in lexed.explained)]
    found = sort_diagnostics([*lexed.diagnostics, *told])
    broken = [Span(token.start, token.end) for token in lexed.tokens if token.kind == "MALFORMED"]
    return Parsed(source, span, body, tuple(lexed.tokens), tuple(found), tuple(broken + run.broken))


def _holds(stretch: Span, span: Span | None) -> bool:
    return span is not None and stretch.start <= span.start <= stretch.end


def parse_expression(source: Source, start: int, end: int) -> n.Expression | None:
    """The expression that a stretch of text is, or None if it is none."""
    return ExpressionParser(source)(start, end)


def parse_condition(
    source: Source, start: int, end: int, parser: ExpressionParser | None = None
) -> tuple[n.Condition, tuple[Diagnostic, ...]]:
    """The condition that a stretch of text is (L30), and what is wrong with the expression that all of it may be.

    >>> parse_condition(Source("-", "score >= 0.8"), 0, 12)[0].expression
    Binary(operator='>=', left=Name(id='score'), right=Literal(value=0.8))
    """
    found: list[Diagnostic] = []
    builder = Builder(source, found.append, parser or ExpressionParser(source))
    condition = builder.condition([Token("COND", start, end, source.text[start:end])])
    return condition, tuple(found)


@functools.cache
def _rules() -> tuple[tuple[str, int, Callable[[Builder, Any], Any] | None], ...]:
    """The productions with the builder's methods in their places; found once, for there are many parsers."""
    return tuple(
        (rule.origin, rule.size, getattr(Builder, rule.alias) if rule.alias else None) for rule in table().rules
    )


class _Driver:
    """The table with the builder's methods in the places of its rules."""

    def __init__(self, source: Source, builder: Builder) -> None:
        self.source = source
        self.builder = builder
        self.table: Table = table()
        self.rules = _rules()

    def feed(self, token: Token, states: list[int], values: list[Any]) -> dict[str, int] | None:
        """Take one token in. None if it fits, else what the state would have taken."""
        table_states, rules, builder, kind = self.table.states, self.rules, self.builder, token.kind
        while True:
            actions = table_states[states[-1]]
            action = actions.get(kind)
            if action is None:
                return actions
            if action >= 0:
                states.append(action)
                values.append(token)
                return None
            origin, size, make = rules[-1 - action]
            if size == 1:
                if make is not None:
                    values[-1] = make(builder, values[-1:])
                states[-1] = table_states[states[-2]][origin]
            else:
                children = values[-size:]
                del values[-size:]
                del states[-size:]
                assert make is not None, "a production of several symbols has an alias"
                values.append(make(builder, children))
                states.append(table_states[states[-1]][origin])
            if kind == "$END" and len(values) == 1 and len(states) == 2 and "$END" not in table_states[states[-1]]:
                return None


class ExpressionParser(_Driver):
    """Parses stretches of one source as lone expressions: conditions and their operands, by the hundred.

    >>> source = Source("-", "score meets bar + 1")
    >>> parser = ExpressionParser(source)
    >>> type(parser(12, 19)).__name__, parser(0, 19)
    ('Binary', None)
    """

    def __init__(self, source: Source) -> None:
        self.diagnostics: list[Diagnostic] = []
        super().__init__(source, Builder(source, self.diagnostics.append, self))

    def __call__(self, start: int, end: int) -> n.Expression | None:
        self.diagnostics.clear()
        tokens = lex_expression(self.source, start, end)
        if not tokens:
            return None
        states = [self.table.starts["lone_expression"]]
        values: list[Any] = []
        for token in [*tokens, Token("$END", end, end)]:
            if self.feed(token, states, values) is not None:
                return None
        result: n.Expression = values[0]
        return None if self.diagnostics else result


class _Run(_Driver):
    """One walk over the tokens of one program text."""

    def __init__(self, source: Source, tokens: list[Token], line_starts: list[int]) -> None:
        self.tokens = tokens
        self.line_starts = line_starts
        self.diagnostics: list[Diagnostic] = []
        self.broken: list[Span] = []
        self.told: set[int] = set()  # tokens whose fault is part of one that has been told
        self.strays: list[int] = []  # each `catch` and `finally` that stands below no `try`
        super().__init__(source, Builder(source, self.diagnostics.append, ExpressionParser(source)))

    def program(self) -> n.Body | None:
        tokens = self.tokens
        if not tokens:
            return None
        states = [self.table.starts["program"]]
        values: list[Any] = []
        starts = iter([*self.line_starts, -1])
        next_start = next(starts)
        # The snapshots of the open lines, the outermost first: (token index, states, values, depth of blocks).
        lines: list[tuple[int, list[int], list[Any], int]] = []
        depth = 0
        last = tokens[-1]
        stream = [*tokens, Token("$END", last.end, last.end)]
        index = 0
        while index < len(stream):
            token = stream[index]
            previous = lines[-1] if lines else None
            at_start = index == next_start
            if at_start:
                next_start = next(starts)
                while lines and lines[-1][3] >= depth:
                    previous = lines.pop() if lines[-1][3] == depth else (lines.pop(), previous)[1]
                lines.append((index, states[:], values[:], depth))
            expected = self.feed(token, states, values)
            if expected is None:
                depth += (token.kind == "INDENT") - (token.kind == "DEDENT")
                index += 1
                continue
            if token.kind in ("DEDENT", "$END"):
                while len(lines) > 1 and lines[-1][3] > depth:
                    lines.pop()  # the block that ends here has been read; the line that lacks something is around it
            outside = at_start or token.kind in ("DEDENT", "INDENT", "$END")
            header = previous if at_start else (lines[-1] if lines else None)
            kinds = frozenset(symbol for symbol in expected if symbol.isupper())  # terminals, no productions
            fault = describe(stream, index, kinds, outside, header[0] if header else None)
            if not self.is_told(index, token, fault, header):
                self.diagnostics.append(Diagnostic(fault.code, fault.message, self.source, fault.span, hint=fault.hint))
            if len(self.diagnostics) >= MAX_FAULTS or not lines:
                break
            back, resume = self.recovery(fault, index, lines, header)
            states[:], values[:], depth = back[1], list(back[2]), back[3]
            skipped = stream[back[0] : resume]
            start = skipped[0].start if skipped else token.start
            end = max((item.end for item in skipped if item.kind not in ("NEWLINE", "DEDENT")), default=start)
            self.broken.append(Span(start, end))
            if self.feed(Token("MALFORMED", start, end), states, values) is not None:
                break
            index = resume
            while next_start != -1 and next_start < index:
                next_start = next(starts)
        else:
            return values[0] if values and isinstance(values[0], n.Body) else None
        return self.salvage(states, values)

    def is_told(self, index: int, token: Token, fault: Fault, header: Any) -> bool:
        """Whether a fault is the other half of one that has been told: a `catch` that is indented unlike its `try`."""
        if index in self.told:
            return True
        if token.kind in ("CATCH", "FINALLY") and fault.code == "P101":
            self.strays.append(index)
        elif fault.lacks_handler and header is not None:
            if any(header[0] < stray < index for stray in self.strays):
                return True
            after = next((at for at in range(index, len(self.tokens)) if self.tokens[at].kind != "DEDENT"), index)
            if after < len(self.tokens) and self.tokens[after].kind in ("CATCH", "FINALLY"):
                self.told.add(after)
        return False

    def salvage(self, states: list[int], values: list[Any]) -> n.Body | None:
        """The statements that had been read at the outermost level when reading was given up."""
        pairs = values[0] if values else None
        return self.builder.statements(pairs) if isinstance(pairs, tuple) and len(pairs) == 2 else None

    def recovery(self, fault: Fault, index: int, lines: list[Any], header: Any) -> tuple[Any, int]:
        """The snapshot to go back to, and the token at which to go on."""
        tokens = self.tokens
        if fault.at_header and header is not None:
            # A header without its body: the line that we stand at is sound, the one before it is not.
            return header, index
        back = lines[-1]
        while index < len(tokens) and tokens[index].kind not in ("NEWLINE", "MALFORMED", "INDENT"):
            index += 1
        if index < len(tokens) and tokens[index].kind != "INDENT":
            index += 1
        if index < len(tokens) and tokens[index].kind == "INDENT":
            depth = 0
            while index < len(tokens):
                depth += (tokens[index].kind == "INDENT") - (tokens[index].kind == "DEDENT")
                index += 1
                if depth == 0:
                    break
        return back, index
