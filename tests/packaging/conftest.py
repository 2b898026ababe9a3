"""What the packaging tests share: the built distributions, and a fresh environment that holds the wheel.

Building and installing need no network: the build system and the dependencies are those of the running interpreter.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

Run = Callable[..., subprocess.CompletedProcess[str]]


def _run(*command: str | Path, cwd: Path, status: int = 0) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**kept, "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == status, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="session")
def run() -> Run:
    """Runs a command in the folder `cwd`, without what the environment says about Python; checks its exit `status`."""
    return _run


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the project."""
    return ROOT


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", folder, ROOT, cwd=folder)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution; beside it lies the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("sdist")
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (path,) = folder.glob("*.tar.gz")
    return path


@pytest.fixture(scope="session")
def read_wheel() -> Callable[[Path], dict[str, bytes]]:
    """Gives the files of a wheel by name."""

    def read(wheel: Path) -> dict[str, bytes]:
        with zipfile.ZipFile(wheel) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    return read


@pytest.fixture(scope="session")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of a new environment that holds nothing but the wheel; the dependencies are borrowed."""
    folder = tmp_path_factory.mktemp("environment")
    _run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    python = folder / "bin" / "python"
    install = ["install", "--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check"]
    _run(sys.executable, "-m", "pip", "--python", python, *install, wheel, cwd=folder)
    packages = _run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).stdout.strip()
    # A folder that a .pth file names comes after the environment's own folder, and its own .pth files are not read:
    # the project as it is installed for development stays out of sight.
    borrowed = dict.fromkeys(sysconfig.get_path(name) for name in ("purelib", "platlib"))
    (Path(packages) / "borrowed.pth").write_text("\n".join(borrowed) + "\n", encoding="utf-8")
    return python.parent
