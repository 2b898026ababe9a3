"""A store that stops taking anything after some changes: what it holds then is what a process that was killed at that
moment would have left (L35)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prose_lang.journal import StoreError, open_store
from prose_lang.journal.records import Change


class DyingStore:
    """`left` changes are kept, one by one, and nothing that comes later."""

    def __init__(self, folder: Path, left: int) -> None:
        self.inner = open_store(folder)
        self.left = left

    def write(self, changes: Sequence[Change]) -> None:
        kept = changes[: self.left]
        if kept:
            self.inner.write(kept)
        self.left -= len(kept)
        if len(kept) < len(changes):
            raise StoreError("P501", "the process was killed")

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
