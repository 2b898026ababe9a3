"""Where runs are recorded, and the options for it.

The first of these that is given says where:

    --store PLACE            a folder, or a URL
    PROSE_STORE              the same, in the environment
    [runs] store             of prose.toml, or [tool.prose.runs] of pyproject.toml (`record_settings.py`)
    .prose/runs              in the folder of the project that the working directory belongs to
    prose/runs               in the user's folder for data

What a store keeps and how it is read back is `journal/` and `engine/recording.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

if TYPE_CHECKING:
    from prose_lang.cli.record_settings import RecordSettings
    from prose_lang.cli.terminal import Terminal
    from prose_lang.engine import Outcome
    from prose_lang.journal import Store

#: The variable that says where runs are recorded.
STORE = "PROSE_STORE"

_F = TypeVar("_F", bound=Callable[..., Any])


def store_option(function: _F) -> _F:
    """`--store`: for commands that look at records."""
    return click.option("--store", metavar="PLACE", help="Where runs are recorded: a folder or a URL.")(function)


def writing_options(function: _F) -> _F:
    """`--store`, `--durability`, `--on-store-error` and `--cache`: for commands that go on with a record."""
    function = click.option(
        "--cache",
        type=click.Choice(["read", "write", "both"]),
        help="Take answers of models from the store (read), keep them there (write), or both; off unless set.",
    )(function)
    function = click.option(
        "--on-store-error",
        type=click.Choice(["continue", "stop"]),
        default="continue",
        help="Where a run cannot be recorded: go on without (unless set), or stop.",
    )(function)
    function = click.option(
        "--durability",
        type=click.Choice(["normal", "full"]),
        default="normal",
        help="normal (unless set): a record survives its process; full: the loss of power too.",
    )(function)
    return store_option(function)


def recording_options(function: _F) -> _F:
    """Those, and `--record/--no-record`: for commands that begin a run."""
    return click.option(
        "--record/--no-record", default=None, help="Keep a record of the run, so that it can be resumed (unless set)."
    )(writing_options(function))


class Keeping(NamedTuple):
    """What the options say. `record` is None where neither `--record` nor `--no-record` is given; `cache` is `read`,
    `write`, `both` or None."""

    record: bool | None = None
    store: str | None = None
    durability: str = "normal"
    on_store_error: str = "continue"
    cache: str | None = None

    @classmethod
    def taken(cls, options: dict[str, Any]) -> Keeping:
        """What a command was given, taken out of its options. Raises UsageError."""
        names = ("record", "store", "durability", "on_store_error", "cache")
        made = cls(**{name: options.pop(name) for name in names if name in options})
        if made.record is False and made.store is not None:
            raise click.UsageError("--store and --no-record exclude each other")
        if made.record is False and made.cache is not None:
            raise click.UsageError("--cache and --no-record exclude each other: answers are cached where runs are kept")
        return made

    @property
    def insists(self) -> bool:
        """Whether the user said that they want a record: then there is no run without one."""
        return self.record is True or self.store is not None


class Location(NamedTuple):
    """Where runs are recorded: `store` is a folder or a URL, as `journal.open_store` takes it, and `by` what says so,
    if anything does. `settings` are those of the project; `ours` tells whether they may say what is kept there: not
    where the store is another one than the project's."""

    store: str
    settings: RecordSettings
    ours: bool
    by: str | None


def location(keeping: Keeping, terminal: Terminal) -> Location:
    """Where the runs of the working directory are recorded. Raises ProseError for settings that are faulty."""
    from prose_lang.cli.record_settings import record_settings

    folder = Path.cwd()
    settings = record_settings(folder, terminal.environ)
    if keeping.store is not None and not keeping.store.strip():
        raise click.UsageError("--store needs a folder or a URL, and is empty")
    said = (terminal.environ.get(STORE) if keeping.store is None else keeping.store) or ""
    if said.strip():
        _hide_password(said, terminal)
        if said.startswith("~"):  # quoted, or of a file of variables: no shell has replaced it
            said = os.path.expanduser(said)
        return Location(said, settings, ours=False, by="--store" if keeping.store else STORE)
    if settings.store is not None:
        return Location(settings.store, settings, ours=True, by="the settings file")
    from prose_lang.settings import project_folder

    project = project_folder(folder)
    if project is not None:
        return Location(str(project / ".prose" / "runs"), settings, ours=True, by=None)
    from prose_lang.engine.conversations import user_folder

    return Location(str(user_folder() / "runs"), settings, ours=False, by=None)


def engine_arguments(keeping: Keeping, terminal: Terminal) -> Mapping[str, Any]:
    """The arguments of an `Engine` that records as the options say; none where nothing is to be recorded.

    Where the user insists on a record, or a run is gone on with, the store is opened here and can be written to.
    Raises ProseError: P501 or P503 for such a store, and for settings that are faulty.
    """
    if keeping.record is False:
        return {}
    place = location(keeping, terminal)
    if keeping.record is None and not place.settings.record and not keeping.insists and keeping.cache is None:
        return {}
    store: str | Store = place.store
    if keeping.insists:
        store = opened(keeping, terminal, make=True)
        store.write(())  # nothing is written: it is seen that it could be
    return {
        "store": store, "durability": keeping.durability, "on_store_error": keeping.on_store_error,
        "cache": keeping.cache,
    }  # fmt: skip


def opened(keeping: Keeping, terminal: Terminal, *, make: bool = False) -> Store:
    """The store that the options mean. With `make` off there has to be one. Raises ProseError P501, P503."""
    from prose_lang.journal import open_store

    return open_store(location(keeping, terminal).store, durability=keeping.durability, make=make)


def say_unrecorded(outcome: Outcome, terminal: Terminal) -> None:
    """Say on one line of standard error why a run has no record, or one that breaks off, where it was to have one; the
    same of its cache."""
    for error, what in (
        (outcome.unrecorded, "the run could not be recorded to its end"),
        (outcome.uncached, "the cache could not be used to the end"),
    ):
        if error is not None:
            from prose_lang.diagnostics.visible import visible

            mark = terminal.paint("1;33", f"warning[{error.code}]")
            terminal.say(f"{mark}: {what}: {visible(error.message)}")


def _hide_password(store: str, terminal: Terminal) -> None:
    """A password in a URL is kept out of everything that is shown."""
    if "://" not in store:
        return
    from urllib.parse import unquote, urlsplit

    try:
        password = urlsplit(store).password
    except ValueError:
        return
    if password:
        terminal.hide(password)
        terminal.hide(unquote(password))
