"""`prose runs`: the recorded runs, and taking some of them away. What they are is `run_list.py`, `tidying.py`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from prose_lang.cli.keeping import Keeping, location, opened, store_option
from prose_lang.cli.moments import moment, span
from prose_lang.cli.options import json_option, talk_options
from prose_lang.cli.terminal import Terminal

if TYPE_CHECKING:
    from prose_lang.journal import Store

#: Runs that are listed unless told otherwise.
_LISTED = 20


def _moment(ctx: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    return None if text is None else moment(text, end=parameter.name == "until")


def _span(ctx: click.Context, parameter: click.Parameter, text: str | None) -> float | None:
    return None if text is None else span(text)


class _Runs(click.Group):
    """Words that are no subcommand are told as such."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in self.commands and not args[0].startswith("-"):
            raise click.UsageError(
                f"`prose runs` has no `{args[0]}`, only {' and '.join(self.commands)}; "
                f"one run is shown by `prose trace {args[0]}`",
                ctx,
            )
        return super().resolve_command(ctx, args)


@click.group(cls=_Runs, invoke_without_command=True, short_help="List recorded runs, and take some away.")
@click.option("--pattern", metavar="TEXT", help="Only runs of patterns with this in their name.")
@click.option(
    "--status",
    multiple=True,
    type=click.Choice(["ok", "failed", "invalid", "limited", "waiting", "interrupted", "running"]),
    help="Only runs that stand so; repeatable.",
)
@click.option("--since", metavar="TIME", callback=_moment, help="Only runs that began then or later: 2026-05-17, 3h.")
@click.option("--until", metavar="TIME", callback=_moment, help="Only runs that began before; a date is included.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Most runs listed; 20 unless set, of JSON all.")
@store_option
@json_option
@talk_options
@click.pass_context
def command(ctx: click.Context, /, as_json: bool, store: str | None, **which: Any) -> int:
    """List recorded runs, the latest first: when they began, how they stand, what they took.

    A run that is `interrupted` was stopped, or its process died; it can be gone on with, like one that is `failed`,
    `limited` or `waiting`. TIME is a date, a date and a time, or how long ago it was: 90m, 3h, 2d.

    \b
    Examples:
      $ prose run refine refiner=plain evaluator=readability task_brief="Utilize it." && prose runs
      $ prose runs --pattern refine --status ok --status interrupted --since 2d
      $ prose runs --json --limit 5
    """
    keeping = Keeping(store=store)
    if ctx.invoked_subcommand is not None:
        if as_json or any(which.values()):
            raise click.UsageError(f"options of the list do not belong to `{ctx.invoked_subcommand}`", ctx)
        ctx.meta[__name__] = store
        return 0
    terminal = ctx.ensure_object(Terminal)
    from prose_lang.cli.run_list import Table, listed, plain
    from prose_lang.journal import RunFilter

    found = _store_or_none(keeping, terminal)
    if found is None:
        _nothing(keeping, terminal, as_json=as_json)
        return 0
    limit = which["limit"] or (None if as_json else _LISTED)
    some = RunFilter(
        which["pattern"], which["status"], which["since"], which["until"],
        None if limit is None or as_json else limit + 1,
    )  # fmt: skip
    if as_json:
        terminal.write_json([plain(item, found) for item in listed(found, some._replace(limit=limit))])
        return 0
    items = list(listed(found, some))
    if items:
        assert limit is not None
        terminal.write("\n".join(Table(found, terminal, time.time()).lines(items[:limit])))
        if len(items) > limit and not terminal.quiet:
            terminal.say(f"… and more; --limit {2 * limit} lists more of them")
    elif not terminal.quiet:
        asked = any(which[name] for name in ("pattern", "status", "since", "until"))
        terminal.say(f"no run {'like that ' if asked else ''}is recorded in `{found.address}`")
    return 0


