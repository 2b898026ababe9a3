"""What a rule is, and what it finds. The rules themselves stand in `rules/`, one in each file.

A rule is a class without state. Its docstring is its page (`pages.py`): four sections of Markdown, *What it does*,
*Why*, *Example* and *Use instead*, of which the tests run the last two.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator
from typing import ClassVar

import attrs

from prose_lang.diagnostics import Diagnostic, Severity
from prose_lang.linter.subject import Subject
from prose_lang.syntax import nodes as n
from prose_lang.text import Span
from prose_lang.text.edit import Edit


@attrs.frozen(eq=False)
class Fix:
    """Edits that mend a finding and change nothing that the program does; `what` says what they do."""

    what: str
    edits: tuple[Edit, ...]


@attrs.frozen(eq=False)
class Finding:
    """What a rule has to say about a place, and how to mend it where that is safe."""

    diagnostic: Diagnostic
    fix: Fix | None = None

    @property
    def name(self) -> str:
        """The name of the rule."""
        return self.diagnostic.name

    @property
    def span(self) -> Span:
        assert self.diagnostic.span is not None, "rules speak of places"
        return self.diagnostic.span


class Rule(abc.ABC):
    """One thing that is probably not meant, or that could be said better."""

    name: ClassVar[str]
    severity: ClassVar[Severity] = Severity.WARNING
    #: Whether it says that something is nowhere, which cannot be said of a body that could be read only in part.
    whole: ClassVar[bool] = False
    #: Whether some of its findings have a fix.
    mends: ClassVar[bool] = False

    @abc.abstractmethod
    def find(self, subject: Subject) -> Iterator[Finding]:
        """What there is to say about one entry of a document."""

    def at(
        self, subject: Subject, place: n.Node | Span, message: str, hint: str | None = None, fix: Fix | None = None
    ) -> Finding:
        """A finding of this rule at a place of the entry's file."""
        span = place if isinstance(place, Span) else place.span
        source = subject.document.source
        return Finding(Diagnostic(None, message, source, span, name=self.name, severity=self.severity, hint=hint), fix)


class Told(Rule):
    """A rule whose findings are made where documents and bodies are read, so that `prose check` tells them too."""

    def find(self, subject: Subject) -> Iterator[Finding]:
        """The diagnostics of that name: those of the body, and with the file's own entry those of the file."""
        found = [*subject.program.diagnostics]
        if subject.entry is subject.document.main:
            found += subject.document.diagnostics
        for diagnostic in found:
            if diagnostic.code is None and diagnostic.name == self.name:
                yield Finding(attrs.evolve(diagnostic, severity=self.severity))
