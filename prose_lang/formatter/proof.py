"""The proof that must be given before anything is written: the same program with the same comments, and stable.

It reads both texts again with the parser that runs them and trusts nothing of the passes. It is stricter than equality
of the trees: tokens are compared too, so that no string can have changed in its spelling.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import attrs

from prose_lang.diagnostics import Diagnostic
from prose_lang.formatter.programs import Program
from prose_lang.syntax import Parsed, comments
from prose_lang.syntax.nodes import Node
from prose_lang.syntax.visiting import walk
from prose_lang.text import Source, Span

#: Fields of nodes that are places.
_PLACES = frozenset({"start", "end", "name_end"})
_LAYOUT = frozenset({"NEWLINE", "INDENT", "DEDENT"})


class Refused(AssertionError):
    """Formatting would have changed more than the looks of a file: a fault of the formatter, never of the file.

    `diagnostics` say so to a person, as those of a ProseError do.
    """

    def __init__(self, source: Source, what: str, span: Span | None = None) -> None:
        super().__init__(what)
        hint = "this is a fault of `prose fmt`, not of your file; please report it with the lines in question"
        said = f"not formatted, because {what}"
        self.diagnostics = (Diagnostic(None, said, source, span, name="format-refused", hint=hint),)


def prove_same(source: Source, before: list[Program], result: Source, after: list[Program]) -> None:
    """Raise Refused unless the programs of two texts are the same, and the texts around them too."""
    if len(before) != len(after) or _around(source, before) != _around(result, after):
        raise Refused(source, "the text around the program would change")
    prove_same_programs(source, before, after)


def prove_same_programs(source: Source, before: list[Program], after: list[Program]) -> None:
    """Raise Refused unless two lists of programs are the same."""
    if len(before) != len(after):
        raise Refused(source, "a program would be lost")
    for old, new in zip(before, after, strict=True):
        if what := difference(old.parsed, new.parsed):
            raise Refused(source, what, Span(old.span.start, old.span.start))


def difference(before: Parsed, after: Parsed) -> str | None:
    """What is different between two programs besides spaces, line breaks and the commas between entries.

    >>> from prose_lang.syntax import parse
    >>> one, two = parse(Source("-", "x=[1,2]")), parse(Source("-", "x = [\\n  1\\n  2\\n]\\n"))
    >>> difference(one, two) is None, difference(one, parse(Source("-", "x = [1, 3]\\n")))
    (True, 'a word of the program would change')
    """
    if _remarks(before) != _remarks(after):
        return "a comment would be lost or moved past another one"
    if _words(before) != _words(after):
        return "a word of the program would change"
    if any(one != two for one, two in zip_longest(_shapes(before.body), _shapes(after.body))):
        return "the program would have another meaning"
    return None


def _around(source: Source, programs: list[Program]) -> list[str]:
    """The texts before, between and after the programs."""
    texts, position = [], 0
    for program in programs:
        texts.append(source.text[position : program.span.start])
        position = program.span.end
    return [*texts, source.text[position:]]


def _remarks(parsed: Parsed) -> list[str]:
    found = comments(parsed.source.text, parsed.tokens, parsed.span.start, parsed.span.end)
    return [comment.text.rstrip(" \t") for comment in found]


def _words(parsed: Parsed) -> list[str]:
    """The tokens without commas: what was written, and where lines end and blocks begin and end.

    Neither whether a word is a keyword there nor whether a bracket touches the word before it: the tree tells.
    """
    text = parsed.source.text
    return [
        token.kind if token.kind in _LAYOUT else text[token.start : token.end]
        for token in parsed.tokens
        if token.kind != "COMMA"
    ]


def _shapes(body: Node) -> Iterator[Any]:
    """The nodes without their places, each with the names and kinds of what it holds."""
    for node in walk(body):
        kind: Any = type(node)
        fields = [field.name for field in attrs.fields(kind) if field.name not in _PLACES]
        yield kind.__name__, [(name, _shape(getattr(node, name))) for name in fields]


def _shape(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_shape(item) for item in value]
    # The kind too: 1, 1.0 and true are equal in Python.
    return type(value).__name__, None if isinstance(value, Node) else value
