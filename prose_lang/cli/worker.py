"""`prose worker`: its options. Doing it is `working.py`."""

from __future__ import annotations

from typing import Any

import click

from prose_lang.cli.options import talk_options
from prose_lang.cli.queueing import server_options
from prose_lang.cli.terminal import Terminal


@click.command(short_help="Make calls for runs of other processes.")
@click.option("--services", multiple=True, metavar="FILE", help="Python file or module with @service functions.")
@click.option("--queue", required=True, metavar="NAME", help="Task queue that runs send their calls to.")
@click.option(
    "--slots", type=click.IntRange(1, 1000), default=4, metavar="N", help="Calls at the same time; 4 unless set."
)
@click.option(
    "--runs", type=click.IntRange(0, 1000), default=4, metavar="N", help="Detached runs at the same time; 4 unless set."
)
@click.option("--store", metavar="FOLDER|URL", help="Where the runs are kept.")
@server_options
@talk_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Make calls for runs of other processes.

    Takes calls from a task queue of a Temporal server and makes them with the services of --services FILE and with the
    models whose keys are in the environment. Runs send them there with `prose run … --queue NAME`. Any number of
    workers may share a queue; together they make as many calls at a time as they have slots. Where one dies another
    makes its calls.

    It also evaluates runs that were handed over with `prose run … --detach`, in slots of their own (--runs): from their
    records, so that it needs their --store.

    With the --store of the runs an answer is kept there before it is given, so that no call is made twice that has
    been answered, whatever dies.

    Ctrl-C, or SIGTERM, once: it takes nothing new, ends what it does, and gives back to the queue what takes longer
    than 30 s. Twice: it ends at once, and its calls go to another worker.

    \b
    Examples:
      $ prose worker --services services.py --queue research --slots 8
      $ prose run refine refiner=writer evaluator=critic task_brief="…" --services services.py --queue research

    Exit status: 0 stopped, 2 it could not begin, 1 it could not go on.
    """
    from prose_lang.cli.working import Request, work

    return work(Request(**options), ctx.ensure_object(Terminal))
