"""What all tests have in common: nothing of theirs is kept among the user's own data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def user_data_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder for data of the user that the tests play, here and in the processes that they start: run records are
    kept there where a working directory belongs to no project, and conversations of `persist: user`."""
    folder = tmp_path_factory.mktemp("user-data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(folder))
        patch.delenv("PROSE_STORE", raising=False)
        yield folder
