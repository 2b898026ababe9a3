"""`prose explain`: the page of a diagnostic code or lint."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from prose_lang.cli.terminal import Terminal

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)


def _complete(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from prose_lang.cli.pages import explainable

    names = explainable()
    return [CompletionItem(name) for name in names if name.lower().startswith(incomplete.lower())]


@click.command(short_help="Explain a diagnostic code or a rule of the linter.")
@click.argument("code", required=False, metavar="[CODE|NAME]", shell_complete=_complete)
@click.pass_context
def command(ctx: click.Context, code: str | None) -> int:
    """Explain a diagnostic code, given as P201 or by its name, or a rule of the linter; without one, list them all.

    \b
    Examples:
      $ prose explain P201
      $ prose explain re-let
      $ prose explain
    """
    from prose_lang.cli.pages import pages

    terminal = ctx.ensure_object(Terminal)
    if code is None:
        terminal.write("\n".join(_all()))
        return 0
    found = pages(code)
    if not found:
        raise click.UsageError(f"there is no code or rule `{code}`{_meant(code)}", ctx)
    terminal.write("\n\n".join(_readable(page, terminal) for page in found))
    return 0


def _all() -> Iterator[str]:
    """Every code with its title, then the rules of the linter and what else has a name but no code."""
    from prose_lang.cli.pages import named, page
    from prose_lang.diagnostics import CODES
    from prose_lang.diagnostics.explain import first_paragraph

    width = max(len(name) for name in (*(code.name for code in CODES.values()), *named()))
    for code in CODES.values():
        yield f"{code.code}  {code.name:<{width}}  {code.title}"
    for name in named():
        yield f"      {name:<{width}}  {first_paragraph(page(name) or '')}"


def _readable(page: str, terminal: Terminal) -> str:
    """A page without the comments that are for its tests; headings and fences stand out where there is colour."""
    lines = _COMMENT.sub("", page).rstrip("\n").split("\n")
    if not terminal.colors(terminal.out):
        return "\n".join(lines)
    styled, in_code = [], ""
    for line in lines:
        marks = line[: len(line) - len(line.lstrip("`"))]
        if len(marks) >= 3 and (not in_code or line == in_code):  # a fence in a longer fence is text
            in_code = "" if in_code else marks
            styled.append(terminal.paint("2", line, terminal.out))
        else:
            style = "36" if in_code else "1" if line.startswith("#") else ""
            styled.append(terminal.paint(style, line, terminal.out) if style else line)
    return "\n".join(styled)


def _meant(text: str) -> str:
    from prose_lang.cli.pages import explainable
    from prose_lang.text import nearest

    close = nearest(text, explainable())
    return f"; did you mean {' or '.join(f'`{name}`' for name in close)}?" if close else ""
