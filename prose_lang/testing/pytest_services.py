"""The services that a pytest session registers: those of `--prose-services` and of the setting `prose_services`.

Loaded once, when the first test file or test needs them: loading runs the user's Python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

_LOADED = pytest.StashKey["Mapping[str, Any]"]()


def session_services(config: pytest.Config) -> Mapping[str, Any]:
    """The services by name. Raises ProseError P103, P109 or P207; then the next call tries again."""
    if _LOADED not in config.stash:
        files = list(_files(config))
        if not files:
            return {}
        from prose_lang.services import load_services_files

        config.stash[_LOADED] = load_services_files(files)
    return config.stash[_LOADED]


def _files(config: pytest.Config) -> Iterator[str]:
    """Files and modules; what a setting says starts at its file's folder, what the command line says where it is."""
    settings = config.inipath.parent if config.inipath is not None else config.rootpath
    for folder, named in (
        (settings, config.getini("prose_services")),
        (config.invocation_params.dir, config.getoption("prose_services")),
    ):
        yield from (_placed(folder, reference) for reference in named)


def _placed(folder: Path, reference: str) -> str:
    is_file = reference.endswith(".py") or "/" in reference or "\\" in reference
    return str(folder / reference) if is_file else reference
