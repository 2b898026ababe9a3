"""What a run is given by name: values with how far they are trusted and whether they are command-line texts."""

from __future__ import annotations

from typing import Any

import attrs

from prose_lang.text import Source, Span


@attrs.frozen(eq=False)
class Given:
    """A given value. `text` tells that it is a command-line text, converted by the declared type (L21); `trusted` that
    it is a literal command-line argument, in which `cmd:`, `py:` and paths are accepted as references. `place` is where
    it was written, if that is a file of the user's: what is wrong with it is told there."""

    value: Any
    text: bool = False
    trusted: bool = False
    place: tuple[Source, Span] | None = None
