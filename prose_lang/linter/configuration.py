"""Settings from `prose.toml` (its table `[lint]`) and `pyproject.toml` (`[tool.prose.lint]`).

    select = ["re-let", "unused-variable"]     # only these; all rules where it is not given
    ignore = ["judge-needed"]                  # not these
    severity = { re-let = "note" }             # error, warning or note

Where they are looked for is `settings/files.py`. Everything that is wrong in a file is told at its place.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import attrs

from prose_lang.diagnostics import Severity
from prose_lang.linter.registry import RULES
from prose_lang.linter.settings import Settings
from prose_lang.settings import SettingsFiles, Table, read_table
from prose_lang.settings.table import meant
from prose_lang.text import Source, Span

_KEYS = ("select", "ignore", "severity")
_SEVERITIES = {severity.value: severity for severity in Severity}


@attrs.frozen(eq=False)
class Configurations:
    """The settings of files, each configuration read once."""

    _files: SettingsFiles = attrs.field(init=False, factory=lambda: SettingsFiles("lint"), repr=False)
    _known: dict[Path, Settings] = attrs.field(init=False, factory=dict, repr=False)

    def settings(self, folder: Path) -> Settings:
        """What counts in a folder. Raises ProseError for a configuration that is faulty or cannot be read."""
        folder = Path(os.path.abspath(folder))
        known = self._known.get(folder)
        if known is None:
            table = self._files.table(folder)
            known = self._known[folder] = Settings() if table is None else _settings(table)
        return known


def read_configuration(source: Source, way: tuple[str, ...]) -> Settings | None:
    """The settings in a TOML text, whose table stands at `way`; None if there is no such table. Raises ProseError.

    >>> read_configuration(Source("prose.toml", '[lint]\\nignore = ["re-let"]'), ("lint",)).ignore
    frozenset({'re-let'})
    """
    table = read_table(source, way)
    return None if table is None else _settings(table)


def _settings(table: Table) -> Settings:
    settings = _Reader(table).settings(table.data)
    table.check()
    return settings


class _Reader:
    """Reads one table and notes what is wrong in it."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.fault = table.fault
        self.place = table.place

    def settings(self, data: Any) -> Settings:
        if not isinstance(data, dict):
            self.fault("P211", f"`{self.table.written}` is a table", self.place())
            return Settings()
        for key in data:
            if key not in _KEYS:
                hint = meant(key, _KEYS) or f"it has {', '.join(_KEYS)}"
                self.fault("P210", f"the linter has no setting `{key}`", self.place(key), hint)
        select = self.names("select", data["select"]) if "select" in data else None
        ignore = self.names("ignore", data.get("ignore", []))
        return Settings(select, ignore, self.severities(data.get("severity", {})))

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
            hint = meant(name, RULES) or "`prose explain` lists the rules"
            self.fault("P210", f"there is no rule `{name}`", place, hint)
