"""Finding a table of settings: `[NAME]` of `prose.toml`, `[tool.prose.NAME]` of `pyproject.toml`.

They are looked for in a folder and those above it, up to the one that holds `.git` or the root of an installed
dependency; the first table found counts, and in one folder that of `prose.toml`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import attrs

from prose_lang.diagnostics import SourceError
from prose_lang.documents.places import is_dependency
from prose_lang.settings.table import Table, read_table
from prose_lang.text import Source


@attrs.frozen(eq=False)
class SettingsFiles:
    """The tables of one name, each file read once."""

    name: str
    _known: dict[Path, Table | None] = attrs.field(init=False, factory=dict, repr=False)

    def table(self, folder: Path) -> Table | None:
        """The table that counts in a folder. Raises SourceError P103 for a file that cannot be read or is not TOML."""
        folder = Path(os.path.abspath(folder))
        if folder not in self._known:
            self._known[folder] = self._find(folder)
        return self._known[folder]

    def _find(self, folder: Path) -> Table | None:
        for name, way in (("prose.toml", (self.name,)), ("pyproject.toml", ("tool", "prose", self.name))):
            path = folder / name
            if os.path.isfile(path):
                table = read_table(_source(path), way)
                if table is not None:
                    return table
        if folder.parent == folder or os.path.exists(folder / ".git") or is_dependency(folder):
            return None
        return self.table(folder.parent)


def project_folder(folder: Path) -> Path | None:
    """The project that a folder belongs to: the nearest folder, up to the one with `.git`, that has a `prose.toml`, a
    table `[tool.prose]` in its `pyproject.toml`, or a folder `.prose`; None if there is none.

    A folder of another user's is nobody's project: what is kept there, they could read. Raises SourceError P103.
    """
    folder = Path(os.path.abspath(folder))
    for candidate in (folder, *folder.parents):
        if _is_project(candidate) and is_own(candidate):
            return candidate
        if os.path.exists(candidate / ".git") or is_dependency(candidate):
            return None
    return None


def is_own(folder: Path) -> bool:
    """Whether a folder belongs to the user, as far as the system tells owners apart. All of them belong to root."""
    if sys.platform == "win32":
        return True
    try:
        return os.getuid() in (0, os.stat(folder).st_uid)
    except OSError:
        return False


def _is_project(folder: Path) -> bool:
    if os.path.isfile(folder / "prose.toml") or os.path.isdir(folder / ".prose"):
        return True
    path = folder / "pyproject.toml"
    return os.path.isfile(path) and read_table(_source(path), ("tool", "prose")) is not None


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
