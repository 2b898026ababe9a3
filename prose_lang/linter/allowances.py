"""Comments that silence findings: `# prose: allow[NAME, NAME]`, in Markdown `<!-- prose: allow[NAME] -->`.

Such a comment speaks of its own line; alone on a line, of the next line below that is not a comment alone. After the
bracket there may be a reason. A comment that silences nothing is told by `unused-allow`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import attrs

from prose_lang.diagnostics import Diagnostic
from prose_lang.documents.model import Document
from prose_lang.documents.outline import read_outline
from prose_lang.documents.page import Page
from prose_lang.documents.reader import read_document
from prose_lang.linter.registry import RULES
from prose_lang.linter.rule import Finding, Fix
from prose_lang.linter.settings import Settings
from prose_lang.semantics import parse_body
from prose_lang.syntax import Parsed, comments
from prose_lang.text import Source, Span, did_you_mean, nearest
from prose_lang.text.edit import Edit

_ALLOW = re.compile(r"#[ \t]*prose:[ \t]*allow(?P<rest>[^\r\n]*)")
_MARKDOWN_ALLOW = re.compile(r"<!--[ \t]*prose:[ \t]*allow(?P<rest>(?:(?!-->)[^\r\n])*)-->")
_LIST = re.compile(r"\[(?P<names>[^\]]*)\]")
_NAME = re.compile(r"[^\s,]+")
#: Lines between a comment alone and what it speaks of, in programs and YAML, and in Markdown, where `#` is a heading.
_COMMENT_LINE = re.compile(r"[ \t]*#")
_MARKDOWN_COMMENT_LINE = re.compile(r"[ \t]*<!--.*-->[ \t]*$")


@attrs.frozen(eq=False)
class Allowance:
    """A comment, the line that it speaks of, and the names in it with their places.

    `names` is None where the comment does not have the form `allow[NAME]`.
    """

    span: Span
    line: int
    names: tuple[tuple[str, Span], ...] | None

    def allows(self, diagnostic: Diagnostic) -> bool:
        """Whether it silences a finding."""
        return diagnostic.line == self.line and any(name == diagnostic.name for name, _ in self.names or ())


def read_allowances(document: Document, bodies: Iterable[Parsed]) -> tuple[Allowance, ...]:
    """The comments of a document that silence findings: those of its bodies, of its YAML blocks and of its Markdown."""
    source = document.source
    if "prose:" not in source.text:
        return ()
    found = []
    for parsed in bodies:
        for comment in comments(source.text, parsed.tokens, parsed.span.start, parsed.span.end):
            if match := _ALLOW.fullmatch(comment.text):
                found.append(_allowance(source, comment.span, comment.span.start + match.start("rest"), match["rest"]))
    if not document.anonymous:
        found += _of_page(source)
    return tuple(sorted(found, key=lambda allowance: allowance.span))


def _of_page(source: Source) -> Iterator[Allowance]:
    page = Page.of(source)
    fenced: dict[int, str | None] = {}
    for block in read_outline(page.lines).blocks:
        if block.info is not None:
            fenced.update((line, block.info) for line in range(block.first, block.last))
    for number, line in enumerate(page.lines):
        start = page.starts[number]
        if number not in fenced:
            match, skipped = _MARKDOWN_ALLOW.search(line), _MARKDOWN_COMMENT_LINE
        elif fenced[number] in ("yaml", "yml"):
            match, skipped = _ALLOW.search(line), _COMMENT_LINE
        else:
            continue
        if match:
            span = Span(start + match.start(), start + match.end())
            yield _allowance(source, span, start + match.start("rest"), match["rest"], skipped)


def _allowance(source: Source, span: Span, at: int, rest: str, skipped: re.Pattern[str] = _COMMENT_LINE) -> Allowance:
    line = source.line_of(span.start)
    start = source.line_start(line)
    if not source.text[start : span.start].removeprefix("\ufeff").strip():
        end = source.line_start(line) + len(source.line_text(line))
        if not source.text[span.end : end].strip():
            line += 1
            while line < source.line_count and skipped.match(source.line_text(line)):
                line += 1
    listed = _LIST.match(rest)
    if listed is None:
        return Allowance(span, line, None)
    names = tuple(
        (match.group(), Span(at + match.start(), at + match.end()))
        for match in _NAME.finditer(rest, listed.start("names"), listed.end("names"))
    )
    return Allowance(span, line, names or None)


def sift(findings: Sequence[Finding], allowances: Sequence[Allowance]) -> tuple[list[Finding], set[Span]]:
    """The findings that are left, and the places of the names that silenced others."""
    left = []
    used: set[Span] = set()
    by_line: dict[int, list[Allowance]] = {}
    for allowance in allowances:
        by_line.setdefault(allowance.line, []).append(allowance)
    for finding in findings:
        silenced = False
        for allowance in by_line.get(finding.diagnostic.line or 0, ()):
            for name, span in allowance.names or ():
                if name == finding.name:
                    silenced = True
                    used.add(span)
        if not silenced:
            left.append(finding)
    return left, used


def unused(
    source: Source, allowances: Sequence[Allowance], used: set[Span], settings: Settings, *, sound: bool
) -> Iterator[Finding]:
    """What `unused-allow` tells. Where a body could be read only in part, names alone are looked at."""
    for allowance in allowances:
        if allowance.names is None:
            message = "this comment silences nothing"
            yield _told(source, allowance.span, message, "name the rules in brackets: # prose: allow[re-let]", None)
            continue
        useless = []
        for name, span in allowance.names:
            if name not in RULES:
                close = nearest(name, RULES)
                hint = did_you_mean(close[:1]) or "`prose explain` lists the rules"
                yield _told(source, span, f"there is no rule `{name}`", hint, None)
            elif sound and span not in used and settings.counts(name):
                useless.append((name, span))
        for name, span in useless:
            fix = _without(source, allowance, [name for name, _ in useless]) if span == useless[0][1] else None
            yield _told(source, span, f"`{name}` has nothing to silence here", None, fix)


def _told(source: Source, span: Span, message: str, hint: str | None, fix: Fix | None) -> Finding:
    rule = RULES["unused-allow"]
    diagnostic = Diagnostic(None, message, source, span, name=rule.name, severity=rule.severity, hint=hint)
    return Finding(diagnostic, fix)


def _without(source: Source, allowance: Allowance, names: Sequence[str]) -> Fix:
    """The comment without some of its names, or nothing where none is left."""
    assert allowance.names is not None, "only names can be taken out"
    kept = [name for name, _ in allowance.names if name not in names]
    if kept:
        span = Span(allowance.names[0][1].start, allowance.names[-1][1].end)
        return Fix("drop what silences nothing", (Edit(span, ", ".join(kept)),))
    text = source.text
    start, end = allowance.span
    number = source.line_of(start)
    first = source.line_start(number)
    if number == 1 and text.startswith("\ufeff"):
        first += 1
    last = source.line_start(number + 1) if number < source.line_count else len(text)
    if not text[first:start].strip() and not text[end:last].strip():
        return Fix("drop the comment", (Edit(Span(first, last), ""),))
    while start > first and text[start - 1] in " \t":
        start -= 1
    return Fix("drop the comment", (Edit(Span(start, end), ""),))


def without_silenced(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics of any files without the lints that comments there silence; errors cannot be silenced."""
    known: dict[Source, tuple[Allowance, ...]] = {}
    left = []
    for item in diagnostics:
        source = item.source
        if item.code is None and source is not None and "prose:" in source.text:
            if source not in known:
                document = read_document(source)
                known[source] = read_allowances(document, [parse_body(document, entry) for entry in document.entries])
            if any(allowance.allows(item) for allowance in known[source]):
                continue
        left.append(item)
    return left
