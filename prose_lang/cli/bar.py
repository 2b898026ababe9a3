"""A progress bar on standard error, for commands that look at many files; on a terminal only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from prose_lang.cli.terminal import Terminal

_T = TypeVar("_T")
#: Fewer files than this are done before anybody could read a bar.
FEW = 20


def counted(items: Sequence[_T], terminal: Terminal, title: str) -> Iterator[_T]:
    """The items one after the other, with a bar that tells how many are done; it is gone when the last one is."""
    if len(items) < FEW or terminal.quiet or not terminal.live:
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(file=terminal.err, no_color=not terminal.colors(terminal.err), highlight=False, markup=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True, redirect_stdout=False, redirect_stderr=False) as progress:
        yield from progress.track(items, description=title)
