"""What to say when a token does not fit: the message, the place, and whether the line before is to blame."""

from __future__ import annotations

from collections.abc import Sequence, Set

import attrs

from prose_lang.syntax.tokens import KEYWORDS, Token
from prose_lang.text import Span, did_you_mean, nearest

_SYMBOLS = {
    "LPAR": "(", "TIGHT_LPAR": "(", "RPAR": ")", "LBRACK": "[", "RBRACK": "]", "LBRACE": "{", "RBRACE": "}",
    "COMMA": ",", "COLON": ":", "DOT": ".", "EQ": "=", "PIPE": "|", "INTO": "in",
}  # fmt: skip
_OPERATORS = frozenset(
    {"EQEQ", "NE", "LT", "LE", "GT", "GE", "PLUS", "MINUS", "STAR", "SLASH", "AND", "OR", "NOT", "IN"}
)
_COMPARISONS = frozenset({"EQEQ", "NE", "LT", "LE", "GT", "GE"})
_STATEMENT_ONLY = {
    "ELSE": "there is no `if` that this `else` belongs to",
    "ELIF": "there is no `if` that this `elif` belongs to",
    "CATCH": "there is no `try` that this `catch` belongs to",
    "FINALLY": "there is no `try` that this `finally` belongs to",
    "OPTION": "there is no `choice` that this `option` belongs to",
}
#: What is said of such a line where a line of that kind goes before it.
_OUT_OF_ORDER = {
    ("ELSE", "ELSE"): "this `if` has an `else` already",
    ("ELIF", "ELSE"): "an `elif` stands before the `else`",
    ("CATCH", "CATCH"): "this `try` has a `catch` already",
    ("CATCH", "FINALLY"): "a `catch` stands before the `finally`",
    ("FINALLY", "FINALLY"): "this `try` has a `finally` already",
}
_STAGES = ("map", "pmap", "filter", "reduce")
#: Declarations of older texts, and where they belong now (L3).
_OLD_DECLARATIONS = {"input": "Requires", "output": "Ensures"}
_BARE_HEADERS = frozenset({"else", "try", "catch", "finally", "parallel", "loop", "do"})
_ACTIONS = frozenset(
    {"CALL", "SESSION", "RESUME", "PARALLEL", "REPEAT", "FOR", "LOOP", "DO", "IF", "TRY", "CHOICE"},
)


@attrs.frozen
class Fault:
    """What is said of a token that does not fit.

    `at_header` blames the line before, which lacks its body; `lacks_handler` tells that this is a `try` alone.
    """

    code: str
    message: str
    span: Span
    hint: str | None = None
    at_header: bool = False
    lacks_handler: bool = False


