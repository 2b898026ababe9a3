"""`prose run`: its arguments and options. Doing it is `running.py`."""

from __future__ import annotations

from typing import Any

import click

from prose_lang.cli.options import (
    RUN_SECONDS,
    above_zero,
    cassette_options,
    complete_source,
    dollars_or_none,
    talk_options,
)
from prose_lang.cli.queueing import Queueing, detach_option, queue_options
from prose_lang.cli.terminal import Terminal

_AFTER = "prose_lang.cli.run.after"


def _count(value: Any) -> int:
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        raise click.BadParameter(f"{value!r} is not a whole number from 1")
    return number


def _count_or_none(value: Any) -> int | str:
    # click takes None for "not given"; the word stands for the lifted limit until then.
    return "none" if value == "none" else _count(value)


def _seconds_or_none(value: Any) -> float | str:
    return "none" if value == "none" else above_zero(value, "seconds")


class _Run(click.Command):
    """Keeps the words after `--` apart: what they mean differs from what stands before."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            ctx.meta[_AFTER], args = tuple(args[at + 1 :]), args[:at]
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            name = error.option_name.lstrip("-")
            error.hint = f"for a name of the pattern write {name}=VALUE"  # type: ignore[attr-defined]
            raise


@click.command(cls=_Run, short_help="Run a pattern on your services.")
@click.argument("source", shell_complete=complete_source)
@click.argument("names", nargs=-1, metavar="[NAME=VALUE | NAME:=JSON | NAME=@FILE]...")
@click.option("--services", multiple=True, metavar="FILE", help="Python file or module with @service functions.")
@click.option("--script", metavar="FILE", help="Scripted services, for tests and demonstrations without a model.")
@click.option("--inputs", metavar="FILE", help="JSON object of names; - for standard input.")
@click.option("--model", metavar="REF", help="Default model: PROVIDER/MODEL, or an alias of the settings.")
@click.option("--allow-model", is_flag=True, help="Accept a PROVIDER/MODEL that a file names.")
@click.option("--judge", metavar="REF", help="Service that decides conditions which no rule decides.")
@click.option("--no-judge", is_flag=True, help="Never ask a judge.")
@click.option(
    "--max-calls", type=_count_or_none, default=1000, metavar="N", help="Most calls; 1000 unless set, none lifts it."
)
@click.option("--max-tokens", type=_count, metavar="N", help="Most tokens that models take and give.")
@click.option(
    "--max-cost",
    type=dollars_or_none,
    metavar="USD",
    help="Most cost; refuses models without a price. Unless set $5 of known cost, none lifts it.",
)
@click.option(
    "--timeout",
    type=_seconds_or_none,
    default=RUN_SECONDS,
    metavar="SECONDS",
    help="Most wall time; 3600 unless set, none lifts it.",
)
@click.option("--concurrency", type=_count, metavar="N", help="Most calls at the same time.")
@click.option("--strict", is_flag=True, help="Warning events are errors.")
@click.option("--output", type=click.Choice(["human", "json", "jsonl"]), default="human", help="What is printed.")
@click.option("--json", "as_json", is_flag=True, help="Same as --output json.")
@cassette_options
@queue_options
@detach_option
@click.option("--record/--no-record", default=None, help="Keep a run record (not available yet) or none.")
@click.option("--ask", is_flag=True, help="Ask for missing names on the terminal.")
@talk_options
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
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

    \b
    Examples:
      $ prose run refine refiner=plain evaluator=readability task_brief="Utilize the form in order to apply."
      $ prose run refine refiner=plain evaluator=readability max_rounds:=1 --json -- task_brief: At this point in time
      $ echo 'return "Hello " + who' | prose run - who=world

    With --queue NAME the calls of registered services and models are made by `prose worker --queue NAME`, on any
    number of machines; everything else stays here. With --detach besides they evaluate the whole run, from its record:
    its id is printed, and `prose trace` shows what comes of it.

    Exit status: 0 done, 1 the run failed, 2 usage, source or contract error, 3 a limit stopped it, 4 waiting for
    a person, 130 interrupted.
    """
    if options.pop("record"):
        raise click.UsageError("run records are not kept yet; leave --record out", ctx)
    # There is no judge but the one that is named.
    if options.pop("no_judge") and options["judge"] is not None:
        raise click.UsageError("--judge and --no-judge exclude each other", ctx)
    if options.pop("as_json"):
        options["output"] = "json"
    for name in ("max_calls", "timeout"):
        if options[name] == "none":
            options[name] = None

    from prose_lang.cli.running import Request, run

    queueing = Queueing.taken(options)
    return run(Request(after=ctx.meta.get(_AFTER, ()), queueing=queueing, **options), ctx.ensure_object(Terminal))
