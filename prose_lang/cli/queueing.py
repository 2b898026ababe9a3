"""Calls and runs that are made elsewhere: the options of `prose run` for it, and handing a run over (`--detach`)."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import attrs
import click

if TYPE_CHECKING:
    from prose_lang.cli.terminal import Terminal
    from prose_lang.engine import Engine, Given, Pattern
    from prose_lang.transports import Transport

_F = TypeVar("_F", bound=Callable[..., Any])


def server_options(function: _F) -> _F:
    """`--temporal` and `--namespace`: where the server is."""
    function = click.option(
        "--namespace", default="default", metavar="NAME", help="Namespace on the server; default unless set."
    )(function)
    return click.option(
        "--temporal", metavar="HOST:PORT", help="Temporal server; unless set $PROSE_TEMPORAL or 127.0.0.1:7233."
    )(function)


def queue_options(function: _F) -> _F:
    """Those and `--queue`: for commands that evaluate a run."""
    return click.option("--queue", metavar="NAME", help="Have calls made by the workers of a queue (prose worker).")(
        server_options(function)
    )


def detach_option(function: _F) -> _F:
    """`--detach`: for commands that begin a run."""
    return click.option("--detach", is_flag=True, help="Hand the whole run to the workers of the --queue.")(function)


@attrs.frozen
class Queueing:
    """What the options say."""

    queue: str | None = None
    temporal: str | None = None
    namespace: str = "default"
    detach: bool = False

    @classmethod
    def taken(cls, options: dict[str, Any]) -> Queueing:
        """What a command was given, taken out of its options. Raises UsageError."""
        names = ("queue", "temporal", "namespace", "detach")
        made = cls(**{name: options.pop(name) for name in names if name in options})
        if made.queue is None and made.detach:
            raise click.UsageError("--detach hands the run to the workers of a --queue NAME, and there is none")
        if made.queue is None and made.temporal is not None:
            raise click.UsageError("--temporal says where the server of a --queue NAME is, and there is none")
        if made.detach:
            for name in ("script", "cassette"):
                if options.get(name) is not None:
                    raise click.UsageError(f"--detach and --{name} exclude each other: workers do not have the file")
            if options.get("output") == "jsonl":
                raise click.UsageError("--detach has no events to print; use --output json")
        return made

    def words(self) -> list[str]:
        """The options that go on with a run in the same way, as they are written."""
        said: list[str] = []
        for option, value in (("--queue", self.queue), ("--temporal", self.temporal)):
            if value is not None:
                said += [option, value]
        return [*said, "--namespace", self.namespace] if self.namespace != "default" else said

    def transport(self, terminal: Terminal) -> Transport | None:
        """What carries calls there; None where they are made here. Raises ProseError P504."""
        if self.queue is None:
            return None
        from prose_lang.transports.temporal import TemporalDispatch

        told = None if terminal.quiet else terminal.say
        return TemporalDispatch(self.queue, address=self.temporal, namespace=self.namespace, told=told)


def hand_over(
    engine: Engine, pattern: Pattern, given: Mapping[str, Given], queue: str, output: str, terminal: Terminal,
    store: str | None = None,
) -> None:  # fmt: skip
    """Hand a run over, and say which it is. `store` is what the user said about that.

    Raises ProseError, and UsageError where the run would have no record.
    """
    if engine.records is None:
        raise click.UsageError("a detached run is evaluated from its record, and none is kept")
    run = engine.detach(pattern, given)
    if output == "json":
        terminal.write_json({"run_id": run, "status": "running"})
        return
    terminal.write(run)
    if not terminal.quiet:
        where = f" --store {shlex.quote(store)}" if store is not None else ""
        terminal.say(f"handed to the workers of the queue `{queue}`: `prose trace {run}{where}` shows how it goes")
