"""Holds of a store that is a folder: a lock of the operating system on a file, which ends with its process.

So a run whose process was killed is free at once, and nobody has to guess whether it still lives. A child that the
process forked (a worker of `multiprocessing`) has its files too, and may live on: it lets go of the locks at once.
"""

from __future__ import annotations

import os
import sys
import time
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class FileHold:
    """A lock on one file."""

    def __init__(self, path: Path, handle: int) -> None:
        self._path = path
        self._handle: int | None = handle
        _HOLDS.add(self)

    def release(self) -> None:
        """Give it back; twice is once."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with suppress(OSError):
                os.unlink(self._path)
            os.close(handle)

    def forget(self) -> None:
        """Close it in a process that it is not of: the lock stays with the one that took it."""
        handle, self._handle = self._handle, None
        if handle is not None:
            with suppress(OSError):
                os.close(handle)

    def __enter__(self) -> FileHold:
        return self

    def __exit__(self, *_: Any) -> None:
        self.release()


#: All holds of this process; a fork gives nothing else to find them by.
_HOLDS: weakref.WeakSet[FileHold] = weakref.WeakSet()


def _forget_all() -> None:
    for hold in list(_HOLDS):
        hold.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def take(path: Path) -> FileHold | None:
    """Lock a file, which is made; None where another has it. Raises OSError where it cannot be made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    again = 3  # `taken` has it for a moment
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(handle)
        except OSError:
            os.close(handle)
            again -= 1
            if not again:
                return None
            time.sleep(0.01)
            continue
        # Who released it may have taken the file away between the two steps: then this lock is of no file.
        with suppress(OSError):
            if os.path.samestat(os.fstat(handle), os.stat(path)):
                return FileHold(path, handle)
        os.close(handle)


def taken(path: Path) -> bool:
    """Whether somebody has the lock. Nothing is made."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        _lock(handle)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False
