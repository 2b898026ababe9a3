"""Results as JUnit XML, which build servers read: a suite for each file, a case for each scenario."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from xml.etree import ElementTree

from prose_lang.diagnostics import Diagnostic
from prose_lang.diagnostics.render import render_all
from prose_lang.testing.checks import Verdict
from prose_lang.testing.reporting import report_lines
from prose_lang.testing.running import ScenarioResult

#: What XML 1.0 can hold; a report must not be refused for what a service answered.
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAGS = {Verdict.FAILED: "failure", Verdict.BROKEN: "error", Verdict.NOT_EVALUATED: "skipped"}


def junit_xml(
    results: Sequence[ScenarioResult],
    broken: Sequence[tuple[str, Sequence[Diagnostic]]] = (),
    clean: Callable[[str], str] = str,
) -> bytes:
    """The results as XML. `broken` are files without scenarios and what is wrong with them; `clean` redacts texts.

    >>> junit_xml([])
    b'<?xml version=\\'1.0\\' encoding=\\'utf-8\\'?>\\n<testsuites tests="0" failures="0" errors="0" skipped="0" time="0.000" />'
    """  # noqa: E501

    def text(said: str) -> str:
        return _NOT_XML.sub("\ufffd", clean(said))

    root = ElementTree.Element("testsuites")
    files: dict[str, list[ScenarioResult]] = {}
    for result in results:
        files.setdefault(result.scenario.file, []).append(result)
    for file, some in files.items():
        suite = ElementTree.SubElement(root, "testsuite", {"name": text(file), **_counts(some)})
        for result in some:
            case = ElementTree.SubElement(
                suite,
                "testcase",
                classname=text(file),
                name=text(result.scenario.name),
                file=text(file),
                line=str(result.scenario.line),
                time=f"{result.seconds:.3f}",
            )
            lines = report_lines(result)
            tag = _TAGS.get(result.verdict)
            if tag is not None:
                told = ElementTree.SubElement(case, tag, message=text(_message(result)))
                told.text = text("\n".join(lines))
            elif lines:
                ElementTree.SubElement(case, "system-out").text = text("\n".join(lines))
    for file, found in broken:
        suite = ElementTree.SubElement(
            root, "testsuite", name=text(file), tests="1", failures="0", errors="1", skipped="0", time="0.000"
        )
        case = ElementTree.SubElement(suite, "testcase", classname=text(file), name=text(file), time="0.000")
        message = found[0].message if found else "it cannot be read"
        ElementTree.SubElement(case, "error", message=text(message)).text = text(render_all(found))
    total = _counts(results)
    for name, value in total.items():
        more = len(broken) if name in ("tests", "errors") else 0
        root.set(name, str(int(value) + more) if name != "time" else value)
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written


def _counts(results: Sequence[ScenarioResult]) -> dict[str, str]:
    def count(verdict: Verdict) -> str:
        return str(sum(result.verdict is verdict for result in results))

    return {
        "tests": str(len(results)),
        "failures": count(Verdict.FAILED),
        "errors": count(Verdict.BROKEN),
        "skipped": count(Verdict.NOT_EVALUATED),
        "time": f"{sum(result.seconds for result in results):.3f}",
    }


def _message(result: ScenarioResult) -> str:
    """Why it did not pass, in one line: the first reason of its verdict."""
    if result.faults:
        return result.faults[0].message
    checks = result.with_verdict(result.verdict)
    if not checks:
        return result.verdict.value
    first = checks[0]
    said = first.reason or first.what
    return f"{first.what}: {said}" if first.layer not in ("exact", "strict") else said
