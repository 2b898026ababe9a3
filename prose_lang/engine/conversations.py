"""Conversations that outlive a run (L29): one JSON file for each agent.

    project     .prose/agents/AGENT.json          in the project's folder
    NAME        .prose/agents/NAME/AGENT.json     beside them
    user        prose/agents/AGENT.json           in the user's data folder (XDG_DATA_HOME, LOCALAPPDATA)

A file is replaced as a whole, so a reader never meets half of one, and it can be read and mended with an editor.
Secrets are taken out of what is written. Two runs that go on with one conversation at the same time are told apart by
the file's `revision`: the second one to write fails (P503), and the first one's words stay.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from prose_lang.diagnostics import RunError
from prose_lang.diagnostics.redact import Redactor
from prose_lang.runtime.conversations import Key, Turn
from prose_lang.semantics.persistence import PROJECT, USER

#: Of the format of the files.
VERSION = 1
#: Bytes of a file. No model takes a conversation of this size.
LARGEST = 32_000_000


def user_folder() -> Path:
    """The user's folder for data of this program."""
    if os.environ.get("XDG_DATA_HOME"):
        return Path(os.environ["XDG_DATA_HOME"]) / "prose"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home()) / "prose"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "prose"
    return Path.home() / ".local" / "share" / "prose"


class ConversationFiles:
    """The store of one run. `root` gives the project's folder, which nothing that is written may leave.

    With `keep` off files are read, and none is written.
    """

    def __init__(self, root: Callable[[], Path], redactor: Callable[[], Redactor], *, keep: bool = True) -> None:
        self._root = root
        self.keep = keep
        self.redactor = redactor
        self._revisions: dict[Key, int] = {}

    @functools.cached_property
    def root(self) -> Path:
        """The project's folder; looked for when something is kept there."""
        return self._root()

    def path(self, key: Key) -> Path:
        """The file of a conversation."""
        if key.scope == USER:
            return user_folder() / "agents" / f"{key.agent}.json"
        folder = self.root / ".prose" / "agents"
        return (folder if key.scope == PROJECT else folder / key.scope) / f"{key.agent}.json"

    def load(self, key: Key) -> tuple[Turn, ...] | None:
        """See `runtime.conversations.Store`."""
        revision, turns = self._read(key)
        self._revisions[key] = revision
        return turns

    def save(self, key: Key, turns: tuple[Turn, ...]) -> None:
        """See `runtime.conversations.Store`."""
        if not self.keep:
            return
        path = self.path(key)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._inside(key, path)
            with _locked(path.parent):
                revision, _ = self._read(key)
                known = self._revisions.get(key, 0)
                if revision != known:
                    raise RunError(
                        "P503",
                        f"the conversation of `{key.agent}` was continued by another run meanwhile",
                        hint="give each of them a conversation of its own: persist: NAME",
                    )
                self._write(path, key, known + 1, turns)
        except OSError as error:
            _fail(key, path, f"cannot be written: {(error.strerror or str(error)).lower()}")
        self._revisions[key] = known + 1

    def _write(self, path: Path, key: Key, revision: int, turns: tuple[Turn, ...]) -> None:
        plain = {
            "version": VERSION,
            "agent": key.agent,
            "scope": key.scope,
            "revision": revision,
            "turns": [turn._asdict() for turn in turns],
        }
        text = json.dumps(self.redactor().value(plain), ensure_ascii=False, indent=1)
        import tempfile  # not needed by runs that keep nothing

        handle, made = tempfile.mkstemp(prefix=f".{key.agent}-", suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode("utf-8", "surrogatepass") + b"\n")
                file.flush()
                os.fsync(file.fileno())
            os.replace(made, path)
        except BaseException:
            with suppress(OSError):
                os.unlink(made)
            raise

    def _read(self, key: Key) -> tuple[int, tuple[Turn, ...] | None]:
        path = self.path(key)
        try:
            self._inside(key, path)
            if path.stat().st_size > LARGEST:
                _fail(key, path, f"has more than {LARGEST:,} bytes")
            data = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
        except FileNotFoundError:
            return 0, None
        except OSError as error:
            _fail(key, path, f"cannot be read: {(error.strerror or str(error)).lower()}")
        except (ValueError, RecursionError):
            _fail(key, path, "is not the JSON that was written there")
        if not isinstance(data, dict) or data.get("version") != VERSION:
            found = data.get("version") if isinstance(data, dict) else None
            _fail(key, path, f"is of version {found!r}, and this program reads version {VERSION}")
        if data.get("agent") != key.agent:  # where capitals make no difference to file names
            _fail(key, path, f"belongs to the agent `{data.get('agent')}`")
        revision, turns = data.get("revision"), data.get("turns")
        if not isinstance(revision, int) or not isinstance(turns, list) or not all(map(_is_turn, turns)):
            _fail(key, path, "is not the JSON that was written there")
        return revision, tuple(
            Turn(turn.get("prompt"), turn.get("context"), turn["answer"], turn["run"], turn["address"])
            for turn in turns
        )

    def _inside(self, key: Key, path: Path) -> None:
        """A link in a folder that somebody else made must not lead a run out of it."""
        if key.scope != USER and not path.resolve().is_relative_to(self.root.resolve()):
            _fail(key, path, "leads out of the project")


def _is_turn(turn: Any) -> bool:
    return (
        isinstance(turn, dict)
        and all(isinstance(turn.get(name), str) for name in ("answer", "run", "address"))
        and isinstance(turn.get("prompt"), str | None)
    )


def _fail(key: Key, path: Path, why: str) -> NoReturn:
    try:
        shown = os.path.relpath(path)
    except ValueError:  # another drive
        shown = str(path)
    shown = str(path) if shown.startswith("..") else shown
    raise RunError(
        "P501",
        f"the conversation of `{key.agent}` is kept in `{shown}`, which {why}",
        hint="mend the file, or move it away to begin anew",
    )


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """While this lasts no other process of this machine writes a conversation here, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
