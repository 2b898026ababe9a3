"""Mending findings, one after the other, as long as the text then parses and checks at least as well.

After every edit the document is read and looked at anew with all rules, whatever was selected: an edit that brings a
diagnostic that was not there before is taken back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import attrs

from prose_lang.documents.model import Document
from prose_lang.documents.reader import read_document
from prose_lang.linter.linting import Linted, lint
from prose_lang.linter.rule import Finding
from prose_lang.linter.settings import Settings
from prose_lang.semantics import Environment
from prose_lang.text import Source
from prose_lang.text.edit import Edit, apply, overlap


@attrs.frozen(eq=False)
class Fixed:
    """A document after mending, and what was mended; findings stand at their places in the text before it was."""

    document: Document
    mended: tuple[Finding, ...]

    @property
    def text(self) -> str:
        return self.document.source.text


def fix(document: Document, environment: Callable[[Document], Environment], settings: Settings | None = None) -> Fixed:
    """Mend what can be mended, again and again until nothing is left that can be.

    `environment` gives the names that the bodies of a document can call.

    >>> from prose_lang.semantics import Nothing
    >>> text = "let n = 1\\nrepeat 2:\\n  let n = n + 1\\nreturn n\\n"
    >>> fix(read_document(Source("-", text)), lambda _: Nothing()).text
    'let n = 1\\nrepeat 2:\\n  n = n + 1\\nreturn n\\n'
    """
    settings = settings or Settings()
    now = lint(document, environment(document))
    mended: list[Finding] = []
    while True:
        found = lint(now.document, environment(now.document), settings).findings
        kept = _together(finding for finding in found if finding.fix is not None)
        after = _reread(now.document, kept, environment)
        if not _is_no_worse(now, after):
            kept, after = _one_by_one(now, kept, environment)
        if not kept:
            return Fixed(now.document, tuple(mended))
        mended += kept
        now = after


def _one_by_one(
    now: Linted, findings: Sequence[Finding], environment: Callable[[Document], Environment]
) -> tuple[list[Finding], Linted]:
    """The findings that can be mended, where they cannot all be mended at once."""
    kept: list[Finding] = []
    last = now
    for finding in findings:
        after = _reread(now.document, [*kept, finding], environment)
        if _is_no_worse(last, after):
            kept.append(finding)
            last = after
    return kept, last


def _reread(document: Document, findings: Sequence[Finding], environment: Callable[[Document], Environment]) -> Linted:
    """The document with the fixes of some findings made, looked at with all rules."""
    source = Source(document.source.name, apply(document.source.text, _edits(findings)))
    changed = read_document(source, document.path)
    return lint(changed, environment(changed))


def _together(findings: Iterable[Finding]) -> list[Finding]:
    """Findings whose edits do not overlap, the first ones first."""
    chosen: list[Finding] = []
    for finding in findings:
        if not any(overlap(one, other) for one in _edits([finding]) for other in _edits(chosen)):
            chosen.append(finding)
    return chosen


def _edits(findings: Iterable[Finding]) -> list[Edit]:
    return [edit for finding in findings if finding.fix is not None for edit in finding.fix.edits]


def _is_no_worse(before: Linted, after: Linted) -> bool:
    """Whether no diagnostic is new, and there are fewer of them."""
    old, new = _counted(before), _counted(after)
    return new <= old and new.total() < old.total()


def _counted(linted: Linted) -> Counter[tuple[str | None, str]]:
    found = [*linted.errors, *(finding.diagnostic for finding in linted.findings)]
    return Counter((item.code, item.name) for item in found)
