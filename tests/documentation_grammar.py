"""The grammar of docs/language/grammar.md as data: reads it, and makes programs out of it.

The notation is that of the page. What a terminal in capitals may be is listed here; everything else comes from the
page.
"""

from __future__ import annotations

import random
import re
from typing import TypeAlias

_PIECE = re.compile(r'\s*("[^"]+"|[A-Za-z]+|[|()?*+=])')

#: A part of a grammar: a word in quotes, a name, or `("all" | "any" | "?" | "*" | "+", parts)`.
Part: TypeAlias = "str | tuple[str, list[Part]]"

_TERMINALS = {
    "NAME": ("x", "draft", "quality-bar", "n1", "_y"),
    "NUMBER": ("0", "3", "0.5", "1e3"),
    "STRING": ('"moss"', '"{ proceed: boolean }"', '"""two\nlines"""', '""'),
    "CONDITION": ("x", "draft.score >= 0.8", "draft meets x", "x is not empty", "**it reads well: all of it**"),
}
#: Signs that stand close to what is before or after them, so that they read as people write.
_CLOSE_LEFT = frozenset(") ] , : . LINE".split())
_CLOSE_RIGHT = frozenset("( [ .".split())


def read_grammar(text: str) -> dict[str, Part]:
    """The productions of a grammar by name. Raises AssertionError for what is not in the notation."""
    found: dict[str, Part] = {}
    joined = re.sub(r"\n +\|", " |", text)
    for line in filter(None, joined.splitlines()):
        match = re.fullmatch(r"(\w+) +=( .*)", line)
        assert match is not None, f"not a production: {line}"
        pieces = _PIECE.findall(match[2])
        assert "".join(pieces) == re.sub(r"\s+", "", match[2]), f"not in the notation: {line}"
        assert match[1] not in found, f"{match[1]} is defined twice"
        found[match[1]], rest = _alternatives(pieces, 0)
        assert rest == len(pieces), f"a bracket is missing: {line}"
    return found


def _alternatives(pieces: list[str], at: int) -> tuple[Part, int]:
    arms: list[Part] = []
    while True:
        row: list[Part] = []
        while at < len(pieces) and pieces[at] not in "|)":
            if pieces[at] == "(":
                part, at = _alternatives(pieces, at + 1)
                assert at < len(pieces), "a bracket is missing"
            else:
                part = pieces[at]
            at += 1
            if at < len(pieces) and pieces[at] in "?*+":
                part = (pieces[at], [part])
                at += 1
            row.append(part)
        arms.append(("all", row))
        if at == len(pieces) or pieces[at] == ")":
            return ("any", arms), at
        at += 1


def names_used(part: Part) -> set[str]:
    """The names that a part refers to."""
    if isinstance(part, str):
        return set() if part.startswith('"') else {part}
    return set().union(*map(names_used, part[1]))


def words_used(part: Part) -> set[str]:
    """The words and signs of a part."""
    if isinstance(part, str):
        return {part[1:-1]} if part.startswith('"') else set()
    return set().union(*map(words_used, part[1]))


class Maker:
    """Makes programs out of a grammar. Choices are taken in turn, so that rare ones come up as well."""

    def __init__(self, grammar: dict[str, Part], seed: int) -> None:
        self.grammar = grammar
        self.random = random.Random(seed)
        self.taken: dict[int, int] = {}
        self.shortest = _shortest(grammar)
        self.bare = True  # whether an `in` may stand here; not in what is recorded, as the page says

    def program(self, size: int, start: str = "program") -> str:
        """A program, or a statement of the kind `start`; beyond about `size` choices it takes the shortest way out."""
        self.left = size
        self.pieces: list[str] = []
        self.make(start)
        return _written(self.pieces)

    def make(self, part: Part) -> None:
        if isinstance(part, str):
            if part in _TERMINALS:
                self.pieces.append(self.random.choice(_TERMINALS[part]))
            elif part == "expression":
                # Expressions get a small budget of their own, or they would use up that of the program.
                left, self.left = self.left - 1, min(self.left, 9)
                self.make(self.grammar[part])
                self.left = left
            elif part in self.grammar:
                self.make(self.grammar[part])
            else:
                self.pieces.append(part[1:-1] if part.startswith('"') else part)
            return
        kind, parts = part
        if kind == "all":
            before = self.bare
            for index, one in enumerate(parts):
                self.bare = before and not (parts[0] in ('"record"', '"append"') and index == 1)
                self.make(one)
            self.bare = before
        elif kind == "any":
            self.left -= len(parts) > 1
            self.make(self.arm(part))
        else:
            times = int(kind == "+")
            if self.left > 0:
                times += self.random.choice((0, 1, 2, 3) if kind != "?" else (0, 1))
            elif kind == "?":
                times = int(self.random.random() < 0.15)  # what comes late in a long statement must come at times
            for _ in range(times):
                self.make(parts[0])

    def arm(self, part: tuple[str, list[Part]]) -> Part:
        """The alternative to take: the one taken least of late, or near the end the shortest."""
        arms = part[1] if self.bare else [arm for arm in part[1] if '"in"' not in arm[1]]
        if self.left <= 0:
            return min(arms, key=lambda arm: _length(arm, self.shortest))
        self.random.shuffle(order := list(arms))
        chosen = min(order, key=lambda arm: self.taken.get(id(arm), 0))
        self.taken[id(chosen)] = self.taken.get(id(chosen), 0) + 1
        return chosen


def _shortest(grammar: dict[str, Part]) -> dict[str, float]:
    """How many pieces each production takes at least."""
    found = dict.fromkeys(grammar, float("inf"))
    for _ in grammar:
        found = {name: _length(part, found) for name, part in grammar.items()}
    return found


def _length(part: Part, known: dict[str, float]) -> float:
    if isinstance(part, str):
        return known.get(part, 1)
    kind, parts = part
    if kind == "any":
        return min(_length(one, known) for one in parts)
    return 0 if kind in "?*" else 1 + sum(_length(one, known) for one in parts)


def _written(pieces: list[str]) -> str:
    text, level, fresh = "", 0, True
    before = ""
    for piece in pieces:
        if piece == "LINE":
            text, fresh = text + "\n", True
        elif piece in ("INDENT", "DEDENT"):
            level += 1 if piece == "INDENT" else -1
        else:
            sign = "(" if piece == "OPEN" else piece
            close = fresh or piece == "OPEN" or piece in _CLOSE_LEFT or before in _CLOSE_RIGHT
            # `xs [0]` is an index all the same, but a list begins with a bracket of its own.
            close = close or (piece == "[" and (before[-1:].isalnum() or before in ")]") and before not in _WORDS)
            text += ("  " * level if fresh else "") + ("" if close else " ") + sign
            fresh, before = False, sign
    return text


_WORDS = frozenset("return throw record append in to not and or == != let repeat".split())
