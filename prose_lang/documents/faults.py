"""The faults found while one document is read."""

from __future__ import annotations

import attrs

from prose_lang.diagnostics import Diagnostic, Severity
from prose_lang.text import Source, Span


@attrs.define(eq=False)
class Faults:
    """Collects diagnostics about one source."""

    source: Source
    found: list[Diagnostic] = attrs.Factory(list)

    def error(self, code: str, message: str, span: Span, hint: str | None = None) -> None:
        """Something that keeps the document from being run as it stands."""
        self.found.append(Diagnostic(code, message, self.source, span, hint=hint))

    def warning(self, name: str, message: str, span: Span, hint: str | None = None) -> None:
        """Something that is probably not meant; warnings have names only."""
        warning = Diagnostic(None, message, self.source, span, name=name, severity=Severity.WARNING, hint=hint)
        self.found.append(warning)

    def twice(self, what: str, name: str, span: Span, first: Span) -> None:
        """P207: a name is declared twice."""
        hint = f"it is declared first on line {self.source.position(first.start).line}"
        self.error("P207", f"the {what} `{name}` is declared twice", span, hint)
