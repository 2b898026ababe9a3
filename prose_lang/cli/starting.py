"""Starting a pattern: its file and the one of its test, made from the texts in `starters/`; nothing is overwritten."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from prose_lang.diagnostics import SourceError

STARTERS = Path(__file__).parent / "starters"
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*")
_SUFFIXES = (".prose.md", ".test.prose.md")


def start(name: str, kind: str, folder: Path) -> list[Path]:
    """Write an entry of a kind (`pattern` or `function`) and its test into a folder, and give their paths.

    Raises SourceError P103 if the name will not do, if one of the files is there already, or if they cannot be written;
    then neither is there afterwards.
    """
    if not _NAME.fullmatch(name):
        said = f"`{name}` cannot be the name of a pattern file: small letters, digits and `-` make one"
        raise SourceError("P103", said, hint=_meant(name))
    texts = [text.replace("starter-name", name).replace("Starter Title", _title(name)) for text in starters(kind)]
    paths = [folder / f"{name}{suffix}" for suffix in _SUFFIXES]
    written: list[Path] = []
    try:
        for path in paths:
            if path.exists():
                raise FileExistsError(path)
        folder.mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, texts, strict=True):
            with open(path, "x", encoding="utf-8", newline="\n") as file:  # somebody may have made it just now
                written.append(path)
                file.write(text)
    except OSError as error:
        for path in written:
            with contextlib.suppress(OSError):
                path.unlink()
        raise _refused(error, path, folder) from None
    return paths


def starters(kind: str) -> list[str]:
    """The texts that an entry of a kind and its test are made from."""
    return [(STARTERS / f"{kind}{suffix}").read_text(encoding="utf-8") for suffix in _SUFFIXES]


def _title(name: str) -> str:
    return " ".join(word.capitalize() for word in re.split("[-_]", name))


def _meant(name: str) -> str | None:
    stem = Path(name.replace("\\", "/")).name.removesuffix(".md").removesuffix(".prose").removesuffix(".test")
    words = re.findall("[a-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", stem).lower())
    close = "-".join(words).lstrip("0123456789-")
    if "/" in name and close:
        return f"`prose new {close} --into {Path(name).parent}` says where to"
    return f"`prose new {close}` would do" if close else None


def _refused(error: OSError, path: Path, folder: Path) -> SourceError:
    if isinstance(error, FileExistsError) and path.exists():
        return SourceError("P103", f"`{path}` is there already; nothing was written",
                           hint="choose another name, or another folder with --into")  # fmt: skip
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        return SourceError("P103", f"`{folder}` is no folder")
    return SourceError("P103", f"`{path}` cannot be written: {(error.strerror or str(error)).lower()}")