def describe(
    tokens: Sequence[Token],
    index: int,
    expected: Set[str],
    outside: bool,
    header: int | None,
) -> Fault:
    """The fault of `tokens[index]`, where only `expected` kinds fit.

    `outside` tells that the token begins a line or ends a block; `header` is the index of the first token of the line
    before it.
    """
    token = tokens[index]
    previous = tokens[index - 1] if index else None
    recording = header is not None and tokens[header].kind in ("RECORD", "APPEND")
    word = "to" if recording and header is not None and tokens[header].kind == "APPEND" else "in"
    wanted = f"; expected `{word}` and the name of a list" if recording and "INTO" in expected else _wanted(expected)
    if outside and header is not None:
        fault = _missing_block(tokens, index, expected, header)
        if fault is not None:
            return fault
    span = Span(token.start, token.end)
    if token.kind == "INDENT" or (
        expected <= {"PIPE", "MALFORMED"} and previous is not None and previous.kind == "INDENT"
    ):
        return Fault("P111", "this line is indented deeper than the block it stands in", _at(tokens, index),
                     "indent it like the line above it")  # fmt: skip
    if token.kind == "NEWLINE" or token.kind == "$END":
        end = previous.end if previous else token.start
        if expected == {"COLON"} and previous is not None and previous.text in _BARE_HEADERS:
            return Fault("P101", f"expected `:` at the end of this `{previous.text}`", Span(end, end))
        if expected == {"COLON"} and index > 1 and tokens[index - 2].kind in ("INDENT", "NEWLINE", "DEDENT"):
            return Fault("P101", "expected `name: value`", Span(tokens[index - 1].start, end))
        if "COLON" in expected and "NEWLINE" not in expected:
            return Fault("P101", "expected `:` at the end of this line", Span(end, end))
        if previous is not None and (previous.kind in _OPERATORS or previous.kind == "EQ"):
            return Fault("P101", f"expected a value after `{previous.text}`", Span(previous.start, end))
        return Fault("P101", f"this line ends too early{wanted}", Span(end, end))
    if previous is not None and previous.kind in ("LET", "CONST", "AS", "FOR") and token.text in KEYWORDS:
        return Fault("P101", f"`{token.text}` is a keyword and cannot name a variable", span, "choose another name")
    # Words that need no condition look like keys when something stands right of their colon.
    one_line = token.kind == "COLON" and previous is not None and previous.text in _BARE_HEADERS
    if one_line or (previous is not None and previous.kind == "COLON" and expected == {"NEWLINE"}):
        return Fault("P101", "the body of this line must stand on the lines below it, indented", span,
                     "break the line after the colon")  # fmt: skip
    if outside and token.kind in _STATEMENT_ONLY:
        before = _line_before(tokens, index)
        message = _OUT_OF_ORDER.get((token.kind, before))
        owner = {"ELSE": "if", "ELIF": "if", "OPTION": "choice"}.get(token.kind, "try")
        where = "below" if owner == "choice" else "right below the body of"
        hint = None if message else f"it stands {where} its `{owner}`" + (", indented like it" * (owner != "choice"))
        return Fault("P101", message or _STATEMENT_ONLY[token.kind], span, hint)
    if expected == {"COLON"} and previous is not None and _begins_line(tokens, index - 1):
        return Fault("P101", f"expected `:` after `{previous.text}`", span,
                     f"lines below a call are `name: value`: {previous.text}: {token.text}")  # fmt: skip
    if previous is not None and (found := _told_by_the_word_before(tokens, index, previous, span)):
        return found
    if "NAME" in expected and "COLON" not in expected and expected <= {
        "NAME", "STRING", "SESSION", "RESUME", "MALFORMED", "DEDENT", "PIPE"
    } and "SESSION" in expected:  # fmt: skip
        return Fault("P101", "expected `name: value`", span, "the lines below a call bind its inputs")
    if expected <= {"OPTION", "MALFORMED", "DEDENT"} and "OPTION" in expected:
        return Fault("P101", 'expected `option "label":`', span)
    if token.kind in _ACTIONS and "NAME" in expected:
        return Fault("P101", f"a `{token.text}` cannot stand inside an expression or a header", span,
                     f"bind it first: let x = {token.text} …")  # fmt: skip
    if token.kind == "EQEQ" and expected == {"EQ"}:
        return Fault("P101", "`==` compares, and does not set a variable", span, "write a single `=`")
    if token.kind == "EQ":
        return Fault("P101", "`=` does not fit here", span, "compare with `==`; assign with `name = value` on a line")
    if token.kind in _COMPARISONS and "AND" in expected:
        return Fault("P101", "comparisons do not chain", span, "write `a < b and b < c`")
    if previous is not None and previous.kind == "INDENT" and token.kind == "PIPE":
        return Fault("P101", "there is nothing before this `|`", span)
    shown = token.text or {"INDENT": "this indentation", "DEDENT": "the end of the block"}.get(token.kind, token.kind)
    if token.kind == "COMMA" and token.start == token.end:
        return Fault("P101", f"a line break does not fit here{wanted}", Span(token.start, token.start))
    entries = "COMMA" in expected and not expected.isdisjoint({"RBRACK", "RBRACE", "RPAR"}) and token.kind != "COLON"
    hint = "separate entries with a comma" if entries and not wanted else None
    return Fault("P101", f"`{shown}` does not fit here{wanted}", span, hint)


