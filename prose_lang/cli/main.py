"""The console script `prose`. Importing it loads click and the table of commands, and nothing that a command needs."""

from __future__ import annotations

from typing import NoReturn

import click

from prose_lang import __version__
from prose_lang.cli.group import Commands
from prose_lang.cli.options import talk_options


@click.group(
    "prose",
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.option("--version", is_flag=True, help="Print the version and exit.")
@talk_options
@click.pass_context
def cli(ctx: click.Context, version: bool) -> None:
    """Run OpenProse patterns on your own services.

    \b
    Examples:
      $ prose list
      $ prose show refine
      $ prose run refine refiner=plain evaluator=readability task_brief="Utilize the form in order to apply."
    """
    if version:
        click.echo(f"prose {__version__}")
        ctx.exit()
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main() -> NoReturn:
    """Run the command line of this process."""
    cli.main()
    raise AssertionError("`main` exits")


if __name__ == "__main__":
    main()
