"""The engine as the command line sets it up: services of files and scripts, limits, judge."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from prose_lang.cli.reading import Reader

if TYPE_CHECKING:
    from prose_lang.engine import Engine
    from prose_lang.runtime.effects import Service
    from prose_lang.services import Script


def services_of_files(files: Iterable[str]) -> dict[str, Service]:
    """The services of the files and modules of `--services`, by name. Raises ProseError."""
    from prose_lang.services import load_services_files

    return dict(load_services_files(files))


def script_of_file(file: str | None, reader: Reader) -> Script | None:
    """The script of `--script`. Raises ProseError."""
    if file is None:
        return None
    from prose_lang.services import read_script

    return read_script(reader.source(file, "the script"))


def engine_for_looking(services: Iterable[str], script: str | None, reader: Reader) -> Engine:
    """An engine that knows the names of services, for commands that run nothing. Raises ProseError."""
    from prose_lang.engine import Engine
    from prose_lang.services import scripted_services

    known: dict[str, Any] = services_of_files(services)
    replies = script_of_file(script, reader)
    if replies is not None:
        known.update(scripted_services(replies))
    return Engine(services=known)
