"""Formatting many files: each is read, formatted, proved and written on its own; a fault in one stops no other."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

import attrs

from prose_lang.cli.checking import files_of
from prose_lang.cli.reading import STDIN, Reader
from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import Diagnostic, ProseError
from prose_lang.diagnostics.render import render_all
from prose_lang.diagnostics.visible import visible
from prose_lang.documents.replacing import replace
from prose_lang.formatter import Refused, format_source
from prose_lang.text import Source, amount

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")
_STYLES = {"+": "32", "-": "31", "@": "36"}


@attrs.define
class Report:
    """What was done: how many files were looked at and how many could not be formatted, which changed or would have,
    and what was wrong.
    """

    files: int = 0
    failed: int = 0
    changed: list[str] = attrs.Factory(list)
    errors: list[Diagnostic] = attrs.Factory(list)


def style(paths: Iterable[str], terminal: Terminal, *, check: bool, diff: bool, everything: bool) -> Report:
    """Format everything that the paths mean, and tell about it; with `check` or `diff` nothing is written."""
    styling = _Styling(terminal, write=not check and not diff, diff=diff, everything=everything)
    given = list(paths)
    for path in given:
        try:
            files = list(files_of(path))
        except ProseError as error:
            styling.report.errors.extend(error.diagnostics)
            continue
        for file in files:
            try:
                styling.file(file)
            except (ProseError, Refused) as error:
                styling.report.failed += 1
                styling.report.errors.extend(error.diagnostics)
    _tell(styling, is_filter=given == [STDIN])
    return styling.report


class _Styling:
    """The formatting of one file after the other."""

    def __init__(self, terminal: Terminal, *, write: bool, diff: bool, everything: bool) -> None:
        self.terminal = terminal
        self.write = write
        self.diff = diff
        self.everything = everything
        self.reader = Reader()
        self.report = Report()

    def file(self, file: str) -> None:
        """Format one file. Raises ProseError or Refused, and then the file is as it was."""
        self.report.files += 1
        source = self.reader.source(file, "the pattern")
        text = format_source(source, everything=self.everything)
        if file == STDIN and self.write:
            self.terminal.pass_on(text)
        if text == source.text:
            return
        if self.write and file != STDIN:
            replace(Path(file), source, text)
        if self.diff:
            self.terminal.write(_diff(source, text, self.terminal))
        self.report.changed.append(source.name)
        if not self.terminal.quiet and not (file == STDIN and self.write):
            self.terminal.say(f"{'formatted' if self.write else 'would format'} {visible(source.name)}")


def _diff(source: Source, text: str, terminal: Terminal) -> str:
    """A unified diff, as `patch` takes it unless somebody is looking."""
    before, after = _LINES.findall(source.text), _LINES.findall(text)
    shown = []
    for line in difflib.unified_diff(before, after, source.name, f"{source.name} (formatted)", n=3):
        ended = line.endswith(("\n", "\r"))
        plain = line if ended else line + "\n\\ No newline at end of file\n"
        if terminal.out.isatty():
            plain = visible(plain.rstrip("\r\n")) + "\n"
        style = "1" if line.startswith(("---", "+++")) else _STYLES.get(line[0], "")
        shown.append(terminal.paint(style, plain, terminal.out) if style and plain.strip() else plain)
    return "".join(shown)


def _tell(styling: _Styling, *, is_filter: bool) -> None:
    report, terminal = styling.report, styling.terminal
    if report.errors:
        terminal.say(render_all(report.errors, color=terminal.colors(terminal.err)))
    if terminal.quiet or is_filter:
        return
    changed = len(report.changed)
    said = [f"{changed:,} {'formatted' if styling.write else 'would be formatted'}"]
    if same := report.files - changed - report.failed:
        said.append(f"{same:,} unchanged")
    if report.failed:
        said.append(f"{report.failed:,} with errors")
    terminal.say(f"{amount(report.files, 'file')}: {', '.join(said)}")
