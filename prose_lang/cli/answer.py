"""`prose answer`: its arguments and options. Which answer is for which call is `engine/answering.py`."""

from __future__ import annotations

from typing import Any

import click

from prose_lang.cli.keeping import writing_options
from prose_lang.cli.run_options import run_options, settled
from prose_lang.cli.terminal import Terminal
from prose_lang.cli.trace import complete_run


@click.command(short_help="Answer what a run waits for, and go on with it.")
@click.argument("run", shell_complete=complete_run)
@click.argument("answers", nargs=-1, required=True, metavar="NAME=VALUE | NAME:=JSON | NAME=@FILE...")
@click.option(
    "--given", "names", multiple=True, metavar="NAME=VALUE", help="A name of the run that has to be given again."
)
@run_options(new=False)
@writing_options
@click.pass_context
def command(ctx: click.Context, /, run: str, answers: tuple[str, ...], **options: Any) -> int:
    """Put a person's answer into the record of a run that waits for it (P411), and go on.

    RUN is the id of a run, the beginning of one, or latest. NAME is who asks: a service, or the name by which the
    pattern calls it; the address of the call where several wait. Names that are none of these are the fields of one
    answer, such as the pattern reads: decision=approve note="fine".

    A VALUE becomes what the service that asks declares, or what the pattern uses it as: yes and no are truths where it
    asks for one. Nothing is written where an answer does not fit. Calls that wait and are not answered wait on.

    \b
    Examples:
      $ prose run human-gate proposer=plain person=person task_brief="Utilize the form."
      $ prose answer latest approved=yes comment="go ahead"

    Exit status: as `prose run`. 2 where nothing waits by such a name, 4 where the run waits for somebody again.
    """
    from prose_lang.cli import running

    request = running.Request(going=running.Going(run, answers=answers), **settled(ctx, options))
    return running.run(request, ctx.ensure_object(Terminal))
