"""Putting a changed text into its file: whole or not at all, and not over what somebody else wrote meanwhile."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

from prose_lang.diagnostics import SourceError
from prose_lang.text import Source


def replace(path: Path, source: Source, text: str) -> None:
    """Write a text to the file that `source` was read from; links are followed, permissions kept.

    Raises SourceError P103 if the file has changed since, or cannot be written.
    """
    target = Path(os.path.realpath(path))
    temporary = None
    try:
        if target.read_bytes() != source.text.encode("utf-8"):
            raise SourceError("P103", f"`{source.name}` has changed meanwhile; it was left as it is")
        handle, temporary = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
        shutil.copymode(target, temporary)
        os.replace(temporary, target)
        temporary = None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SourceError("P103", f"`{source.name}` cannot be written: {reason}") from None
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
