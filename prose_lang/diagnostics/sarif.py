"""Diagnostics as SARIF 2.1.0, the format in which code hosts and editors take findings in.

Only what was found is described; where the result is written is the caller's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path, PurePath
from typing import Any
from urllib.parse import quote

from prose_lang.diagnostics.codes import CODES
from prose_lang.diagnostics.diagnostic import Diagnostic
from prose_lang.diagnostics.explain import explain, first_paragraph
from prose_lang.text import Source, Span

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def to_sarif(
    diagnostics: Iterable[Diagnostic], tool_version: str, page: Callable[[str], str | None] = explain
) -> dict[str, Any]:
    """A SARIF log with one run. Rules are named by code, lints by name; each rule found is described once.

    `page` gives the Markdown text that explains a rule. Paths are given relative to the working directory; a file
    outside of it has an absolute `file:` URI.

    >>> to_sarif([], "1.0")["runs"][0]["results"]
    []
    """
    found = list(diagnostics)
    first_of = {_rule_id(diagnostic): diagnostic for diagnostic in reversed(found)}
    rule_ids = sorted(first_of)
    index_of = {rule_id: index for index, rule_id in enumerate(rule_ids)}
    base = Path.cwd()
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "prose",
                        "version": tool_version,
                        "rules": [_rule(first_of[rule_id], page) for rule_id in rule_ids],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(diagnostic, index_of, base) for diagnostic in found],
            }
        ],
    }


def artifact_location(path: PurePath, base: PurePath) -> dict[str, str]:
    """Where a file is, as SARIF says it.

    >>> artifact_location(PurePath("my patterns/a.prose.md"), PurePath("/project"))
    {'uri': 'my%20patterns/a.prose.md', 'uriBaseId': '%SRCROOT%'}
    """
    if path.is_absolute():
        if not path.is_relative_to(base):
            return {"uri": path.as_uri()}
        path = path.relative_to(base)
    # Undecodable bytes of a file name stand in it as surrogates, and are written as the bytes they were.
    return {"uri": quote(path.as_posix(), safe="/", errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}


def _rule_id(diagnostic: Diagnostic) -> str:
    return diagnostic.code or diagnostic.name


def _rule(diagnostic: Diagnostic, page: Callable[[str], str | None]) -> dict[str, Any]:
    rule_id = _rule_id(diagnostic)
    # A thrown error has a name of its own choice; the rule keeps the registered one.
    code = CODES.get(rule_id)
    rule: dict[str, Any] = {"id": rule_id, "name": code.name if code else diagnostic.name}
    if code is not None:
        rule["shortDescription"] = {"text": code.title}
    text = page(rule_id)
    if text is not None:
        paragraph = first_paragraph(text)
        rule["fullDescription"] = {"text": paragraph}
        rule["help"] = {"text": paragraph, "markdown": text}
    rule["defaultConfiguration"] = {"level": diagnostic.severity.value}
    return rule


def _result(diagnostic: Diagnostic, index_of: dict[str, int], base: PurePath) -> dict[str, Any]:
    rule_id = _rule_id(diagnostic)
    advice = [f"Help: {diagnostic.hint}"] if diagnostic.hint else []
    result: dict[str, Any] = {
        "ruleId": rule_id,
        "ruleIndex": index_of[rule_id],
        "level": diagnostic.severity.value,
        "message": {"text": "\n".join([diagnostic.message, *advice, *diagnostic.notes])},
    }
    if diagnostic.source is not None:
        place: dict[str, Any] = {"artifactLocation": artifact_location(PurePath(diagnostic.source.name), base)}
        if diagnostic.span is not None:
            place["region"] = _region(diagnostic.source, diagnostic.span)
        result["locations"] = [{"physicalLocation": place}]
    return result


def _region(source: Source, span: Span) -> dict[str, int]:
    start = source.position(span.start)
    end = source.position(max(span.start, span.end))
    return {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}