def _told_by_the_word_before(tokens: Sequence[Token], index: int, previous: Token, span: Span) -> Fault | None:
    """What the token before tells: a stage that there is not, the names of `reduce`, a declaration of old."""
    token = tokens[index]
    if previous.kind == "PIPE" and token.kind == "NAME":
        close = nearest(token.text, _STAGES, 1)
        hint = did_you_mean(close[:1]) or f"there are {', '.join(_STAGES)}"
        return Fault("P101", f"`{token.text}` is no stage of a pipeline", span, hint)
    inside = any(one.kind == "REDUCE" for one in tokens[max(0, index - 4) : index])
    if inside and token.kind in ("COLON", "RPAR"):
        return Fault("P101", "a `reduce` names the value so far and the next entry", span, "write | reduce(sum, item):")
    if token.text == "times" and any(one.kind == "REPEAT" for one in tokens[max(0, index - 8) : index]):
        return Fault("P101", "`times` does not fit here; the count stands alone", span, "write repeat N:")
    section = _OLD_DECLARATIONS.get(previous.text)
    if section is not None and token.kind == "NAME" and _begins_line(tokens, index - 1):
        whole = Span(previous.start, token.end)
        message = f"a body declares no {previous.text}s"
        return Fault("P101", message, whole, f"declare it as an item under ### {section}: - `{token.text}`: …")
    return None


def _begins_line(tokens: Sequence[Token], index: int) -> bool:
    return index == 0 or tokens[index - 1].kind in ("NEWLINE", "INDENT", "DEDENT")


def _line_before(tokens: Sequence[Token], index: int) -> str:
    """The kind of the first token of the line before this one in the same list of statements; "" if there is none."""
    depth = 0
    for at in range(index - 1, -1, -1):
        kind = tokens[at].kind
        depth += (kind == "DEDENT") - (kind == "INDENT")
        if depth < 0:
            return ""
        if depth == 0 and kind not in ("NEWLINE", "INDENT", "DEDENT") and _begins_line(tokens, at):
            return kind
    return ""


def _missing_block(tokens: Sequence[Token], index: int, expected: Set[str], header: int) -> Fault | None:
    first = tokens[header]
    last = next((tokens[k] for k in range(index - 1, header - 1, -1) if tokens[k].kind not in
                 ("NEWLINE", "DEDENT", "INDENT")), first)  # fmt: skip
    if expected == {"INDENT"}:
        what = "an option" if first.kind == "CHOICE" else "a line"
        return Fault("P101", f"expected {what} below, indented deeper than this one", Span(first.start, last.end),
                     at_header=True)  # fmt: skip
    if "CATCH" in expected and "FINALLY" in expected and first.kind == "TRY":
        after = next((token for token in tokens[index:] if token.kind != "DEDENT"), first)
        is_stray = after.kind in ("CATCH", "FINALLY")
        stray = f"the `{after.text}` that follows is not indented like it" if is_stray else "add catch as problem:"
        return Fault("P101", "a `try` needs a `catch` or a `finally`", Span(first.start, first.end), stray,
                     at_header=True, lacks_handler=True)  # fmt: skip
    return None


def _at(tokens: Sequence[Token], index: int) -> Span:
    """The first token with a width from here on."""
    for token in tokens[index:]:
        if token.end > token.start:
            return Span(token.start, token.end)
    return Span(tokens[index].start, tokens[index].end)


def _wanted(expected: Set[str]) -> str:
    """At most a few readable possibilities."""
    if "NUMBER" in expected:
        return "; expected a value"
    symbols = list(dict.fromkeys(f"`{_SYMBOLS[kind]}`" for kind in sorted(expected) if kind in _SYMBOLS))
    if "NAME" in expected and len(expected) <= 3:
        symbols.insert(0, "a name")
    if "STRING" in expected and len(expected) <= 2:
        symbols.insert(0, "a string")
    if 0 < len(symbols) <= 4:
        return "; expected " + " or ".join(symbols)
    return ""
