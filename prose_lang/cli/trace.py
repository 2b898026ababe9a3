"""`prose trace`: a recorded run as a tree, as JSON, or one call of it. How it looks is `tracing.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from prose_lang.cli.keeping import Keeping, opened, store_option
from prose_lang.cli.options import json_option, talk_options
from prose_lang.cli.terminal import Terminal

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_LATEST = "latest"


def complete_run(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The ids of the latest runs, for a command with `--store`."""
    from click.shell_completion import CompletionItem

    from prose_lang.diagnostics import ProseError
    from prose_lang.journal import RunFilter

    try:
        records = opened(Keeping(store=ctx.params.get("store")), Terminal()).runs(RunFilter(limit=50))
    except ProseError:
        return []
    return [CompletionItem(record.id, help=record.pattern) for record in records if record.id.startswith(incomplete)]


@click.command(short_help="Show a recorded run as a tree.")
@click.argument("run", default=_LATEST, metavar="[RUN]", shell_complete=complete_run)
@click.option("--call", "address", metavar="ADDRESS", help="Only this call, with all that it was given and gave.")
@click.option("--full", is_flag=True, help="What calls were given and gave in full, and their addresses.")
@click.option("--all", "everything", is_flag=True, help="All calls, however many there are.")
@click.option("--html", metavar="FILE", help="Write a page for a browser, which needs no script and no network.")
@store_option
@json_option
@talk_options
@click.pass_context
def command(ctx: click.Context, /, run: str, store: str | None, as_json: bool, **how: Any) -> int:
    """Show a recorded run as a tree: what was called, how long it took and what it cost, how conditions fell and why.

    RUN is the id of a run, the beginning of one, or latest, which it is unless given. It may be under way. Around the
    calls stand the patterns, blocks, loops, passes and branches that they were made in. Of a long run the first and the
    last of each are shown. With -v each call is shown with its ADDRESS; the end of one is enough where no other ends
    so.

    \b
    Examples:
      $ prose run refine refiner=plain evaluator=readability task_brief="Utilize it." && prose trace
      $ prose trace latest --json
      $ prose trace --call 0.call:refiner
      $ prose trace --html run.html && head -c 15 run.html
    """
    if how["html"] is not None and (as_json or how["address"] is not None):
        raise click.UsageError("--html is a form of its own: leave --json and --call out", ctx)
    terminal = ctx.ensure_object(Terminal)
    found = opened(Keeping(store=store), terminal)
    from prose_lang.cli.run_list import run_of
    from prose_lang.cli.tracing import Tracing

    tracing = Tracing(found, run_of(found, run), terminal, full=how["full"], everything=how["everything"])
    if how["address"] is not None:
        entry = tracing.call(how["address"])
        if as_json:
            terminal.write_json(tracing.plain_call(entry))
        else:
            terminal.write("\n".join(tracing.one_call(entry)))
    elif how["html"] is not None:
        from prose_lang.cli.trace_page import page_text
        from prose_lang.cli.writing import write_result

        write_result(how["html"], page_text(tracing, everything=how["everything"]), terminal)
    elif as_json:
        terminal.write_json(tracing.plain())
    else:
        terminal.write("\n".join(tracing.lines()))
    return 0
