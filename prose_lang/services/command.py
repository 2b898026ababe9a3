"""A command line as a service: `cmd:COMMAND LINE`.

The inputs go to the command as one JSON object on standard input; `prompt`, `model` and `context` are among them
where the call has these modifiers. What it prints is the answer: JSON if it is JSON, else text without its last
line break. No shell reads the line, and no variable that looks like a key is passed on. Which call it is stands in four
variables: PROSE_IDEMPOTENCY_KEY, PROSE_RUN, PROSE_ADDRESS and PROSE_ATTEMPT (`runtime/current.py`).
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
from collections.abc import Awaitable, Collection
from pathlib import Path
from typing import Any, NoReturn

from prose_lang.diagnostics import CheckError, ServiceError
from prose_lang.diagnostics.redact import is_secret_name
from prose_lang.runtime.current import current_call
from prose_lang.runtime.effects import Effect
from prose_lang.semantics.signature import Signature
from prose_lang.values import to_json

#: Bytes of an answer beyond which a command is stopped.
MOST_OUTPUT = 10 * 1024 * 1024
#: Characters of standard error that an error message shows.
_ERRORS_SHOWN = 2_000


class CommandService:
    """A program on this machine, run once for each call.

    Raises `CheckError` P109 at once if the line cannot be split or names no program. A call fails with P406 when
    the program exits with another status than 0, and with P404 when its answer is too large or no text.

    >>> CommandService("cat -").name
    'cmd:cat -'
    """

    __slots__ = ("_command", "_hidden", "_most_output", "name")

    composite = False
    #: Nothing is known of what a program takes.
    signature = Signature(open=True, positional=False)

    def __init__(
        self, line: str, *, name: str | None = None, most_output: int = MOST_OUTPUT, hidden: Collection[str] = ()
    ) -> None:
        self.name = name or f"cmd:{line}"
        self._most_output = most_output
        self._hidden = frozenset(hidden)  # variables that hold keys, whatever their names look like
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise CheckError("P109", f"`{self.name}` is not a command line: {error}") from None
        if not words:
            raise CheckError("P109", f"`{self.name}` names no command")
        found = shutil.which(words[0])
        if found is None:
            raise CheckError("P109", f"there is no program `{words[0]}`", hint=_hint(words[0]))
        # The path is made absolute now, so that a later change of folder does not change what runs.
        self._command = (str(Path(found).absolute()), *words[1:])

    def invoke(self, effect: Effect) -> Awaitable[Any]:
        return self._invoke(effect)

    async def _invoke(self, effect: Effect) -> Any:
        from prose_lang.services.process import exchange  # loads asyncio

        sent = {name: value for name, value in effect.inputs.items() if value is not None}
        for name in ("prompt", "model", "context"):
            value = getattr(effect.modifiers, name)
            if value is not None:
                sent.setdefault(name, value)
        hidden = self._hidden
        environment = {
            name: value for name, value in os.environ.items() if not (is_secret_name(name) or name in hidden)
        }
        environment.update(_told())
        try:
            finished = await exchange(
                self._command,
                stdin=to_json(sent).encode("utf-8", "replace"),
                environment=environment,
                most_output=self._most_output,
            )
        except OSError as error:
            raise ServiceError("P406", f"`{self.name}` could not be started: {error}", service=self.name) from None
        if finished.overflowed:
            raise ServiceError(
                "P404", f"`{self.name}` answered more than {_size(self._most_output)}", service=self.name
            )
        if finished.status != 0:
            message = f"`{self.name}` {_ending(finished.status)}{_tail(finished.errors)}"
            raise ServiceError("P406", message, service=self.name)
        try:
            return _answer(finished.output.decode("utf-8"))
        except UnicodeDecodeError:
            raise ServiceError("P404", f"`{self.name}` answered bytes that are not UTF-8", service=self.name) from None

    def __repr__(self) -> str:
        return f"CommandService({self.name!r})"


def _told() -> dict[str, str]:
    """Which call it is, as variables of the environment."""
    call = current_call()
    if call is None:
        return {}
    return {
        "PROSE_IDEMPOTENCY_KEY": call.idempotency_key,
        "PROSE_RUN": call.run_id,
        "PROSE_ADDRESS": call.address,
        "PROSE_ATTEMPT": str(call.attempt),
    }


def _answer(text: str) -> Any:
    """What a program printed, as a host object: its JSON, or the text itself without one final line break."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _ending(status: int) -> str:
    if status > 0:
        return f"exited with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"was ended by signal {-status}"


def _tail(errors: bytes) -> str:
    shown = errors.decode("utf-8", "replace").strip()
    if len(shown) > _ERRORS_SHOWN:
        shown = f"...{shown[-_ERRORS_SHOWN:]}"
    return f": {shown}" if shown else ""


def _size(number: int) -> str:
    return f"{number // 2**20} MB" if number >= 2**20 else f"{number:,} bytes"


def _hint(word: str) -> str:
    if "|" in word or ">" in word or "=" in word:
        return "no shell reads the command line: no pipes, no redirections, no variables"
    return "give the path of a program, or put its folder on PATH"
