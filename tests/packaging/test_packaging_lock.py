"""The lock: every package pinned with hashes, in agreement with pyproject.toml, and no place to fetch it from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

FILES = ["runtime.txt", "dev.txt", "build.txt"]


def read(path: Path) -> dict[str, tuple[Version, tuple[str, ...]]]:
    """The version and the digests of each package of a lock file."""
    locked: dict[str, tuple[Version, tuple[str, ...]]] = {}
    for line in path.read_text(encoding="utf-8").replace("\\\n", "").splitlines():
        if line.lstrip().startswith("#"):
            continue
        pin, *digests = line.split(" --hash=")
        requirement = Requirement(pin)
        (only,) = requirement.specifier
        locked[canonicalize_name(requirement.name)] = (Version(only.version), tuple(digests))
    return locked


@pytest.fixture(scope="module")
def declared(root: Path) -> dict[str, list[Requirement]]:
    """What pyproject.toml asks for, by the lock file that must hold it."""
    data: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    runtime, dev = data["project"]["dependencies"], data["dependency-groups"]["dev"]
    wanted = {"runtime.txt": runtime, "dev.txt": [*runtime, *dev], "build.txt": data["build-system"]["requires"]}
    return {name: [Requirement(text) for text in texts] for name, texts in wanted.items()}


@pytest.mark.parametrize("name", FILES)
def test_every_line_is_a_pin_a_digest_or_a_comment(root: Path, name: str) -> None:
    shapes = r"[A-Za-z0-9._-]+==[^ ;]+( ; [^\\]+)? \\|    --hash=sha256:[0-9a-f]{64}( \\)?|#.*|    #.*"
    lines = (root / "requirements" / name).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not re.fullmatch(shapes, line)] == []


@pytest.mark.parametrize("name", FILES)
def test_the_lock_names_no_host(root: Path, name: str) -> None:
    assert "://" not in (root / "requirements" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FILES)
def test_what_is_declared_is_locked_at_an_allowed_version(
    root: Path, declared: dict[str, list[Requirement]], name: str
) -> None:
    locked = read(root / "requirements" / name)
    for requirement in declared[name]:
        version, digests = locked[canonicalize_name(requirement.name)]
        assert version in requirement.specifier, f"{version} is not {requirement}: run `make lock`"
        assert digests


@pytest.mark.parametrize("name", ["runtime.txt", "build.txt"])
def test_the_development_lock_holds_the_same_pins(root: Path, name: str) -> None:
    development = read(root / "requirements" / "dev.txt")
    others = read(root / "requirements" / name)
    assert {key: development.get(key) for key in others} == others


def test_the_model_client_is_no_withdrawn_or_vulnerable_release(root: Path) -> None:
    version, _ = read(root / "requirements" / "runtime.txt")["litellm"]
    assert version >= Version("1.83.7")
