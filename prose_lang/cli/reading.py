"""Files and standard input as the command line reads them: whole, as UTF-8, and standard input only once."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from prose_lang.diagnostics import CheckError, SourceError
from prose_lang.text import Source, Span

if TYPE_CHECKING:
    from prose_lang.engine import Engine, Pattern

STDIN = "-"
STDIN_NAME = "<stdin>"


class Reader:
    """Reads the texts of one invocation. `-` is standard input, which one thing alone can be read from."""

    def __init__(self) -> None:
        self._stdin_is: str | None = None

    def source(self, path: str, what: str) -> Source:
        """The text of a file; `what` says what it is for. Raises SourceError P103."""
        if path == STDIN:
            return Source(STDIN_NAME, _decoded(self._stdin(what), "standard input"))
        try:
            data = Path(path).read_bytes()
        except (OSError, ValueError) as error:
            raise SourceError("P103", f"{what}: {_reason(error, path)}") from None
        return Source(path, _decoded(data, f"{what}: {path}"))

    def pattern(self, engine: Engine, reference: str) -> Pattern:
        """The pattern that is meant: a path, `-`, `stdlib:NAME` or a bare library name. Raises ProseError."""
        if reference == STDIN:
            source = self.source(STDIN, "the pattern")
            return engine.loads(source.text, source.name)
        return engine.load(reference)

    def _stdin(self, what: str) -> bytes:
        if self._stdin_is is not None:
            raise SourceError("P103", f"standard input is {self._stdin_is} already, and cannot be {what} too")
        self._stdin_is = what
        return sys.stdin.buffer.read()


def json_value(source: Source, what: str, hint: str | None = None) -> Any:
    """The JSON that a text is. Raises CheckError P211 at the place where it stops being JSON.

    >>> json_value(Source("x", "[1, 2]"), "`x`")
    [1, 2]
    """
    try:
        return json.loads(source.text.removeprefix("\ufeff"), parse_constant=_refuse, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        at = error.pos + source.text.startswith("\ufeff")
        said, span = f"{error.msg[:1].lower()}{error.msg[1:]}", Span(at, at)
    except RecursionError:
        said, span = "it is nested too deeply", Span(0, 0)
    except ValueError as error:
        said, span = str(error), Span(0, 0)
    raise CheckError("P211", f"{what} is not valid JSON: {said}", source=source, span=span, hint=hint)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise ValueError(f"`{name}` is there twice")
        made[name] = value
    return made


def _decoded(data: bytes, what: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SourceError("P103", f"{what} is not UTF-8 text (line {line})") from None


def _reason(error: OSError | ValueError, path: str) -> str:
    if isinstance(error, FileNotFoundError):
        return f"there is no file `{path}`"
    if isinstance(error, IsADirectoryError):
        return f"`{path}` is a folder"
    return f"`{path}` cannot be read: {getattr(error, 'strerror', None) or error}"
