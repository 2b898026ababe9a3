"""`prose list`: the patterns of the library by their groups, or those of files and folders, each with what it is for.

It reads files and checks none: what is wrong with them is told by `prose check`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from prose_lang.cli.options import json_option
from prose_lang.cli.terminal import Terminal

if TYPE_CHECKING:
    from prose_lang.engine import Pattern


@click.command(short_help="List the patterns of the library, or of files.")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@json_option
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], as_json: bool) -> int:
    """List the patterns of the library, or what files and folders hold: patterns, functions, tests and the rest.

    PATH is a file, a folder (all .prose.md files in it and below it), or a library name.

    \b
    Examples:
      $ prose list
      $ prose list --json
      $ prose new second-opinion && prose list .
    """
    from prose_lang import resources
    from prose_lang.cli.checking import files_of
    from prose_lang.cli.reading import Reader
    from prose_lang.engine import Engine

    terminal = ctx.ensure_object(Terminal)
    engine, reader = Engine(), Reader()
    if paths:
        patterns = [reader.pattern(engine, file) for path in paths for file in files_of(path)]
    else:
        order = {group: place for place, group in enumerate(resources.LIBRARY_GROUPS)}
        patterns = [engine.load(f"stdlib:{name}") for name in resources.library_names()]
        patterns.sort(
            key=lambda pattern: order.get(pattern.document.group or "", len(order))
        )  # and by name, as they were
    if as_json:
        terminal.write_json([_plain(pattern) for pattern in patterns])
    else:
        terminal.write("\n".join(_lines(patterns, terminal, of_files=bool(paths))))
    return 0


def _plain(pattern: Pattern) -> dict[str, Any]:
    entry = pattern.entry
    return {
        "name": entry.name,
        "kind": entry.kind,
        "group": pattern.document.group if entry is pattern.document.main else None,
        "file": pattern.document.source.name,
        "description": entry.description,
        "slots": [slot.name for slot in entry.slots],
    }


def _lines(patterns: Sequence[Pattern], terminal: Terminal, *, of_files: bool) -> Iterator[str]:
    """A line for each; those of the library under the names of their groups, those of files with their kinds."""
    from prose_lang.cli.describing import first_sentence
    from prose_lang.diagnostics.visible import visible

    names = max((len(visible(pattern.entry.name)) for pattern in patterns), default=0)
    kinds = max((len(pattern.entry.kind) for pattern in patterns), default=0)
    group = None
    for pattern in patterns:
        entry = pattern.entry
        if not of_files and pattern.document.group != group:
            if group is not None:
                yield ""
            group = pattern.document.group
            yield terminal.paint("1;4", visible(str(group)), terminal.out)
        name = terminal.paint("1", f"{visible(entry.name):<{names}}", terminal.out)
        kind = f"  {entry.kind:<{kinds}}" if of_files else ""
        indent = "" if of_files else "  "
        yield f"{indent}{name}{kind}  {first_sentence(entry.description or entry.title)}".rstrip()
