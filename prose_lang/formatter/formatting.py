"""Formatting a document: the programs in it and, on demand, the items of its sections."""

from __future__ import annotations

import re

from prose_lang.diagnostics import SourceError
from prose_lang.formatter.items import format_items
from prose_lang.formatter.printer import print_rows
from prose_lang.formatter.programs import Program, read_programs
from prose_lang.formatter.proof import Refused, prove_same, prove_same_programs
from prose_lang.formatter.rows import read_rows
from prose_lang.text import Source, Span

_LINE_BREAK = re.compile(r"\r\n|\n|\r")


def format_source(source: Source, *, everything: bool = False) -> str:
    """The text of a source with its `prose` fences, or the bare body that it is, in the one style.

    With `everything` the list items of the sections that declare something are formatted too. Line breaks keep the
    spelling of the file. Raises SourceError if there are syntax errors, and Refused if what it made is not the
    same program with the same comments, or would change once more when formatted again.

    >>> print(format_source(Source("-", "let x={a:1,b:[2 ,3]}\\nif x.a>0 :\\n    return   x # done\\n")), end="")
    let x = { a: 1, b: [2, 3] }
    if x.a>0:
      return x  # done
    """
    programs = read_programs(source)
    text = _formatted(source, programs, everything)
    if text == source.text:
        return text
    result = Source(source.name, text)
    try:
        after = read_programs(result)
    except SourceError as error:
        raise Refused(source, f"the result could not be read: {error.message}") from error
    if everything:
        prove_same_programs(source, programs, after)
    else:
        prove_same(source, programs, result, after)
    if _formatted(result, after, everything) != text:
        raise Refused(source, "it would look different again when formatted once more")
    return text


def _formatted(source: Source, programs: list[Program], everything: bool) -> str:
    """The formatted text, not yet proved."""
    parts, position = [], 0
    for program in programs:
        parts.append(source.text[position : program.span.start])
        rows = read_rows(program.parsed, program.indent)
        line_break = _line_break(source.text, program.span)
        parts.append(print_rows(rows, program.indent, line_break, bare=program.bare))
        position = program.span.end
    text = "".join([*parts, source.text[position:]])
    return format_items(Source(source.name, text)) if everything else text


def _line_break(text: str, span: Span) -> str:
    """How the lines of a program end: like the line above it, or as the last line of a text that is all program.

    Both stay as they are, so that a file of mixed line breaks is not changed once more.
    """
    found = _LINE_BREAK.findall(text, max(0, span.start - 2), span.start) or _LINE_BREAK.findall(text, *span)
    return found[-1] if found else "\n"
