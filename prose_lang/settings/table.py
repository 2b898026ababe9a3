"""A table of a TOML file, with the places of what stands in it, and the faults that are found in it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from typing import Any

import attrs

from prose_lang.diagnostics import CheckError, Diagnostic, SourceError, sort_diagnostics
from prose_lang.text import Source, Span, did_you_mean, nearest

_PLACE_IN_MESSAGE = re.compile(r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")


@attrs.frozen(eq=False)
class Table:
    """What stands at `way` in a file. `data` is a table in sound files, and anything in others."""

    source: Source
    way: tuple[str, ...]
    data: Any
    found: list[Diagnostic] = attrs.field(init=False, factory=list, repr=False)

    @property
    def written(self) -> str:
        """The way as it is written."""
        return ".".join(self.way)

    def fault(self, code: str, message: str, place: Span, hint: str | None = None) -> None:
        """Note what is wrong; `check` raises it."""
        self.found.append(Diagnostic(code, message, self.source, place, hint=hint))

    def check(self) -> None:
        """Raise CheckError with all that was noted."""
        if self.found:
            raise CheckError.from_diagnostics(sort_diagnostics(self.found))

    def place(self, *words: str) -> Span:
        """Where words stand, each looked for after the one before it, below the table's header if it has one.

        `tomllib` tells no places, and there are many ways to write a table: the nearest place found is the best.
        """
        at = 0
        found = Span(0, 0)
        header = r"[ \t]*\.[ \t]*".join(f"[\"']?{re.escape(name)}[\"']?" for name in self.way)
        text = self.source.text
        for pattern in (
            rf"^[ \t]*\[[ \t]*{header}(?=[ \t]*[\].])",
            *(rf"(?<![\w-]){re.escape(word)}(?![\w-])" for word in words),
        ):
            for match in re.compile(pattern, re.MULTILINE).finditer(text, at):
                line_start = text.rfind("\n", 0, match.start()) + 1
                if "#" not in text[line_start : match.start()]:
                    at, found = match.end(), Span(*match.span())
                    break
        return found


def read_table(source: Source, way: tuple[str, ...]) -> Table | None:
    """The table at `way` in a TOML text; None if there is none. Raises SourceError P103 if it is not TOML.

    >>> read_table(Source("prose.toml", "[lint]\\nignore = []"), ("lint",)).data
    {'ignore': []}
    """
    try:
        data: Any = tomllib.loads(source.text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise _malformed(source, str(error)) from None
    for name in way:
        data = data.get(name) if isinstance(data, dict) else None
    return Table(source, way, data) if data is not None else None


def meant(name: str, names: Iterable[str]) -> str | None:
    """The hint for a name that is nearly one of others."""
    close = nearest(name, names)
    return did_you_mean(close[:1])


def _malformed(source: Source, message: str) -> SourceError:
    match = _PLACE_IN_MESSAGE.search(message)
    said = message[: match.start()] if match else message
    at = len(source.text)
    if match and match["line"]:
        line, column = int(match["line"]), int(match["column"])
        column += line == 1 and source.text.startswith("\ufeff")
        at = min(at, source.line_start(line) + column - 1)
    said = said[:1].lower() + said[1:]
    return SourceError("P103", f"`{source.name}` is not TOML: {said}", source=source, span=Span(at, at))
