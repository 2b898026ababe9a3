"""Which project a folder belongs to, and whose folders count."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from prose_lang.diagnostics import SourceError
from prose_lang.settings import project_folder
from prose_lang.settings.files import is_own


@pytest.mark.parametrize("marker", ["prose.toml", ".prose/", "pyproject.toml"])
def test_what_makes_a_project(tmp_path: Path, marker: str) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert project_folder(inner) is None
    if marker.endswith("/"):
        (tmp_path / marker).mkdir()
    else:
        (tmp_path / marker).write_text("[tool.prose.lint]\nignore = []\n" if marker == "pyproject.toml" else "")
    assert project_folder(inner) == tmp_path
    assert project_folder(tmp_path) == tmp_path


def test_another_table_makes_none(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.other]\nprose = 1\n")
    assert project_folder(tmp_path) is None


def test_the_nearest_counts_and_none_beyond_the_repository(tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    inner = repository / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "prose.toml").touch()
    assert project_folder(inner) == tmp_path
    (repository / ".git").mkdir()
    assert project_folder(inner) is None
    (repository / ".prose").mkdir()
    assert project_folder(inner) == repository
    (inner / "prose.toml").touch()
    assert project_folder(inner) == inner


def test_a_dependency_is_not_part_of_the_project_around_it(tmp_path: Path) -> None:
    (tmp_path / "prose.toml").touch()
    installed = tmp_path / "deps" / "github.com" / "owner" / "name" / "src"
    installed.mkdir(parents=True)
    assert project_folder(installed) is None


def test_a_folder_of_another_user_is_no_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (inner / "prose.toml").touch()
    owner = os.stat(inner).st_uid
    monkeypatch.setattr(os, "getuid", lambda: owner + 1)
    assert (project_folder(inner), is_own(inner)) == (None, False)
    monkeypatch.setattr(os, "getuid", lambda: 0)  # root, as in most containers
    assert (project_folder(inner), is_own(inner)) == (inner, True)
    assert not is_own(tmp_path / "missing") or os.getuid() == 0


def test_a_file_that_is_no_toml_is_told(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.prose")
    with pytest.raises(SourceError) as caught:
        project_folder(tmp_path)
    assert caught.value.code == "P103"
