"""`prose ast`: the syntax tree, or the tokens, of the bodies in a file."""

from __future__ import annotations

import click

from prose_lang.cli.options import complete_source, json_option
from prose_lang.cli.terminal import Terminal


@click.command(short_help="Print the syntax tree of a pattern.")
@click.argument("source", metavar="FILE", shell_complete=complete_source)
@click.option("--tokens", is_flag=True, help="Print the tokens instead of the tree.")
@json_option
@click.pass_context
def command(ctx: click.Context, source: str, tokens: bool, as_json: bool) -> int:
    """Print the syntax tree of a pattern.

    FILE is a path, - for standard input, or a library name. Syntax errors are told on standard error; the tree of
    everything else is printed all the same.

    \b
    Examples:
      $ prose ast refine
      $ echo 'return 1 + 2' | prose ast --tokens -
      $ echo 'return 1 + 2' | prose ast --json -

    Exit status: 0 without syntax errors, 2 with syntax errors.
    """
    from prose_lang.cli.reading import Reader
    from prose_lang.cli.trees import bodies, plain, text_lines
    from prose_lang.diagnostics.render import render_all
    from prose_lang.engine import Engine

    terminal = ctx.ensure_object(Terminal)
    found = bodies(Reader().pattern(Engine(), source).document)
    if as_json:
        terminal.write_json([plain(name, parsed, tokens=tokens) for name, parsed in found])
    else:
        for name, parsed in found:
            terminal.write("\n".join(text_lines(name, parsed, tokens=tokens, alone=len(found) == 1)))
    faults = [item for _, parsed in found for item in parsed.diagnostics]
    if faults:
        terminal.say(render_all(faults, color=terminal.colors(terminal.err)))
    return 2 if faults else 0
