"""Importing the user's own Python, which only the user can ask for: `--services FILE` and `py:` references.

A failing import is told as a fault of the user's file, with the place in it, never as a traceback.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from prose_lang.diagnostics import CheckError, ProseError, SourceError
from prose_lang.text import Source, Span, did_you_mean, nearest

_T = TypeVar("_T")


def import_file(path: Path) -> ModuleType:
    """The module of a Python file, run anew under a name of its own.

    As under `python FILE`, the file finds the modules beside it first; imports inside its functions, later, find
    them too, after everything that is installed. Raises `SourceError` P103.
    """
    if not path.is_file():
        raise SourceError("P103", f"{path} {'is a folder, not a Python file' if path.is_dir() else 'does not exist'}")
    resolved = path.resolve()
    digest = hashlib.sha256(os.fsencode(resolved)).hexdigest()[:8]
    name = f"prose_services_{resolved.stem}_{digest}"
    spec = importlib.util.spec_from_file_location(name, resolved)
    if spec is None or spec.loader is None:
        raise SourceError("P103", f"{path} is not a Python file: its name does not end in .py")
    module = importlib.util.module_from_spec(spec)
    loader = spec.loader
    # Registered before it runs: dataclasses and pickling look a class up by the name of its module.
    sys.modules[name] = module
    try:
        _guarded(lambda: loader.exec_module(module), str(path), resolved.parent, resolved)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return module


def import_module(name: str) -> ModuleType:
    """The module of that name, looked for in the current folder first, as under `python -m`.

    Raises `CheckError` P109 if there is none, and `SourceError` P103 if it fails.
    """
    importlib.invalidate_caches()  # the file may have been written a moment ago
    return _guarded(lambda: importlib.import_module(name), name, Path.cwd(), None)


def _guarded(load: Callable[[], _T], wanted: str, folder: Path, file: Path | None) -> _T:
    """Run an import with `folder` first on the path; `file` is the user's file where that is known."""
    entry = str(folder)
    was_there = entry in sys.path
    sys.path.insert(0, entry)
    try:
        return load()
    except ProseError:
        raise  # the file used this package, and the error says more than we could
    except (Exception, SystemExit) as error:
        raise _told(error, wanted, file) from None
    finally:
        with contextlib.suppress(ValueError):
            sys.path.remove(entry)  # the first of that name, which is ours
        if not was_there:
            sys.path.append(entry)


def _told(error: BaseException, wanted: str, file: Path | None) -> ProseError:
    if file is None and isinstance(error, ModuleNotFoundError) and _is_part(error.name, wanted):
        close = nearest(str(error.name), sorted(path.stem for path in Path.cwd().glob("*.py")))
        hint = did_you_mean(close[:1]) or "it was looked for in this folder and among what is installed"
        return CheckError("P109", f"there is no Python module `{error.name}`", hint=hint)
    said = traceback.format_exception_only(error)[-1].strip()
    place = _place(error, file)
    if place is None:
        return SourceError("P103", f"importing {wanted} failed: {said}")
    source, line = place
    start = source.line_start(line)
    indent = len(source.line_text(line)) - len(source.line_text(line).lstrip())
    span = Span(start + indent, start + len(source.line_text(line)))
    return SourceError("P103", f"importing {wanted} failed: {said}", source=source, span=span)


def _is_part(missing: str | None, wanted: str) -> bool:
    return missing is not None and (wanted == missing or wanted.startswith(f"{missing}."))


def _place(error: BaseException, file: Path | None) -> tuple[Source, int] | None:
    """The line of the user's file that failed: the last one of it on the way to the error."""
    own = {__file__, importlib.__file__}
    frames = [
        (frame.f_code.co_filename, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename not in own and not frame.f_code.co_filename.startswith("<")
    ]
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        frames.append((error.filename, error.lineno))
    if not frames:
        return None
    wanted = str(file) if file is not None else frames[0][0]
    line = next((line for name, line in reversed(frames) if name == wanted), None)
    try:
        source = Source(wanted, Path(wanted).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return (source, line) if line is not None and line <= source.line_count else None
