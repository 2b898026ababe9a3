"""Options and completions that several commands have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from prose_lang.cli.terminal import Terminal

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

#: Seconds of wall time of a run on the command line, unless others are set: who embeds the engine sets their own.
RUN_SECONDS = 3600.0

_F = TypeVar("_F", bound=Callable[..., Any])


def talk_options(function: _F) -> _F:
    """`-q` and `-v`: how much is said on standard error."""

    def quiet(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
        if value:
            ctx.ensure_object(Terminal).verbosity = -1

    def verbose(ctx: click.Context, parameter: click.Parameter, value: int) -> None:
        terminal = ctx.ensure_object(Terminal)
        if value and not terminal.quiet:
            terminal.verbosity = value

    function = click.option(
        "-v", "--verbose", count=True, expose_value=False, callback=verbose, help="Say more; -vv says everything."
    )(function)
    return click.option(
        "-q", "--quiet", is_flag=True, expose_value=False, is_eager=True, callback=quiet, help="Say only what is wrong."
    )(function)


def above_zero(value: Any, unit: str) -> float:
    """A number above 0. Raises BadParameter."""
    try:
        number = float(value)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise click.BadParameter(f"{value!r} is not a number of {unit} above 0")
    return number


def dollars_or_none(value: Any) -> float | str:
    """US dollars, or the word that lifts a limit. Raises BadParameter."""
    return "none" if value == "none" else above_zero(value, "US dollars")


def percent(value: Any) -> float:
    """A percentage from 0 to 100. Raises BadParameter."""
    try:
        number = float(value)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 100:
        raise click.BadParameter(f"{value!r} is not a percentage from 0 to 100")
    return number


def cassette_options(function: _F) -> _F:
    """`--cassette` and `--cassette-mode`."""
    function = click.option(
        "--cassette-mode",
        type=click.Choice(["live", "record", "replay"]),
        metavar="MODE",
        help="replay (unless set): answers come from the cassette and nothing is asked; record: ask, and add to it; "
        "live: leave it alone.",
    )(function)
    return click.option("--cassette", metavar="FILE", help="Recording of what services answer.")(function)


def json_option(function: _F) -> _F:
    """`--json`: the same as one JSON value."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def complete_source(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the library, then files: what stands for a pattern on the command line."""
    from click.shell_completion import CompletionItem

    from prose_lang.resources import library_names

    names = [CompletionItem(name) for name in library_names() if name.startswith(incomplete)]
    return names or [CompletionItem(incomplete, type="file")]
