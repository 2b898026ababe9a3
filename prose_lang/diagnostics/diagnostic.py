"""One finding about a source: what is wrong, where, and what helps."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from typing import Any

import attrs

from prose_lang.diagnostics.codes import CODES
from prose_lang.text import Source, Span


class Severity(enum.Enum):
    """How grave a diagnostic is. Only errors keep a program from running."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@attrs.frozen(eq=False)
class Diagnostic:
    """A finding with its place. `code` is None for lints, which have names only.

    `hint` says what to do; `notes` say what else is worth knowing. `missing` is the name that was not found, where that
    is what it tells: whoever looked for it may know more.
    """

    code: str | None
    message: str
    source: Source | None
    span: Span | None
    name: str = ""
    severity: Severity = Severity.ERROR
    hint: str | None = None
    notes: tuple[str, ...] = ()
    missing: str | None = None

    def __attrs_post_init__(self) -> None:
        if not self.name:
            assert self.code is not None, "a lint needs a name"
            object.__setattr__(self, "name", CODES[self.code].name)

    @property
    def line(self) -> int | None:
        """The line (from 1), or None where no text is concerned."""
        if self.source is None or self.span is None:
            return None
        return self.source.position(self.span.start).line

    @property
    def column(self) -> int | None:
        """The column (from 1), or None where no text is concerned."""
        if self.source is None or self.span is None:
            return None
        return self.source.position(self.span.start).column

    def as_json(self) -> dict[str, Any]:
        """The plain form that `--json` prints."""
        return {
            "code": self.code,
            "name": self.name,
            "severity": self.severity.value,
            "message": self.message,
            "file": self.source.name if self.source else None,
            "line": self.line,
            "column": self.column,
            "hint": self.hint,
        }


def sort_diagnostics(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Sorted by file and position, each place and code once, so that one fault is one report."""
    ordered = sorted(
        found,
        key=lambda d: (d.source.name if d.source else "", d.span or Span(-1, -1), d.code or "~", d.name),
    )
    seen: set[tuple[object, ...]] = set()
    kept = []
    for item in ordered:
        file = item.source.name if item.source else None
        key: tuple[object, ...] = (file, item.name, item.span.start if item.span else item.message)
        if key not in seen:
            seen.add(key)
            kept.append(item)
    return kept
