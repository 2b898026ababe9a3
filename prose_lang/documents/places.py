"""Where a file looks for what it names, and what it may not leave (L8).

A project is the nearest folder above a file that holds `src/` and one of `prose.toml`, `pyproject.toml`, `.git` and
`deps/`; without one the file's own folder is all there is. An installed dependency, `deps/HOST/OWNER/REPO/`, is a
project of its own, so that it can neither see nor be led into the project that installed it.
"""

from __future__ import annotations

import os
from pathlib import Path

import attrs

_MARKERS = ("prose.toml", "pyproject.toml", ".git", "deps")


@attrs.frozen
class Place:
    """The folder of a file, the root it may not leave, and the folder of installed dependencies."""

    folder: Path
    root: Path
    deps: Path

    @property
    def source_folder(self) -> Path:
        """The project's `src/`, whether it exists or not."""
        return self.root / "src"

    def allows(self, path: Path, folder: Path) -> bool:
        """Whether a file found below one of the folders stays inside the root, all symbolic links followed.

        What was looked for among the dependencies must be there. Beside the file, its real folder counts too, because
        the user may have passed a path that leads through a link.
        """
        real = path.resolve()
        if folder == self.deps:
            return real.is_relative_to(self.deps.resolve())
        return real.is_relative_to(self.root.resolve()) or real.parent == self.folder.resolve()


def place_of(path: Path) -> Place:
    """The place of a file; the path must be absolute."""
    folder = path.parent
    for ancestor in (folder, *folder.parents):
        if is_dependency(ancestor):
            return Place(folder, ancestor, ancestor.parents[2])
        if os.path.isdir(ancestor / "src") and any(os.path.exists(ancestor / marker) for marker in _MARKERS):
            return Place(folder, ancestor, ancestor / "deps")
    return Place(folder, folder, folder / "deps")


def is_dependency(folder: Path) -> bool:
    """Whether a folder is the root of an installed dependency.

    >>> is_dependency(Path("/p/deps/github.com/a/b")), is_dependency(Path("/p/deps/github.com/a"))
    (True, False)
    """
    return len(folder.parents) > 2 and folder.parents[2].name == "deps" and "." in folder.parents[1].name
