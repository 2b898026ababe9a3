"""A place in the text, for the errors and warnings of a run."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

from prose_lang.diagnostics import RunError
from prose_lang.text import Source, Span


class Place(NamedTuple):
    """Where something stands."""

    source: Source
    span: Span

    def fail(self, code: str, message: str, hint: str | None = None) -> NoReturn:
        """Raise the error of this place."""
        raise RunError(code, message, source=self.source, span=self.span, hint=hint)