def _store_or_none(keeping: Keeping, terminal: Terminal) -> Store | None:
    """The store; None where nothing was ever recorded in the place that nobody named. Raises ProseError."""
    place = location(keeping, terminal)
    if keeping.store is None and "://" not in place.store:
        import os

        if not os.path.isdir(place.store):
            return None
    return opened(keeping, terminal)


def _nothing(keeping: Keeping, terminal: Terminal, *, as_json: bool) -> None:
    if as_json:
        terminal.write_json([])
    elif not terminal.quiet:
        terminal.say(f"no run is recorded in `{location(keeping, terminal).store}`")


def _keeping(ctx: click.Context, store: str | None) -> Keeping:
    """The store as the subcommand names it, or as `prose runs` before it does."""
    return Keeping(store=store or ctx.meta.get(__name__))


@command.command("rm", short_help="Take runs away.")
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--all", "everything", is_flag=True, help="All runs.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@store_option
@talk_options
@click.pass_context
def remove(ctx: click.Context, runs: tuple[str, ...], everything: bool, yes: bool, store: str | None) -> int:
    """Take runs away for good, with all that belongs to them.

    RUN is the id of a run, the beginning of one, or latest. Nothing is taken away if one of them is not there. A run
    that a process works on stays (P503).

    \b
    Examples:
      $ prose run refine refiner=plain evaluator=readability task_brief="Utilize it." && prose runs rm latest
      $ prose runs rm --all --yes
    """
    terminal = ctx.ensure_object(Terminal)
    if bool(runs) == everything:
        raise click.UsageError("either name runs or take --all of them", ctx)
    keeping = _keeping(ctx, store)
    from prose_lang.cli.run_list import run_of
    from prose_lang.cli.tidying import take_away

    if everything and _store_or_none(keeping, terminal) is None:
        _nothing(keeping, terminal, as_json=False)
        return 0
    found = opened(keeping, terminal)
    records = found.runs() if everything else [run_of(found, run) for run in runs]
    ids = list(dict.fromkeys(record.id for record in records))
    if everything and ids and not yes:
        _ask(ctx, terminal, f"take away all {len(ids):,} runs in `{found.address}`?")
    report = take_away(found, ids)
    report.freed = found.clean()
    return report.tell(terminal)


def _ask(ctx: click.Context, terminal: Terminal, question: str) -> None:
    """Go on if a person says so. Raises UsageError where there is none, Abort if they do not."""
    import sys

    if not (sys.stdin.isatty() and terminal.err.isatty()):
        raise click.UsageError("--all takes away everything: add --yes", ctx)
    click.confirm(question, abort=True, err=True)


@command.command("gc", short_help="Take old runs away.")
@click.option("--older-than", metavar="TIME", callback=_span, help="Runs without a sign of life for so long: 30d, 12h.")
@click.option("--keep", type=click.IntRange(0), metavar="N", help="All but the latest N runs.")
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@store_option
@talk_options
@click.pass_context
def collect(ctx: click.Context, older_than: float | None, keep: int | None, dry_run: bool, store: str | None) -> int:
    """Take old runs away, and whatever is left of runs that are gone.

    What may go is said by the options, or else by keep-days and keep of [runs] in prose.toml or [tool.prose.runs] in
    pyproject.toml. Runs go that are older, and those beyond the latest N, also such as could be gone on with; one that
    a process works on stays. Cached answers go at the same age.

    \b
    Examples:
      $ prose runs gc --older-than 30d --keep 200
      $ prose runs gc --keep 20 --dry-run
    """
    terminal = ctx.ensure_object(Terminal)
    keeping = _keeping(ctx, store)
    from prose_lang.cli.tidying import Retention, tidy

    found = _store_or_none(keeping, terminal)
    if found is None:
        _nothing(keeping, terminal, as_json=False)
        return 0
    retention = Retention(older_than, keep)
    if retention == Retention():
        retention = Retention.of(location(keeping, terminal).settings)
    return tidy(found, retention, dry=dry_run).tell(terminal)
