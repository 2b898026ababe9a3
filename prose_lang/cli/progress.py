"""The live line: how long, which round, how many calls are done, who is at work, and the end of what the oldest call
under way has said so far.

Shown while a run lasts longer than a moment, on a terminal only. It lives in a thread of its own, so that it goes on
while the run waits; the run itself only counts, and a second Ctrl-C finds a terminal that needs no repair.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from types import TracebackType
from typing import TYPE_CHECKING, Any

from prose_lang.cli.hearing import Hearing, with_tail
from prose_lang.cli.places import called, passes
from prose_lang.cli.terminal import Terminal
from prose_lang.runtime.events import CallFinished, CallStarted, Event

if TYPE_CHECKING:
    from rich.live import Live

#: Seconds before the line appears: what is quicker needs none.
PATIENCE = 0.3
#: Seconds between two updates.
INTERVAL = 0.1


class Progress:
    """An observer, and while it is entered a live line on standard error."""

    def __init__(self, terminal: Terminal, title: str) -> None:
        self.terminal = terminal
        self.title = title
        self.started = time.monotonic()
        self.done = self.cached = 0
        self.open: Counter[str] = Counter()
        self.where = ""
        self.hearing = Hearing()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._show, name="prose-progress", daemon=True)

    def __call__(self, event: Event) -> None:
        self.hearing(event)
        if isinstance(event, CallFinished):
            self.done += 1
            self.cached += event.cached
            self.open[called(event.address, event.service)] -= 1
        elif isinstance(event, CallStarted):
            self.open[called(event.address, event.service)] += 1
            self.where = passes(event.address)

    def __enter__(self) -> Progress:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.join()

    def line(self) -> str:
        """What the line says now."""
        # Counted in the run's thread while this one reads: a copy is whole, and a moment old at worst.
        at_work = [f"{name} ×{count}" if count > 1 else name for name, count in dict(self.open).items() if count > 0]
        done = f"{self.done:,} done" + (f", {self.cached:,} from the cache" if self.cached else "")
        parts = [self.title, f"{time.monotonic() - self.started:.1f} s", self.where, done]
        if at_work:
            parts.append(f"waiting for {', '.join(at_work)}")
        redactor = self.terminal.redactor
        text = redactor.text(" · ".join(part for part in parts if part))
        return with_tail(text, self.hearing, redactor, self.terminal.width - 1)

    def _show(self) -> None:
        if self._ended.wait(PATIENCE):
            return
        live = _live(self.terminal)
        with live:
            self.terminal.above = lambda text: _print(live, text)
            try:
                while not self._ended.wait(INTERVAL):
                    live.update(_text(self.line()), refresh=True)
            finally:
                self.terminal.above = None


def _live(terminal: Terminal) -> Live:
    from rich.console import Console
    from rich.live import Live

    class Steady(Console):
        """A console that leaves the cursor alone, so that nothing is hidden when a process is ended at once."""

        def show_cursor(self, show: bool = True) -> bool:
            return False

    console = Steady(file=terminal.err, no_color=not terminal.colors(terminal.err), highlight=False, markup=False)
    return Live(console=console, auto_refresh=False, transient=True)


def _print(live: Any, text: str) -> None:
    from rich.text import Text

    live.console.print(Text.from_ansi(text), soft_wrap=True)


def _text(line: str) -> Any:
    from rich.text import Text

    return Text(line, no_wrap=True, overflow="crop")
