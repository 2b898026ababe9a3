"""`prose lint`: what is probably not meant in patterns that can be run. Finding out is `linting.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prose_lang.cli.options import complete_source, talk_options
from prose_lang.cli.terminal import Terminal

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _complete_rule(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    from prose_lang.linter import RULES

    before, comma, word = incomplete.rpartition(",")
    return [CompletionItem(before + comma + name) for name in RULES if name.startswith(word)]


@click.command(short_help="Say what is legal and hardly meant, and mend what can be mended.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_source)
@click.option("--fix", "mend", is_flag=True, help="Mend what can be mended safely, in the files themselves.")
@click.option("--format", "form", type=click.Choice(["text", "json", "sarif"]), default="text", help="What is printed.")
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@click.option("--select", multiple=True, metavar="NAMES", shell_complete=_complete_rule, help="Only these rules.")
@click.option("--ignore", multiple=True, metavar="NAMES", shell_complete=_complete_rule, help="Not these rules.")
@click.option("--services", multiple=True, metavar="FILE", help="Python file or module with @service functions.")
@click.option("--script", metavar="FILE", help="Scripted services; their names are known then.")
@talk_options
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    mend: bool,
    form: str,
    as_json: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    services: tuple[str, ...],
    script: str | None,
) -> int:
    """Say what is legal and hardly meant, and mend what can be mended.

    PATH is a file, a folder with all .prose.md files below it, - for standard input, or the name of a library
    pattern. Errors are told too. `prose explain NAME` says more about a rule, and without a name lists them all;
    NAMES are separated by commas. A comment `# prose: allow[NAME]` silences a rule on its line or the one below,
    [tool.prose.lint] in pyproject.toml or [lint] in prose.toml one for a project.

    \b
    Examples:
      $ prose lint refine
      $ prose lint --select re-let,unused-variable refine
      $ echo 'return { result: 1 }' | prose lint --json -

    Exit status: 0 without findings, 1 with findings, 2 with errors.
    """
    from prose_lang.cli.linting import Wanted, lint_files, rule_names, show

    terminal = ctx.ensure_object(Terminal)
    if mend and "-" in paths:
        raise click.UsageError("standard input cannot be mended; give a file", ctx)
    wanted = Wanted(rule_names(select, "--select", ctx), rule_names(ignore, "--ignore", ctx), mend)
    with terminal.only_results():
        report = lint_files(paths, services, script, wanted, terminal)
        show(report, "json" if as_json else form, terminal)
    return 2 if report.errors else 1 if report.diagnostics else 0
