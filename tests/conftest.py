"""Fixtures of all tests. A server is started when the first test asks for it; nothing is kept among the user's data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from servers.postgres import own_postgres_server, postgres_server, postgres_url
from servers.stores import database, folder, place, store
from servers.temporal import own_temporal_server, temporal_server

__all__ = [
    "database",
    "folder",
    "own_postgres_server",
    "own_temporal_server",
    "place",
    "postgres_server",
    "postgres_url",
    "store",
    "temporal_server",
]


@pytest.fixture(scope="session", autouse=True)
def user_data_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder for data of the user that the tests play, here and in the processes that they start: run records are
    kept there where a working directory belongs to no project, and conversations of `persist: user`."""
    folder = tmp_path_factory.mktemp("user-data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder))
        patch.delenv("PROSE_STORE", raising=False)
        yield folder
