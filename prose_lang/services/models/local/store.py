"""Where the files of local models are: the user's cache, or the folder that PROSE_MODELS names.

A file gets there in one step, whole and checked, or not at all. Whoever finds a file of the right size may take it for
the model; what it holds is checked against its digest before it is loaded.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from prose_lang.diagnostics import RunError
from prose_lang.services.models.local.catalogue import LocalModel

#: Names the folder of the models in place of the one in the user's cache.
FOLDER = "PROSE_MODELS"

_CHUNK = 1 << 20
#: What has to stay free, in bytes.
_SPARE = 10_000_000


def models_folder(environ: Mapping[str, str] | None = None, platform: str = sys.platform) -> Path:
    """The folder of the models; it need not exist.

    >>> models_folder({"XDG_CACHE_HOME": "/caches"}, "linux").as_posix()
    '/caches/prose/models'
    """
    environ = os.environ if environ is None else environ
    if environ.get(FOLDER):
        return Path(environ[FOLDER]).absolute()
    if platform == "win32":
        base = environ.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif platform == "darwin":
        base = str(Path.home() / "Library" / "Caches")
    else:
        base = environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "prose" / "models"


class Store:
    """The models of a folder."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or models_folder()

    def path(self, model: LocalModel) -> Path:
        """Where a model's file is, or would be."""
        return self.folder / model.file

    def has(self, model: LocalModel) -> bool:
        """Whether a model is there; its content is not looked at."""
        try:
            return self.path(model).stat().st_size == model.size
        except OSError:
            return False

    def check(self, model: LocalModel) -> None:
        """Raise RunError P410 if a model is not there."""
        if not self.has(model):
            raise _absent(model)

    def checked(self, model: LocalModel) -> Path:
        """The file of a model, its content compared with the digest. Raises RunError P410."""
        path = self.path(model)
        try:
            with path.open("rb") as file:
                found = _copied(file, None, model)
        except FileNotFoundError:
            raise _absent(model) from None
        except OSError as error:
            raise RunError("P410", f"`{path}` cannot be read: {_reason(error)}") from None
        if found is not None:
            raise RunError("P410", f"`{path}` is damaged: {found}", hint=f"prose models install {model.name}")
        return path

    @contextlib.contextmanager
    def workplace(self, needed: int) -> Iterator[Path]:
        """A folder beside the models that vanishes again, with room for so many bytes. Raises RunError P410."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(self.folder).free
            place = tempfile.TemporaryDirectory(prefix=".new-", dir=self.folder, ignore_cleanup_errors=True)
        except OSError as error:
            hint = f"another folder can be named with {FOLDER}"
            raise RunError("P410", f"`{self.folder}` cannot be written: {_reason(error)}", hint=hint) from None
        with place as name:
            if free < needed + _SPARE:
                raise RunError(
                    "P410",
                    f"{needed / 1e6:,.0f} MB are needed in `{self.folder}`, and {free / 1e6:,.0f} MB are free",
                    hint=f"make room, or name another folder with {FOLDER}",
                )
            yield Path(name)

    def put(self, model: LocalModel, source: BinaryIO, workplace: Path) -> Path:
        """Check what a file says and put it in its place, in one step. Raises RunError P410 if it is another file."""
        made = workplace / model.file
        try:
            with made.open("wb") as target:
                found = _copied(source, target, model)
                target.flush()
                os.fsync(target.fileno())
            if found is not None:
                raise RunError("P410", f"this is not `{model.name}`: {found}", hint="nothing was installed")
            made.replace(self.path(model))
        except OSError as error:
            raise RunError("P410", f"`{self.path(model)}` cannot be written: {_reason(error)}") from None
        return self.path(model)

    def remove(self, model: LocalModel) -> int:
        """Remove a model with all of its versions; how many bytes are free again. Raises RunError P410."""
        freed = 0
        for path in sorted(self.folder.glob(f"{model.name}-*.gguf")) if self.folder.is_dir() else ():
            try:
                size = path.stat().st_size
                path.unlink()
            except OSError as error:
                raise RunError("P410", f"`{path}` cannot be removed: {_reason(error)}") from None
            freed += size
        return freed


def _absent(model: LocalModel) -> RunError:
    return RunError(
        "P410", f"the local model `{model.name}` is not installed", hint=f"prose models install {model.name}"
    )


def _copied(source: BinaryIO, target: BinaryIO | None, model: LocalModel) -> str | None:
    """Copy a file, or only read it; what is wrong with it, None if it is the model. Reads no more than that has."""
    digest, size = hashlib.sha256(), 0
    while size <= model.size and (chunk := source.read(_CHUNK)):
        digest.update(chunk)
        size += len(chunk)
        if target is not None:
            target.write(chunk)
    if size != model.size:
        more = "more than " if size > model.size else ""
        return f"it has {more}{min(size, model.size):,} bytes, and {model.size:,} are expected"
    if digest.hexdigest() != model.sha256:
        return f"its SHA-256 digest is {digest.hexdigest()}, and {model.sha256} is expected"
    return None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
