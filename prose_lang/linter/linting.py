"""Looking at a document with every rule: what is found, what comments silence, and what is wrong besides."""

from __future__ import annotations

import attrs

from prose_lang.diagnostics import Diagnostic, Severity, sort_diagnostics
from prose_lang.documents.model import Document
from prose_lang.linter.allowances import read_allowances, sift, unused
from prose_lang.linter.rule import Finding
from prose_lang.linter.settings import Settings
from prose_lang.linter.subject import Subject
from prose_lang.semantics import Environment, Nothing, analyze, parse_body


@attrs.frozen(eq=False)
class Linted:
    """A document with its findings in the order of the text, and the errors that keep it from running."""

    document: Document
    findings: tuple[Finding, ...]
    errors: tuple[Diagnostic, ...]


def lint(document: Document, environment: Environment | None = None, settings: Settings | None = None) -> Linted:
    """Look at a document. `environment` knows the names that its bodies can call besides their own.

    >>> from prose_lang.documents.reader import read_document
    >>> from prose_lang.text import Source
    >>> text = "let n = 1\\nrepeat 2:\\n  let n = n + 1\\nreturn n\\n"
    >>> [(finding.name, finding.diagnostic.line) for finding in lint(read_document(Source("-", text))).findings]
    [('re-let', 3)]
    """
    environment = environment or Nothing()
    settings = settings or Settings()
    findings: list[Finding] = []
    errors = [item for item in document.diagnostics if item.severity is Severity.ERROR]
    bodies = []
    for entry in document.entries:
        parsed = parse_body(document, entry)
        program = analyze(document, entry, environment, parsed)
        errors += program.errors
        bodies.append(parsed)
        subject = Subject(document, entry, program, parsed, environment)
        for rule in settings.rules:
            if not (rule.whole and parsed.diagnostics):
                findings += rule.find(subject)
    allowances = read_allowances(document, bodies)
    left, used = sift(findings, allowances)
    if settings.counts("unused-allow"):
        sound = not any(parsed.diagnostics for parsed in bodies)
        left += unused(document.source, allowances, used, settings, sound=sound)
    return Linted(document, tuple(_sorted(left, settings)), tuple(sort_diagnostics(errors)))


def _sorted(findings: list[Finding], settings: Settings) -> list[Finding]:
    """By place, with the severities that are wanted."""
    graded = [
        attrs.evolve(finding, diagnostic=attrs.evolve(finding.diagnostic, severity=settings.severity[finding.name]))
        if finding.name in settings.severity
        else finding
        for finding in findings
    ]
    return sorted(graded, key=lambda finding: (finding.span, finding.name))
