"""What a command writes to: results to standard output, everything else to standard error, nothing of it secret.

All text of the command line goes through here, so that here alone secrets are taken out, colour is decided, and a
text that came from a file or a service is kept from driving the terminal. Which text is written is not decided here.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from prose_lang.diagnostics.redact import Redactor

#: Columns of a text that is not shown on a terminal.
PLAIN_WIDTH = 100


class ReaderGone(Exception):
    """Nobody reads standard output any more."""


class Terminal:
    """The two streams of one invocation. `verbosity` is -1 under `-q`, and counts the `-v`.

    `above` is set while a live line is shown: it writes above that line.
    """

    def __init__(
        self, out: TextIO | None = None, err: TextIO | None = None, environ: Mapping[str, str] | None = None
    ) -> None:
        self.out = out or sys.stdout
        self.err = err or sys.stderr
        self.environ = os.environ if environ is None else environ
        self.verbosity = 0
        self.above: Callable[[str], None] | None = None
        self._secrets: set[str] = set()

    @functools.cached_property
    def redactor(self) -> Redactor:
        """What takes the environment's secrets, and those of `hide`, out of texts and values."""
        from prose_lang.diagnostics.redact import Redactor

        return Redactor.from_environment(self.environ, self._secrets)

    def hide(self, secret: str) -> None:
        """Keep a secret out from now on: a key from a keyring, or of a variable whose name looks like none."""
        if secret and secret not in self._secrets:
            self._secrets.add(secret)
            self.__dict__.pop("redactor", None)

    @property
    def quiet(self) -> bool:
        return self.verbosity < 0

    # --- writing -----------------------------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """A text to standard output, ended by a line break."""
        self._result(self.redactor.text(text))

    def write_json(self, value: Any, *, one_line: bool = False) -> None:
        """A JSON value to standard output, on one line unless a person is looking."""
        # Not the written text is redacted but the value: a secret of digits must not leave a hole in a number.
        clean = self.redactor.value(value)
        indent = 2 if self.out.isatty() and not one_line else None
        text = json.dumps(clean, ensure_ascii=False, indent=indent)
        if not _can_write(self.out, text):
            text = json.dumps(clean, indent=indent)
        self._result(text)

    def pass_on(self, text: str) -> None:
        """A text to standard output as it is, character for character.

        For filters alone: what they are given they give back, and a secret in it was the user's to put there.
        """
        try:
            self.out.flush()
            buffer = getattr(self.out, "buffer", None)
            if buffer is None:
                self.out.write(text)
            else:  # past the translation of line breaks, and in the encoding of the files
                buffer.write(text.encode("utf-8"))
                buffer.flush()
        except BrokenPipeError:
            raise ReaderGone from None

    def _result(self, text: str) -> None:
        try:
            _put(self.out, text)
        except BrokenPipeError:
            # A name of its own: click takes a broken pipe for its own business.
            raise ReaderGone from None

    def say(self, text: str) -> None:
        """A text to standard error, ended by a line break."""
        text = self.redactor.text(text)
        if self.above is not None:
            self.above(text)
            return
        # A closed standard error is no reason to lose the result.
        with contextlib.suppress(BrokenPipeError):
            _put(self.err, text)

    # --- how it looks ------------------------------------------------------------------------------------------------

    def colors(self, stream: TextIO) -> bool:
        """Whether a stream gets colours: on a terminal, unless `NO_COLOR` says no or `FORCE_COLOR` yes."""
        if self.environ.get("NO_COLOR"):
            return False
        if self.environ.get("FORCE_COLOR", "0") not in ("", "0"):
            return True
        return stream.isatty() and self.environ.get("TERM") != "dumb"

    def paint(self, style: str, text: str, stream: TextIO | None = None) -> str:
        """A text for standard error, or another stream, in an ANSI style where that stream gets colours."""
        return f"\x1b[{style}m{text}\x1b[0m" if text and self.colors(stream or self.err) else text

    @property
    def live(self) -> bool:
        """Whether standard error can show a line that changes."""
        return self.err.isatty() and self.environ.get("TERM") != "dumb"

    @property
    def width(self) -> int:
        """Columns of the lines on standard error."""
        if not self.err.isatty():
            return PLAIN_WIDTH
        # Not `shutil.get_terminal_size`: it asks standard output, which may be a file.
        columns = self.environ.get("COLUMNS", "")
        if columns.isdecimal() and int(columns):
            return int(columns)
        try:
            return os.get_terminal_size(self.err.fileno()).columns or PLAIN_WIDTH
        except (OSError, ValueError):
            return PLAIN_WIDTH

    # --- keeping standard output clean -------------------------------------------------------------------------------

    @contextlib.contextmanager
    def only_results(self) -> Iterator[None]:
        """While this lasts, whatever services print, and what their processes print, goes to standard error."""
        with contextlib.ExitStack() as stack:
            if _descriptor(self.out) == 1 and _descriptor(self.err) == 2:
                self.out.flush()
                kept = os.dup(1)
                own, before = os.fdopen(os.dup(1), "w", encoding=self.out.encoding, errors=self.out.errors), self.out
                os.dup2(2, 1)
                self.out = own
                stack.callback(self._give_back, kept, own, before)
            stack.enter_context(contextlib.redirect_stdout(self.err))
            yield

    def _give_back(self, kept: int, own: TextIO, before: TextIO) -> None:
        self.out = before
        os.dup2(kept, 1)
        os.close(kept)
        with contextlib.suppress(OSError):  # what nobody read is still buffered
            own.close()


def _put(stream: TextIO, text: str) -> None:
    if not text.endswith("\n"):
        text += "\n"
    if not _can_write(stream, text):
        encoding = stream.encoding
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    stream.write(text)
    stream.flush()


def _can_write(stream: TextIO, text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode(stream.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _descriptor(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (OSError, ValueError):
        return None
