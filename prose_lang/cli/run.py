"""`prose run`: its arguments and options. Doing it is `running.py`."""

from __future__ import annotations

from typing import Any

import click

from prose_lang.cli.keeping import recording_options
from prose_lang.cli.options import complete_source
from prose_lang.cli.run_options import NamesAfter, run_options, settled
from prose_lang.cli.terminal import Terminal


@click.command(cls=NamesAfter, short_help="Run a pattern on your services.")
@click.argument("source", shell_complete=complete_source)
@click.argument("names", nargs=-1, metavar="[NAME=VALUE | NAME:=JSON | NAME=@FILE]...")
@run_options(new=True)
@recording_options
@click.option("--resume", "run", metavar="RUN", help="Go on with a recorded run of this source.")
@click.option("--ask", is_flag=True, help="Ask for missing names on the terminal.")
@click.pass_context
def command(ctx: click.Context, /, run: str | None, **options: Any) -> int:
    """Run a pattern on your services.

    SOURCE is a path, - for standard input, stdlib:NAME or the bare NAME of a library pattern. Slots, inputs and
    config keys are given by name. A slot takes a service: a registered, scripted or built-in NAME,
    model:PROVIDER/MODEL, local:NAME, py:MODULE:FUNCTION, "cmd:COMMAND LINE", FILE.prose.md, FILE.prose.md#ENTRY or
    stdlib:NAME; several are separated by commas. A literal VALUE may be any of these, a text from a file only a name.

    A model needs its provider's key in the environment: OPENAI_API_KEY for model:openai/MODEL. `prose show NAME
    --prompt` prints what it would be sent, `prose doctor` what is configured.

    With --cassette FILE --cassette-mode record everything that services answer is kept in FILE. The same command with
    --cassette FILE alone gives the same again, without asking anybody; what it does not know is P409. Secrets are taken
    out before anything is written. PROSE_NO_LIVE_CALLS=1 keeps every model from being asked, in all commands.

    A run is recorded as it goes, in .prose/runs of the project or else in the user's folder for data, so that it can be
    looked at with `prose trace` and gone on with. --no-record keeps none. --resume RUN goes on with a recorded run, as
    `prose resume RUN` does, with the source and the names of this command line: all of them, as they were.

    \b
    Examples:
      $ prose run refine refiner=plain evaluator=readability task_brief="Utilize the form in order to apply."
      $ prose run refine refiner=plain evaluator=readability max_rounds:=1 --json -- task_brief: At this point in time
      $ echo 'return "Hello " + who' | prose run - who=world

    Exit status: 0 done, 1 the run failed, 2 usage, source or contract error, 3 a limit stopped it, 4 waiting for
    a person, 130 interrupted.
    """
    if run is not None and options["record"] is False:
        raise click.UsageError("--resume goes on with a record, and --no-record keeps none", ctx)
    from prose_lang.cli import running

    going = None if run is None else running.Going(run)
    return running.run(running.Request(going=going, **settled(ctx, options)), ctx.ensure_object(Terminal))
