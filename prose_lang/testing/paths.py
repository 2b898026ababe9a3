"""How files are named to a person: from the folder that the person works in, where they are below it."""

from __future__ import annotations

from pathlib import Path


def from_here(path: Path) -> str:
    """A path from the working folder, or as it is if it lies elsewhere.

    >>> from_here(Path.cwd() / "sub" / "a.prose.md") == str(Path("sub", "a.prose.md"))
    True
    >>> from_here(Path("a.prose.md"))
    'a.prose.md'
    """
    try:
        return str(path.relative_to(Path.cwd()))
    except (OSError, ValueError):
        return str(path)
