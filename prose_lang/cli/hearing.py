"""Answers that are on their way, for the live line and for `--output jsonl`.

Secrets are found in whole texts only, and a text that comes in pieces may end within one. So nothing is passed on but
whole words: what stands before the last blank, or before the last character that no key has.
"""

from __future__ import annotations

from prose_lang.cli.values import clipped
from prose_lang.diagnostics.redact import Redactor
from prose_lang.diagnostics.visible import visible, width_of
from prose_lang.runtime.events import CallFinished, Event, TextDelta

#: Characters of a text that are kept for its tail.
_KEPT = 4000


def whole_words(text: str) -> int:
    """How many characters of a text are whole words.

    >>> whole_words("the key is sk-123"), whole_words("über"), whole_words("日本の")
    (11, 1, 3)
    """
    for position in range(len(text), 0, -1):
        character = text[position - 1]
        if character.isspace() or not character.isascii():
            return position
    return 0


class Hearing:
    """What the calls under way have said so far, by their numbers. Written by one thread, read by another."""

    def __init__(self) -> None:
        self._texts: dict[int, tuple[int, str]] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, TextDelta):
            request, text = self._texts.get(event.number, (0, ""))
            before = text if request == event.request else ""
            self._texts[event.number] = (event.request, (before + event.text)[-_KEPT:])
        elif self._texts and isinstance(event, CallFinished):
            self._texts.pop(event.number, None)

    def tail(self, redactor: Redactor, width: int) -> str:
        """The end of what the oldest of those calls has said, in so many columns; empty if there is nothing to show."""
        texts = dict(self._texts)
        if not texts or width < 2:
            return ""
        _, text = texts[min(texts)]
        said = " ".join(redactor.text(text[: whole_words(text)]).split())
        shown = visible(said[-width:])
        if len(said) <= width and width_of(shown) <= width:
            return shown
        while shown and width_of(shown) > width - 1:
            shown = shown[1:]
        return f"…{shown.lstrip()}"


class Pieces:
    """Cuts what calls say into pieces of whole words."""

    def __init__(self) -> None:
        self._left: dict[int, TextDelta] = {}

    def next(self, delta: TextDelta) -> tuple[TextDelta, ...]:
        """What can be told now: perhaps the rest of a request that was given up, perhaps some words of this one."""
        import attrs

        left = self._left.pop(delta.number, None)
        told = []
        if left is not None and left.request == delta.request:
            delta = attrs.evolve(delta, text=left.text + delta.text)
        elif left is not None:
            told.append(left)
        end = whole_words(delta.text)
        if end:
            told.append(attrs.evolve(delta, text=delta.text[:end]))
        if end < len(delta.text):
            self._left[delta.number] = attrs.evolve(delta, text=delta.text[end:])
        return tuple(told)

    def rest(self, number: int) -> tuple[TextDelta, ...]:
        """What is left of a call that has ended."""
        left = self._left.pop(number, None)
        return () if left is None else (left,)


def with_tail(line: str, hearing: Hearing, redactor: Redactor, width: int, least: int = 16) -> str:
    """A line of at most `width` columns, with the tail of what is heard behind it if there is room for `least`."""
    line = clipped(line, width)
    room = width - width_of(line) - 3
    tail = hearing.tail(redactor, room) if room >= least else ""
    return f"{line} · {tail}" if tail else line
