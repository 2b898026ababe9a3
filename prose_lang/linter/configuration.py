"""Settings from `prose.toml` (its table `[lint]`) and `pyproject.toml` (`[tool.prose.lint]`).

    select = ["re-let", "unused-variable"]     # only these; all rules where it is not given
    ignore = ["judge-needed"]                  # not these
    severity = { re-let = "note" }             # error, warning or note

They are looked for in the folder of a file and those above it, up to the one that holds `.git` or the root of an
installed dependency; the first table found counts, and in one folder that of `prose.toml`. Everything that is wrong
in a file is told at its place.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from prose_lang.diagnostics import CheckError, Diagnostic, Severity, SourceError, sort_diagnostics
from prose_lang.documents.places import is_dependency
from prose_lang.linter.registry import RULES
from prose_lang.linter.settings import Settings
from prose_lang.text import Source, Span, nearest

#: The files in the order in which they count, with the way to the table in each.
_FILES = (("prose.toml", ("lint",)), ("pyproject.toml", ("tool", "prose", "lint")))
_KEYS = ("select", "ignore", "severity")
_SEVERITIES = {severity.value: severity for severity in Severity}
_PLACE_IN_MESSAGE = re.compile(r" \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)$")


@attrs.frozen(eq=False)
class Configurations:
    """The settings of files, each configuration read once."""

    _known: dict[Path, Settings] = attrs.field(init=False, factory=dict, repr=False)

    def settings(self, folder: Path) -> Settings:
        """What counts in a folder. Raises ProseError for a configuration that is faulty or cannot be read."""
        folder = Path(os.path.abspath(folder))
        known = self._known.get(folder)
        if known is None:
            known = self._find(folder)
            self._known[folder] = known
        return known

    def _find(self, folder: Path) -> Settings:
        for name, way in _FILES:
            path = folder / name
            if os.path.isfile(path):
                settings = read_configuration(_source(path), way)
                if settings is not None:
                    return settings
        if folder.parent == folder or os.path.exists(folder / ".git") or is_dependency(folder):
            return Settings()
        return self.settings(folder.parent)


def read_configuration(source: Source, way: tuple[str, ...]) -> Settings | None:
    """The settings in a TOML text, whose table stands at `way`; None if there is no such table. Raises ProseError.

    >>> read_configuration(Source("prose.toml", '[lint]\\nignore = ["re-let"]'), ("lint",)).ignore
    frozenset({'re-let'})
    """
    try:
        table: Any = tomllib.loads(source.text.removeprefix("\ufeff"))
    except tomllib.TOMLDecodeError as error:
        raise _malformed(source, str(error)) from None
    for name in way:
        table = table.get(name) if isinstance(table, dict) else None
    if table is None:
        return None
    reader = _Reader(source, way)
    settings = reader.settings(table)
    if reader.found:
        raise CheckError.from_diagnostics(sort_diagnostics(reader.found))
    return settings


class _Reader:
    """Reads one table and notes what is wrong in it."""

    def __init__(self, source: Source, way: tuple[str, ...]) -> None:
        self.source = source
        self.way = way
        self.found: list[Diagnostic] = []

    def fault(self, code: str, message: str, place: Span, hint: str | None = None) -> None:
        self.found.append(Diagnostic(code, message, self.source, place, hint=hint))

    def settings(self, table: Any) -> Settings:
        if not isinstance(table, dict):
            self.fault("P211", f"`{'.'.join(self.way)}` is a table", self.place())
            return Settings()
        for key in table:
            if key not in _KEYS:
                hint = _meant(key, _KEYS) or f"it has {', '.join(_KEYS)}"
                self.fault("P210", f"the linter has no setting `{key}`", self.place(key), hint)
        select = self.names("select", table["select"]) if "select" in table else None
        ignore = self.names("ignore", table.get("ignore", []))
        return Settings(select, ignore, self.severities(table.get("severity", {})))

    def names(self, key: str, value: Any) -> frozenset[str]:
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            self.fault("P211", f"`{key}` is a list of names of rules", self.place(key), f'{key} = ["re-let"]')
            return frozenset()
        for name in value:
            self.known(name, self.place(key, name))
        return frozenset(value)

    def severities(self, value: Any) -> Mapping[str, Severity]:
        if not isinstance(value, dict):
            self.fault("P211", "`severity` is a table of names of rules", self.place("severity"),
                       'severity = { re-let = "note" }')  # fmt: skip
            return {}
        found = {}
        for name, word in value.items():
            self.known(name, self.place("severity", name))
            if isinstance(word, str) and word in _SEVERITIES:
                found[name] = _SEVERITIES[word]
            else:
                hint = f"one of {', '.join(_SEVERITIES)}; to silence a rule, add it to `ignore`"
                self.fault("P211", f"the severity of `{name}` is a word", self.place("severity", name), hint)
        return found

    def known(self, name: str, place: Span) -> None:
        if name not in RULES:
            hint = _meant(name, RULES) or "`prose explain` lists the rules"
            self.fault("P210", f"there is no rule `{name}`", place, hint)

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


def _meant(name: str, names: Iterable[str]) -> str | None:
    close = nearest(name, names)
    return f"did you mean `{close[0]}`?" if close else None


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


def _source(path: Path) -> Source:
    try:
        shown = os.path.relpath(path)
    except ValueError:  # another drive
        shown = str(path)
    shown = str(path) if shown.startswith("..") else shown
    try:
        return Source(shown, path.read_bytes().decode("utf-8"))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError("P103", f"`{shown}` cannot be read: {reason}") from None
    except UnicodeDecodeError:
        raise SourceError("P103", f"`{shown}` is not UTF-8", hint="save it as UTF-8") from None
