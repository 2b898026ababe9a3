"""`prose replay`: a recorded run once more, from its record alone. What is compared is `engine/replaying.py`."""

from __future__ import annotations

from typing import Any

import click

from prose_lang.cli.keeping import Keeping, opened, store_option
from prose_lang.cli.options import json_option, talk_options
from prose_lang.cli.run_options import NamesAfter, after
from prose_lang.cli.terminal import Terminal
from prose_lang.cli.trace import complete_run


@click.command(cls=NamesAfter, short_help="Say whether a recorded run comes out of its record alone.")
@click.argument("run", shell_complete=complete_run)
@click.argument("names", nargs=-1, metavar="[NAME=VALUE | NAME:=JSON | NAME=@FILE]...")
@click.option("--services", multiple=True, metavar="FILE", help="Python file or module with @service functions.")
@click.option("--script", metavar="FILE", help="Scripted services, for their names: no reply is taken.")
@click.option("--model", metavar="REF", help="Default model; that of the record unless set. It is not asked.")
@click.option("--judge", metavar="REF", help="The judge; that of the record unless set. It is not asked.")
@store_option
@json_option
@talk_options
@click.pass_context
def command(ctx: click.Context, /, run: str, as_json: bool, store: str | None, **options: Any) -> int:
    """Run a recorded run once more from its record alone: nothing is called, and nothing is written.

    Everything that the run came to know stands in its record, so it comes out the same, value or error, unless the
    sources or this program have changed. Where it does not, the first call that is not as it was is shown. A run that
    had not come to its end is followed as far as its record goes.

    RUN is the id of a run, the beginning of one, or latest. Names are given again as for `prose resume`. No key and no
    network are needed.

    \b
    Examples:
      $ prose run refine refiner=plain evaluator=readability task_brief="Utilize it."
      $ prose replay latest

    Exit status: 0 it came out the same, 1 it did not, 2 there is no such run, or it could not begin.
    """
    import asyncio
    import json

    from prose_lang.cli import running
    from prose_lang.cli.names import read_names
    from prose_lang.cli.reading import Reader
    from prose_lang.cli.run_list import run_of
    from prose_lang.engine.replaying import replayed

    terminal, reader = ctx.ensure_object(Terminal), Reader()
    with terminal.only_results():
        given = read_names(options.pop("names"), after(ctx), None, reader)
        found = opened(Keeping(store=store), terminal)
        record = run_of(found, run)
        request = running.Request(output="json", **options)
        engine = running.engine_of(request, terminal, reader, (), json.loads(record.options), store=found)
        replay = asyncio.run(replayed(engine, record.id, given))
        if as_json:
            terminal.write_json(replay.as_json())
        else:
            _show(replay, terminal)
    return 0 if replay.diverges is None else 1


def _show(replay: Any, terminal: Terminal) -> None:
    from prose_lang.text import amount

    calls = amount(len(replay.outcome.trace.calls), "call")
    if replay.diverges is None:
        how = "comes out the same" if replay.to_its_end else "comes out the same, as far as its record goes"
        terminal.write(f"the run {replay.record.id} {how} ({calls})")
        return
    terminal.write(f"the run {replay.record.id} does not come out the same: {replay.diverges}")
    if replay.outcome.error is not None:
        terminal.say(replay.outcome.error.render(color=terminal.colors(terminal.err)))
