"""`prose judge-check`: how far a judge agrees with what is expected of it."""

from __future__ import annotations

from typing import Any

import click

from prose_lang.cli.options import cassette_options, dollars_or_none, json_option, percent, talk_options
from prose_lang.cli.terminal import Terminal


@click.command(short_help="Say how far a judge agrees with a table of cases.")
@click.argument("file", required=False, metavar="[FILE]")
@click.option("--builtin", is_flag=True, help="The shipped table: 60 cases for the conditions of published patterns.")
@click.option("--judge", metavar="REF", help="Service that decides what no rule decides: model:PROVIDER/MODEL.")
@click.option(
    "--min", "least", type=percent, default=90.0, metavar="PERCENT", help="Fail if it agrees in less; 90 unless set."
)
@click.option("--services", multiple=True, metavar="FILE", help="Python file or module with @service functions.")
@click.option("--script", metavar="FILE", help="Scripted services.")
@click.option(
    "--max-cost", type=dollars_or_none, metavar="USD", help="Most cost of all cases; $5 of known cost unless set."
)
@cassette_options
@json_option
@talk_options
@click.pass_context
def command(ctx: click.Context, /, file: str | None, builtin: bool, **options: Any) -> int:
    """Say how far a judge agrees with a table of cases.

    FILE is YAML, a list of cases: a `condition` as it stands in a program, the `values` of the names that it reads, and
    whether it is `expected` to hold. - is standard input. Each disagreement is shown with its reason. What a rule
    decides is told apart and not asked; a rule that does not give what is expected is a disagreement that no percentage
    excuses.

    \b
    Examples:
      $ echo '[{condition: n is at least 2, values: {n: 3}, expected: true}]' | prose judge-check -
      prose judge-check --builtin --judge model:openai/gpt-4.1-mini --min 95
      prose judge-check cases.yaml --judge model:openai/gpt-4.1-mini --max-cost 0.50

    Exit status: 0 it agrees, 1 it does not, 2 the table cannot be used or there is no judge to ask, 3 a limit stopped
    it.
    """
    if builtin is (file is not None):
        raise click.UsageError("give a FILE of cases, or --builtin for the shipped ones", ctx)

    from prose_lang.cli.judging import Request, check_judge

    return check_judge(Request(file=file, **options), ctx.ensure_object(Terminal))
