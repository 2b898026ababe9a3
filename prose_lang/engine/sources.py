"""The sources of a run: what is kept of them, and whether they have changed since (L35)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from prose_lang.documents.loader import Loader
from prose_lang.documents.model import Document
from prose_lang.journal import SourceText, digest_of

#: Lines of a difference that are shown.
_SHOWN = 40


def source_texts(main: Document, others: Iterable[Document], loader: Loader) -> list[SourceText]:
    """The texts of all documents that a program was made of, that of its pattern first."""
    rest = sorted(
        {other for other in others if other is not main}, key=lambda found: (found.source.name, str(found.path))
    )
    return [_text(document, loader) for document in (main, *rest)]


def _text(document: Document, loader: Loader) -> SourceText:
    name, path = document.source.name, document.path
    if path is None or name.startswith("stdlib:"):
        return SourceText(name, None, None, document.source.text)
    try:
        inside: str | None = os.path.relpath(path, loader.root(document))
    except ValueError:  # another drive
        inside = None
    return SourceText(name, str(path), inside, document.source.text)


def program_digest(sources: Sequence[SourceText], entry: str) -> str:
    """What tells one program from another: all its sources, and the entry that is run."""
    parts = sorted(f"{source.inside or source.name}\0{source.digest}" for source in sources)
    return digest_of("\0".join((entry, *parts)).encode("utf-8", "surrogatepass"))


def _by_place(sources: Sequence[SourceText]) -> dict[tuple[str, int], SourceText]:
    """Sources by where they stand in their projects, of which there may be several: the folder of a run may be another
    one now, and so may be the names that it calls them by."""
    found: dict[tuple[str, int], SourceText] = {}
    for source in sources:
        place, number = source.inside or source.name, 0
        while (place, number) in found:
            number += 1
        found[place, number] = source
    return found


def sources_compared(recorded: Sequence[SourceText], now: Sequence[SourceText]) -> list[str]:
    """How sources differ from those that a run was begun with: `-` lines were recorded, `+` lines are there now."""
    from difflib import unified_diff

    before, after = _by_place(recorded), _by_place(now)
    lines: list[str] = []
    for key in dict.fromkeys((*before, *after)):
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            found = new or old
            assert found is not None, "the key is of one of them"
            lines.append(
                f"{'+' if old is None else '-'} {found.name} ({'is new' if old is None else 'is not used now'})"
            )
        elif old.text != new.text:
            name = new.name
            lines += unified_diff(old.text.splitlines(), new.text.splitlines(), name, name, n=1, lineterm="")
    left = len(lines) - _SHOWN
    return [*lines[:_SHOWN], *([f"… and {left:,} more lines"] if left > 0 else [])]
