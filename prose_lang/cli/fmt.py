"""`prose fmt`: patterns in the one style. Reading, writing and telling is `styling.py`."""

from __future__ import annotations

import click

from prose_lang.cli.options import talk_options
from prose_lang.cli.terminal import Terminal


@click.command(short_help="Format patterns in the one style.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(allow_dash=True))
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if something would change.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@click.option("--all", "everything", is_flag=True, help="Format the list items of sections too, not only the programs.")
@talk_options
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], check: bool, diff: bool, everything: bool) -> int:
    """Format patterns in the one style.

    PATH is a file, a folder with all .prose.md files below it, or - for standard input, which is written formatted to
    standard output. Files are written only where something changes. Spaces, line breaks and the commas between entries
    are all that changes in a program; a file with syntax errors is left as it is.

    \b
    Examples:
      $ echo 'return {score:1}' | prose fmt -
      $ echo 'return {score:1}' | prose fmt --diff -
      $ prose new second-opinion && prose fmt --check .

    Exit status: 0 formatted or nothing to do, 1 something would change (--check), 2 with errors.
    """
    from prose_lang.cli.styling import style

    report = style(paths, ctx.ensure_object(Terminal), check=check, diff=diff, everything=everything)
    if report.errors:
        return 2
    return 1 if check and report.changed else 0
