"""Large contents of a store that is a folder: one file for each, named by its digest and never changed.

A file is written beside its place and moved there, so that nobody meets half of one; what is read is checked against
its name.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path

from prose_lang.journal.port import StoreError
from prose_lang.journal.records import digest_of

#: Seconds for which a content that nothing refers to is left alone: its reference may be on the way.
_GRACE = 3600.0
#: What `digest_of` gives.
_NAME = re.compile("[0-9a-f]{40}")


class Files:
    """The contents below a folder. With `full` they are forced to the disk before they are referred to."""

    def __init__(self, folder: Path, *, full: bool) -> None:
        self.folder = folder
        self.full = full

    def path(self, digest: str) -> Path:
        """Where a content stands."""
        return self.folder / digest[:2] / digest[2:]

    def put(self, data: bytes) -> str:
        """Keep a content. Raises OSError."""
        digest = digest_of(data)
        path = self.path(digest)
        if path.exists():
            with suppress(OSError, StoreError):
                os.utime(path)  # it is wanted again: `clean` must not take it away now
                self.get(digest)
                return digest  # and if it is damaged, this mends it
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, made = tempfile.mkstemp(prefix=".", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                if self.full:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(made, path)
            if self.full:
                _force(path.parent)
        except BaseException:
            with suppress(OSError):
                os.unlink(made)
            raise
        return digest

    def get(self, digest: str) -> bytes:
        """A content. Raises StoreError P501."""
        if _NAME.fullmatch(digest) is None:
            raise StoreError("P501", f"{digest!r} names no content of the store")
        try:
            data = self.path(digest).read_bytes()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise StoreError("P501", f"the content {digest} of the store cannot be read: {reason}") from None
        if digest_of(data) != digest:
            raise StoreError("P501", f"the content {digest} of the store is damaged")
        return data

    def clean(self, wanted: Collection[str]) -> int:
        """Take away all but those that are wanted, and what was left half written; gives the bytes that were freed."""
        freed = 0
        before = time.time() - _GRACE
        for path in self._all():
            if path.parent.name + path.name in wanted:
                continue
            with suppress(OSError):
                status = path.stat()
                if status.st_mtime < before:
                    path.unlink()
                    freed += status.st_size
        return freed

    def _all(self) -> Iterator[Path]:
        with suppress(OSError):
            for folder in os.scandir(self.folder):
                if folder.is_dir(follow_symlinks=False):
                    yield from (Path(file.path) for file in os.scandir(folder) if file.is_file(follow_symlinks=False))


def _force(folder: Path) -> None:
    """Force a folder's list of names to the disk, where the system can do that."""
    with suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
