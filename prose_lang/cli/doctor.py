"""`prose doctor`: what is installed and configured, for a bug report or a first look. Secrets are never read out."""

from __future__ import annotations

import click

from prose_lang.cli.options import json_option
from prose_lang.cli.terminal import Terminal


@click.command(short_help="Say what is installed and configured.")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int:
    """Say what is installed and configured: names of keys, never their values.

    \b
    Examples:
      $ prose doctor
      $ prose doctor --json
    """
    from prose_lang.cli.diagnosis import diagnosis, lines

    terminal = ctx.ensure_object(Terminal)
    found = diagnosis(terminal)
    if as_json:
        terminal.write_json(found)
    else:
        terminal.write("\n".join(lines(found)))
    return 0
