"""`prose resume`: its arguments and options. Going on with a run is `running.py`."""

from __future__ import annotations

from typing import Any

import click

from prose_lang.cli.keeping import writing_options
from prose_lang.cli.run_options import NamesAfter, run_options, settled
from prose_lang.cli.terminal import Terminal
from prose_lang.cli.trace import complete_run


@click.command(cls=NamesAfter, short_help="Go on with a recorded run.")
@click.argument("run", shell_complete=complete_run)
@click.argument("names", nargs=-1, metavar="[NAME=VALUE | NAME:=JSON | NAME=@FILE]...")
@click.option("--accept-changes", is_flag=True, help="Go on although sources or inputs changed; reuse what matches.")
@click.option("--retry-errors", is_flag=True, help="Make calls again that failed.")
@run_options(new=False)
@writing_options
@click.pass_context
def command(ctx: click.Context, /, run: str, accept_changes: bool, retry_errors: bool, **options: Any) -> int:
    """Go on with a recorded run: what was killed, interrupted, stopped by a limit, or failed.

    RUN is the id of a run, the beginning of one, or latest. The run is walked again from its beginning: calls that had
    finished are read back from the record, the others are made. Their services get the same idempotency key.

    Names are given again only where the record must not bring them back: slots that were bound to cmd:, py:, a model or
    a file, and inputs that held a secret. So are --services and --script. Limits count all sessions of a run together:
    one that stopped it has to be raised. A run that is over prints its value again.

    Sources and inputs have to be those of the record (P502 shows what changed). With --accept-changes they need not:
    each call that still asks the same is read back, every other one is made anew. With --retry-errors calls that failed
    are made again, and what depended on them.

    \b
    Examples:
      $ prose run refine refiner=plain evaluator=readability task_brief="Utilize it." --max-calls 1
      $ prose resume latest --max-calls 20
      $ prose resume latest --json

    Exit status: as `prose run`. 2 also where there is no such run, it has changed, or another process works on it.
    """
    from prose_lang.cli import running

    going = running.Going(run, accept_changes, retry_errors)
    request = running.Request(going=going, **settled(ctx, options))
    return running.run(request, ctx.ensure_object(Terminal))
