"""A condition's text cut into words, and the words that make a sentence more than it seems.

Says nothing about what a condition means; the layers (`phrases`, `verdicts`, `criteria`) do that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


def word_set(text: str) -> frozenset[str]:
    """The words of a closed list, written as people read it."""
    return frozenset(text.split())


#: Negations and conjunctions. A rule that meets one outside its own closed form abstains (L30.2).
LOGIC_WORDS = word_set(
    "not no never none nothing nobody no-one nowhere neither nor without cannot and or but either unless except"
)

#: In the free text after a verdict verb more words turn or narrow the sentence: contractions written without their
#: apostrophe, subordinate conjunctions, hedges, and verbs that begin a second clause.
_TURNING_WORDS = LOGIC_WORDS | word_set(
    """
    aint arent cant couldnt didnt doesnt dont hasnt havent isnt shouldnt wasnt werent wont wouldnt
    hardly barely scarcely rarely seldom partly partially almost nearly only some few less than instead
    if when whenever while whereas until till because since so then though although however yet lest
    is are was were be has have had does do did will would should must may might can could
    says said meets reaches exceeds contains includes accepts approves certifies passes rejects fails
    """
)

#: A word as prose has it: letters, digits, `_`, inner dots, apostrophes and hyphens, perhaps an index; or a string.
_PLAIN = re.compile(r'\w[\w.\'’-]*(\[[^\]]*\])*|"[^"]*"')
_INSIDE = re.compile(r"[\w'’-]+")
_STRING = re.compile(r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"', re.DOTALL)


class Word(NamedTuple):
    """A word and where it stands in the condition's text. `lower` is what the closed forms are compared with."""

    text: str
    start: int
    end: int
    lower: str


def cut(text: str) -> tuple[Word, ...] | None:
    """The words of a text: what whitespace separates, a string or a bracketed part being in one piece.

    None if a string or a bracket is never closed, for then nobody can say where a word ends.

    >>> [word.text for word in cut('xs[a b] is\\n "in progress"')]
    ['xs[a b]', 'is', '"in progress"']
    """
    words: list[Word] = []
    depth = 0
    begin: int | None = None
    at = 0
    while at < len(text):
        character = text[at]
        step = 1
        if character == '"':
            string = _STRING.match(text, at)
            if string is None:
                return None
            step = string.end() - at
        elif character in "([{":
            depth += 1
        elif character in ")]}" and depth:
            depth -= 1
        if depth == 0 and character.isspace():
            if begin is not None:
                words.append(_word(text, begin, at))
                begin = None
        elif begin is None:
            begin = at
        at += step
    if depth:
        return None
    if begin is not None:
        words.append(_word(text, begin, len(text)))
    return tuple(words)


def _word(text: str, start: int, end: int) -> Word:
    return Word(text[start:end], start, end, text[start:end].lower())


def is_free_text(words: Iterable[Word]) -> bool:
    """Whether words are plain prose that cannot turn or narrow the sentence they end.

    >>> is_free_text(cut("the whole proposal")), is_free_text(cut("the proposal but not the title"))
    (True, False)
    """
    return all(_PLAIN.fullmatch(word.text) and not _turns(word.lower) for word in words)


def _turns(lower: str) -> bool:
    if "n't" in lower or "n’t" in lower:
        return True
    # A string is looked into, for its words are part of the sentence; a path such as `result.or` is one word.
    parts = _INSIDE.findall(lower) if lower.startswith('"') else [lower.rstrip(".")]
    return any(part in _TURNING_WORDS for part in parts)
