"""A place in the text, for the errors and warnings of a run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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


@contextmanager
def located(place: Place) -> Iterator[None]:
    """Errors that know no place get this one."""
    try:
        yield
    except RunError as error:
        if error.source is None:
            error.source, error.span = place
        raise
