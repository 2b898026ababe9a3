"""Values for a person: a result written out, and the gist of a value on one line.

    To apply, use the form.

    score: 0.83
    rounds_used: 2

Programs read `--json`; nothing here is meant to be parsed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from prose_lang.diagnostics.visible import visible, width_of
from prose_lang.text import amount

#: Longer texts of a result stand in a block of their own.
_INLINE = 72
#: Levels of lists and objects that are laid out; what is deeper is JSON.
_LEVELS = 5
#: Names of fields that hold what a run is about, the first one present winning.
_MAIN = ("result", "text", "output", "answer", "final")

_LINE_BREAK = re.compile(r"\r\n|\n|\r")


def written(value: Any, *, harmless: bool) -> str:
    """A result written out. The text that a run is about comes first and bare, so that it can be copied.

    `harmless` is for terminals: what would act on one is replaced. Anywhere else a text is what it is.

    >>> print(written({"result": "Use the form.", "score": 0.83}, harmless=True))
    Use the form.
    <BLANKLINE>
    score: 0.83
    """
    return "\n".join(_Writing(harmless).result(value))


def brief(value: Any, width: int) -> str:
    """The gist of a value in at most `width` columns, harmless.

    >>> brief({"suggestions": ["a", "b"], "score": 0.5, "verdict": "revise"}, 60)
    'score 0.5, verdict revise, suggestions: 2 items'
    """
    match value:
        case str():
            return _quoted(value, width)
        case list():
            texts = [item for item in value if isinstance(item, str)]
            gist = f"{amount(len(value), 'item')}: {' | '.join(texts)}" if value and len(texts) == len(value) else ""
            return clipped(gist or amount(len(value), "item"), width)
        case dict():
            return clipped(", ".join(_field_gists(value)), width) or "{}"
        case _:
            return clipped(_scalar(value), width)


def clipped(text: str, width: int) -> str:
    """A text as one harmless line of at most `width` columns; `…` tells that there is more.

    >>> clipped("one two three", 8)
    'one two…'
    """
    start = text[: 4 * width]
    line = visible(" ".join(start.split()))
    if width_of(line) <= width and len(start) == len(text):
        return line
    while line and width_of(line) > width - 1:
        line = line[:-1]
    return f"{line.rstrip()}…"


@attrs.frozen
class _Writing:
    """The laying out of one result."""

    harmless: bool

    def result(self, value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield from self.lines(value) if self.harmless else (value,)
        elif isinstance(value, dict) and value:
            main = _main_field(value)
            if main is None:
                yield from self.fields(value, 0)
                return
            yield from self.result(value[main])
            rest = {name: item for name, item in value.items() if name != main}
            if rest:
                yield ""
                yield from self.fields(rest, 0)
        elif isinstance(value, list) and value:
            yield from self.items(value, 0)
        else:
            yield _scalar(value)

    def fields(self, value: Mapping[str, Any], level: int) -> Iterator[str]:
        indent = "  " * level
        after_block = False
        for index, (name, item) in enumerate(value.items()):
            block = _is_block(item, level)
            if level == 0 and index and (block or after_block):
                yield ""  # blocks get air at the top level, where there is room for it
            if block:
                yield f"{indent}{self.shown(name)}:"
                yield from self.block(item, level + 1)
            else:
                yield f"{indent}{self.shown(name)}: {self.inline(item)}"
            after_block = block

    def items(self, value: list[Any], level: int) -> Iterator[str]:
        indent = "  " * level
        for item in value:
            if not _is_block(item, level):
                yield f"{indent}- {self.inline(item)}"
                continue
            first, *more = self.block(item, level + 1)
            yield f"{indent}- {first.lstrip()}"
            yield from more

    def block(self, item: Any, level: int) -> Iterator[str]:
        if isinstance(item, str):
            for line in self.lines(item):
                yield f"{'  ' * level}{line}" if line else ""
        elif isinstance(item, dict):
            yield from self.fields(item, level)
        else:
            yield from self.items(item, level)

    def inline(self, item: Any) -> str:
        if isinstance(item, str) and item and item.strip() == item:
            return self.shown(item)
        return _scalar(item)

    def lines(self, text: str) -> Iterator[str]:
        for line in _LINE_BREAK.split(text):
            yield self.shown(line)

    def shown(self, text: str) -> str:
        return visible(text) if self.harmless else text


def _main_field(value: Mapping[str, Any]) -> str | None:
    """The field of an object that holds the text it is about; None if no field does."""
    named = next((name for name in _MAIN if isinstance(value.get(name), str)), None)
    if named is not None:
        return named
    texts = [name for name, item in value.items() if isinstance(item, str)]
    return texts[0] if len(texts) == 1 and _is_long(value[texts[0]]) else None


def _is_block(item: Any, level: int) -> bool:
    if isinstance(item, str):
        return _is_long(item)
    return isinstance(item, (list, dict)) and bool(item) and level < _LEVELS


def _is_long(text: str) -> bool:
    return len(text) > _INLINE or "\n" in text or "\r" in text


def _scalar(value: Any) -> str:
    return visible(json.dumps(value, ensure_ascii=False))


def _quoted(text: str, width: int) -> str:
    return f"“{clipped(text, max(1, width - 2))}”"


def _field_gists(value: Mapping[str, Any]) -> Iterator[str]:
    """Numbers and words first: they are what decisions are made of."""
    later = []
    for name, item in value.items():
        if isinstance(item, str) and not (item and len(item) <= 24 and "\n" not in item):
            later.append(f"{name} {_quoted(item, 40)}")
        elif isinstance(item, (list, dict)):
            later.append(f"{name}: {amount(len(item), 'item' if isinstance(item, list) else 'field')}")
        else:
            yield f"{name} {item if isinstance(item, str) else _scalar(item)}"
    yield from later
