"""Writes docs/diagnostics.md from the registry of codes, their pages, and the pages of the linter's rules.

    python docs/make_diagnostics.py             writes the file (`make docs`)
    python docs/make_diagnostics.py --check     exits with 1 if it is not what would be written

Nothing is said here that is not said there: what `prose explain` prints stands in the file, code for code.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from prose_lang.diagnostics import CODES
from prose_lang.diagnostics.explain import explain, first_paragraph
from prose_lang.linter import pages as rules

TARGET = Path(__file__).parent / "diagnostics.md"

_COMMENT = re.compile(r"<!--.*?-->\n", re.DOTALL)
_BANDS = {
    "P1": ("Reading", "a source could not be read or parsed; nothing was run"),
    "P2": ("Checking", "the program, or what it was given, is wrong; nothing was run"),
    "P3": ("Running", "the program failed"),
    "P4": ("Services and limits", "a service, a judge, a limit or a person stood in the way"),
    "P5": ("Records and engines", "a run cannot be continued, or an engine not reached"),
}
_HEAD = """\
# Diagnostics

Every code that the interpreter gives and every rule of its linter, each with its name, when it is given, and what to
do. For whoever has such a message in front of them; `prose explain NAME` prints the same.

This file is made by `make docs` from the pages of the codes and rules. Change those, not this.
"""


def diagnostics() -> str:
    """The whole file."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _HEAD
    for band, (title, what) in _BANDS.items():
        yield f"## {title}\n"
        yield f"{band}xx: {what}.\n"
        yield "| code | name | |"
        yield "| --- | --- | --- |"
        for code in CODES.values():
            if code.code.startswith(band):
                page = explain(code.code) or ""
                anchor = f"{code.code.lower()}-{code.name}"
                yield f"| [{code.code}](#{anchor}) | `{code.name}` | {_cell(first_paragraph(page))} |"
        yield ""
    yield "## Rules of the linter\n"
    yield "They have names only, and a program that breaks one runs. `prose lint` tells them.\n"
    yield "| rule | |"
    yield "| --- | --- |"
    for name in rules.page_names():
        yield f"| [`{name}`](#{name}) | {_cell(first_paragraph(rules.page(name) or ''))} |"
    yield ""
    yield "## Every code\n"
    for code in CODES.values():
        yield _entry(explain(code.code) or "")
    yield "## Every rule\n"
    yield "\n".join(_entry(rules.page(name) or "") for name in rules.page_names()).rstrip("\n")


def _entry(page: str) -> str:
    """A page as a part of the file: its title two levels lower, and without the comments that are for its tests."""
    title, text = page.split("\n", 1)
    return f"##{title}\n{_COMMENT.sub('', text)}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def main(arguments: list[str]) -> int:
    """Write the file, or compare it."""
    text = diagnostics()
    if "--check" in arguments:
        return 0 if TARGET.exists() and TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
