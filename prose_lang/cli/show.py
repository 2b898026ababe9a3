"""`prose show`: what a pattern takes, returns and promises."""

from __future__ import annotations

import click

from prose_lang.cli.options import complete_source, json_option
from prose_lang.cli.terminal import Terminal


@click.command(short_help="Show what a pattern takes, returns and promises.")
@click.argument("source", metavar="NAME|PATH", shell_complete=complete_source)
@click.option("--source", "as_source", is_flag=True, help="Print the file itself.")
@json_option
@click.pass_context
def command(ctx: click.Context, source: str, as_source: bool, as_json: bool) -> int:
    """Show what a pattern takes, returns and promises.

    NAME|PATH is a library name, a path, PATH#ENTRY for an inline entry, or - for standard input.

    \b
    Examples:
      $ prose show refine
      $ prose show refine --json
      $ prose show stdlib:refine --source
    """
    from prose_lang.cli.describing import describe, description_lines
    from prose_lang.cli.reading import Reader
    from prose_lang.diagnostics.visible import visible
    from prose_lang.engine import Engine

    terminal = ctx.ensure_object(Terminal)
    pattern = Reader().pattern(Engine(), source)
    if as_source:
        text = pattern.document.source.text.removeprefix("\ufeff")
        if terminal.out.isatty():
            text = "\n".join(map(visible, text.splitlines()))
        terminal.write(text)
    elif as_json:
        terminal.write_json(describe(pattern))
    else:
        terminal.write("\n".join(description_lines(describe(pattern), terminal)))
    return 0
