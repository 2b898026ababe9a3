"""`prose check`: what is wrong with patterns before they are given anything. Finding out is `checking.py`."""

from __future__ import annotations

import click

from prose_lang.cli.options import complete_source, talk_options
from prose_lang.cli.terminal import Terminal


@click.command(short_help="Say what is wrong with patterns, and what decides their conditions.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_source)
@click.option("--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", help="What is printed.")
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@click.option("--conditions", is_flag=True, help="List what decides each condition; -v does so too.")
@click.option("--services", multiple=True, metavar="FILE", help="Python file or module with @service functions.")
@click.option("--script", metavar="FILE", help="Scripted services; their names are known then.")
@click.option("--strict", is_flag=True, help="Warnings are errors.")
@talk_options
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    form: str,
    as_json: bool,
    conditions: bool,
    services: tuple[str, ...],
    script: str | None,
    strict: bool,
) -> int:
    """Say what is wrong with patterns, and what decides their conditions.

    PATH is a file, a folder with all .prose.md files below it, - for standard input, or the name of a library
    pattern.

    \b
    Examples:
      $ prose check refine
      $ prose check --conditions refine
      $ echo 'return { score: 1 }' | prose check --format json -

    Exit status: 0 without errors, 2 with errors.
    """
    from prose_lang.cli.checking import check, show

    terminal = ctx.ensure_object(Terminal)
    with terminal.only_results():
        report = check(paths, services, script)
        show(report, "json" if as_json else form, conditions or terminal.verbosity >= 1, terminal)
    return 2 if report.errors or (strict and report.warnings) else 0
