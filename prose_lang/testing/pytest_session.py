"""What a pytest session has once: its services, its engine, and what measures coverage if that is asked for.

Each is made when the first test file or test needs it. Loading services runs the user's Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from prose_lang.cassettes import Cassette
    from prose_lang.engine import Engine
    from prose_lang.services.models.settings import ModelSettings
    from prose_lang.testing.coverage import Coverage

_SERVICES = pytest.StashKey["Mapping[str, Any]"]()
_ENGINE = pytest.StashKey["Engine"]()
_CASSETTE = pytest.StashKey["Cassette"]()
_MODELS = pytest.StashKey["ModelSettings"]()
_COVERAGE = pytest.StashKey["Coverage"]()


def session_engine(config: pytest.Config) -> Engine:
    """The engine that runs scenarios. Raises ProseError where its services cannot be loaded, or its judge is none."""
    if _ENGINE not in config.stash:
        from prose_lang.engine import Engine
        from prose_lang.testing.clock import run_virtual

        engine = Engine(
            services=session_services(config),
            models=session_models(config),
            cassette=session_cassette(config),
            probe=session_coverage(config),
        )
        judge = config.getoption("prose_judge")
        if judge is not None:  # looked up for a text that it is never asked about
            run_virtual(engine.decide_async("known", {"known": True}, judge=judge))
        config.stash[_ENGINE] = engine
    return config.stash[_ENGINE]


def session_coverage(config: pytest.Config) -> Coverage | None:
    """What measures the runs of the session under `--prose-coverage`."""
    if not config.getoption("prose_coverage"):
        return None
    if _COVERAGE not in config.stash:
        from prose_lang.testing.coverage import Coverage

        config.stash[_COVERAGE] = Coverage()
    return config.stash[_COVERAGE]


def session_cassette(config: pytest.Config) -> Cassette | None:
    """The cassette of `--prose-cassette` or the setting. Raises ProseError where it is to be replayed and cannot be."""
    if _CASSETTE not in config.stash:
        from prose_lang.cassettes import Cassette

        given, settings = config.getoption("prose_cassette"), config.getini("prose_cassette")
        if not given and not settings:
            return None
        path = config.invocation_params.dir / given if given else _settings_folder(config) / settings
        cassette = Cassette(path, config.getoption("prose_cassette_mode"))
        cassette.check()
        config.stash[_CASSETTE] = cassette
    return config.stash[_CASSETTE]


def session_models(config: pytest.Config) -> ModelSettings:
    """The settings of models of the project that is tested. Raises ProseError."""
    if _MODELS not in config.stash:
        from prose_lang.services.models.reading import settings_in

        config.stash[_MODELS] = settings_in(_settings_folder(config))
    return config.stash[_MODELS]


def session_services(config: pytest.Config) -> Mapping[str, Any]:
    """The services by name. Raises ProseError P103, P109 or P207; then the next call tries again."""
    if _SERVICES not in config.stash:
        files = list(_files(config))
        if not files:
            return {}
        from prose_lang.services import load_services_files

        config.stash[_SERVICES] = load_services_files(files)
    return config.stash[_SERVICES]


def _files(config: pytest.Config) -> Iterator[str]:
    """Files and modules; what a setting says starts at its file's folder, what the command line says where it is."""
    for folder, named in (
        (_settings_folder(config), config.getini("prose_services")),
        (config.invocation_params.dir, config.getoption("prose_services")),
    ):
        yield from (_placed(folder, reference) for reference in named)


def _settings_folder(config: pytest.Config) -> Path:
    return config.inipath.parent if config.inipath is not None else config.rootpath


def _placed(folder: Path, reference: str) -> str:
    is_file = reference.endswith(".py") or "/" in reference or "\\" in reference
    return str(folder / reference) if is_file else reference
