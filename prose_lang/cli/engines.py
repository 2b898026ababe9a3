"""The engine as the command line sets it up: services of files and scripts, and what is configured about models."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from prose_lang.cli.reading import Reader

if TYPE_CHECKING:
    from prose_lang.cassettes import Cassette
    from prose_lang.cli.terminal import Terminal
    from prose_lang.engine import Engine
    from prose_lang.services import Script
    from prose_lang.services.models.settings import ModelSettings


def services_of_files(files: Iterable[str]) -> dict[str, Any]:
    """The services of the files and modules of `--services`, by name. Raises ProseError."""
    from prose_lang.services import load_services_files

    return dict(load_services_files(files))


def script_of_file(file: str | None, reader: Reader) -> Script | None:
    """The script of `--script`. Raises ProseError."""
    if file is None:
        return None
    from prose_lang.services import read_script

    return read_script(reader.source(file, "the script"))


def cassette_of(file: str | None, mode: str | None) -> Cassette | None:
    """The cassette of `--cassette`, looked at already if it is to be replayed. Raises ProseError, UsageError."""
    if file is None:
        if mode is not None:
            raise click.UsageError("--cassette-mode says what is done with a --cassette FILE, and there is none")
        return None
    from prose_lang.cassettes import MODES, Cassette

    made = Cassette(file, next((known for known in MODES if known == mode), "replay"))
    made.check()
    return made


#: Names hosts to which a base URL of a settings file may send a key, separated by commas.
ALLOW_HOSTS = "PROSE_ALLOW_HOSTS"


def model_settings(terminal: Terminal, model: str | None = None, *, allow_models: bool = False) -> ModelSettings:
    """The settings of models of the working directory's project, with what the command line says. Raises ProseError.

    The keys that they name are kept out of everything that is shown.
    """
    import attrs

    from prose_lang.services.models.choice import mapped
    from prose_lang.services.models.reading import settings_in

    found = settings_in(Path.cwd())
    for name in found.key_names:
        terminal.hide(terminal.environ.get(name, ""))
    hosts = frozenset(host.strip() for host in terminal.environ.get(ALLOW_HOSTS, "").split(",") if host.strip())
    if model is not None:
        model = written_model(model)
        mapped(found, model)
    return attrs.evolve(found, default=model or found.default, allow_models=allow_models, allow_hosts=hosts)


def engine_for_looking(services: Iterable[str], script: str | None, reader: Reader) -> Engine:
    """An engine that knows the names of services, for commands that run nothing. Raises ProseError."""
    from prose_lang.engine import Engine
    from prose_lang.services import scripted_services

    known: dict[str, Any] = services_of_files(services)
    replies = script_of_file(script, reader)
    if replies is not None:
        known.update(scripted_services(replies))
    return Engine(services=known)


def written_model(text: str) -> str:
    """A model as it is written on the command line, which may be a reference, as settings and requests name it.

    >>> written_model("model:openai/gpt-x"), written_model("local:smollm2"), written_model("fast")
    ('openai/gpt-x', 'local/smollm2', 'fast')
    """
    text = text.strip().removeprefix("model:")
    return f"local/{text.removeprefix('local:')}" if text.startswith("local:") else text
