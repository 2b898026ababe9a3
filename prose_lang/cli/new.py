"""`prose new`: a pattern or function with its test, to begin with. What is written comes from `starters/`."""

from __future__ import annotations

from pathlib import Path

import click

from prose_lang.cli.options import talk_options
from prose_lang.cli.terminal import Terminal


@click.command(short_help="Write a new pattern with its test.")
@click.argument("name")
@click.option("--kind", type=click.Choice(["pattern", "function"]), default="pattern", help="What it is to be.")
@click.option(
    "--into", default=".", metavar="FOLDER", type=click.Path(path_type=Path), help="Where to; made if it is missing."
)
@talk_options
@click.pass_context
def command(ctx: click.Context, name: str, kind: str, into: Path) -> int:
    """Write a new pattern with its test: NAME.prose.md and NAME.test.prose.md.

    Both run as they are: a pattern of two services and a loop, or a function (--kind function) that calls entries of
    its own file. Change them into what you need; the test keeps telling what they do. No file is ever overwritten.

    \b
    Examples:
      $ prose new second-opinion --into patterns
      $ prose new pros-and-cons --kind function --into patterns
      $ prose test patterns
    """
    from prose_lang.cli.starting import start

    terminal = ctx.ensure_object(Terminal)
    for path in start(name, kind, into):
        terminal.write(f"wrote {path}")
    if not terminal.quiet:
        terminal.say(f"try it: prose test {into / f'{name}.test.prose.md'}")
    return 0
