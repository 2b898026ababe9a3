"""Tokens, the words that can be keywords, and trivia.

A token keeps the offsets of its text in the host file. What lies between two tokens is trivia: spaces, comments and
line breaks that separate nothing. Tokens and trivia together are the text, byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from prose_lang.text import Span

#: Words that are special as the first word of a statement or where the grammar wants one (L9).
KEYWORDS = {
    word: word.upper()
    for word in (
        "let const call return repeat for loop if elif else choice try catch finally throw parallel record append"
        " break continue block do session agent resume use as in and or not true false null"
    ).split()
}

_COMMENT = re.compile(r"#[^\r\n]*")


class Token:
    """A piece of program text. `kind` is the terminal's name in the grammar; layout tokens have no width."""

    __slots__ = ("end", "kind", "start", "text")

    def __init__(self, kind: str, start: int, end: int, text: str = "") -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.text = text

    def __repr__(self) -> str:
        return f"Token({self.kind} {self.start}:{self.end} {self.text!r})"


class Comment(NamedTuple):
    """A comment, from its `#` to the end of the line."""

    span: Span
    text: str


def with_trivia(text: str, tokens: Sequence[Token], start: int, end: int) -> Iterator[tuple[str, Token | None]]:
    """Each token with the trivia before it, then the trivia at the end with None.

    Joining trivia and `text[token.start:token.end]` gives `text[start:end]` back.
    """
    position = start
    for token in tokens:
        yield text[position : token.start], token
        position = token.end
    yield text[position:end], None


def comments(text: str, tokens: Sequence[Token], start: int, end: int) -> list[Comment]:
    """All comments between the tokens of a program text, in order."""
    found = []
    position = start
    for stop, resume in [*((token.start, token.end) for token in tokens), (end, end)]:
        for match in _COMMENT.finditer(text, position, stop):
            found.append(Comment(Span(*match.span()), match.group()))
        position = resume
    return found
