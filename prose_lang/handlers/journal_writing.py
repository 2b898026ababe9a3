"""Writing: what one run puts into its record, without its secrets, and what it means that the store fails (L35)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from prose_lang.diagnostics import RunError
from prose_lang.diagnostics.redact import Redactor
from prose_lang.journal.port import StoreError
from prose_lang.journal.texts import encoded
from prose_lang.journal.writer import Pen
from prose_lang.runtime.effects import Effect


class Writing:
    """What one run writes with.

    `pen` is None where nothing is written: of a run that is only read back, and from the moment that the store failed.
    `stop`: a store that fails ends the run (P501); otherwise it goes on. `told` is told once.
    """

    def __init__(
        self,
        run: str,
        pen: Pen | None,
        redactor: Callable[[], Redactor],
        told: Callable[[StoreError], None],
        *,
        stop: bool = False,
    ) -> None:
        self.run = run
        self.pen = pen
        self.redactor = redactor
        self.told = told
        self.stop = stop

    def written(self, value: Any) -> tuple[str, bool]:
        """A value as JSON without secrets, and whether there was one."""
        return without_secrets(value, self.redactor())

    async def flush(self, effect: Effect) -> None:
        """Wait until all that was put is durable. Raises RunError P501 at an effect where the run stops for it."""
        if self.pen is None:
            return
        try:
            await self.pen.flushed()
        except StoreError as error:
            self.lost(error)
            if self.stop:
                raise RunError(
                    error.code, error.message, source=effect.site.source, span=effect.site.span,
                    hint=error.hint or "the run was to stop where it cannot be recorded",
                ) from None  # fmt: skip

    def lost(self, error: StoreError) -> None:
        """The store failed: nothing more is written."""
        if self.pen is not None:
            self.pen = None
            self.told(error)


def without_secrets(value: Any, clean: Redactor) -> tuple[str, bool]:
    """A value as JSON without secrets, and whether there was one."""
    text = encoded(value)
    if clean.text(text) is text:
        return text, False
    return encoded(clean.value(value)), True  # in the text itself a secret of digits would leave a hole in a number
