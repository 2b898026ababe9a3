"""The options of a run, as `prose run`, `prose resume` and `prose answer` have them in common.

A limit that is not given is None here, so that a run which is gone on with keeps those of its record.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from prose_lang.cli.keeping import Keeping
from prose_lang.cli.options import above_zero, cassette_options, dollars_or_none, talk_options

_F = TypeVar("_F", bound=Callable[..., Any])
_AFTER = "prose_lang.cli.run.after"
#: What stands in the help of a limit where a run is begun, and where one is gone on with.
_UNLESS = {True: "1000 unless set", False: "that of the record unless set"}


def _count(value: Any) -> int:
    try:
        number = int(value)
    except ValueError:
        number = 0
    if number < 1:
        raise click.BadParameter(f"{value!r} is not a whole number from 1")
    return number


def _count_or_none(value: Any) -> int | str:
    # click takes None for "not given"; the word stands for the lifted limit.
    return "none" if value == "none" else _count(value)


def _seconds_or_none(value: Any) -> float | str:
    return "none" if value == "none" else above_zero(value, "seconds")


class NamesAfter(click.Command):
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


def after(ctx: click.Context) -> tuple[str, ...]:
    """The words after `--`."""
    found: tuple[str, ...] = ctx.meta.get(_AFTER, ())
    return found


def run_options(*, new: bool) -> Callable[[_F], _F]:
    """Those of a run that is begun (`new`), or of one that is gone on with."""
    the_record = "; that of the record unless set" if not new else ""

    def decorate(function: _F) -> _F:
        strict = "--strict" if new else "--strict/--no-strict"
        for option in reversed(
            [
                click.option(
                    "--services", multiple=True, metavar="FILE", help="Python file or module with @service functions."
                ),
                click.option(
                    "--script", metavar="FILE", help="Scripted services, for tests and demonstrations without a model."
                ),
                click.option("--inputs", metavar="FILE", help="JSON object of names; - for standard input."),
                click.option(
                    "--model", metavar="REF",
                    help=f"Default model: PROVIDER/MODEL, or an alias of the settings{the_record}.",
                ),
                click.option("--allow-model", is_flag=True, help="Accept a PROVIDER/MODEL that a file names."),
                click.option(
                    "--judge", metavar="REF", help=f"Service that decides conditions which no rule decides{the_record}."
                ),
                click.option("--no-judge", is_flag=True, help="Never ask a judge."),
                click.option(
                    "--max-calls", type=_count_or_none, metavar="N",
                    help=f"Most calls; {_UNLESS[new]}, none lifts it.",
                ),
                click.option(
                    "--max-tokens", type=_count if new else _count_or_none, metavar="N",
                    help=f"Most tokens that models take and give{the_record}.",
                ),
                click.option(
                    "--max-cost", type=dollars_or_none, metavar="USD",
                    help="Most cost; refuses models without a price. "
                    + ("Unless set $5 of known cost, none lifts it." if new else f"{_UNLESS[new].capitalize()}."),
                ),
                click.option(
                    "--timeout", type=_seconds_or_none, metavar="SECONDS",
                    help=f"Most wall time; {'3600 unless set' if new else _UNLESS[new]}, none lifts it.",
                ),
                click.option(
                    "--concurrency", type=_count if new else _count_or_none, metavar="N",
                    help=f"Most calls at the same time{the_record}.",
                ),
                click.option(
                    strict, default=None, is_flag=True, help=f"Warning events are errors{the_record}."
                ),
                click.option(
                    "--output", type=click.Choice(["human", "json", "jsonl"]), default="human", help="What is printed."
                ),
                click.option("--json", "as_json", is_flag=True, help="Same as --output json."),
                cassette_options,
                talk_options,
            ]
        ):  # fmt: skip
            function = option(function)
        return function

    return decorate


def settled(ctx: click.Context, options: dict[str, Any]) -> dict[str, Any]:
    """Options as a `Request` takes them. Raises UsageError for some that exclude each other."""
    if options["no_judge"] and options["judge"] is not None:
        raise click.UsageError("--judge and --no-judge exclude each other", ctx)
    if options.pop("as_json"):
        options["output"] = "json"
    return {"after": after(ctx), "keeping": Keeping.taken(options), **options}
