"""The engine of local models: xllamacpp, which is llama.cpp in this process. The only module that knows it.

A model is loaded once for a process, with the first request, and answers one request at a time: on the processors of
one machine several at once are slower together than one after the other. One thread less than there are processors does
the work, because with all of them a busy machine makes it many times slower.

The library opens a port of this machine whether one wants it or not. Nobody is told its key, so that nobody else can
use it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import platform
import secrets
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from prose_lang.diagnostics import RunError, described
from prose_lang.services.models.local.catalogue import LocalModel
from prose_lang.services.models.local.store import Store
from prose_lang.services.threads import WorkerThreads

#: What is installed for the extra `local`.
REQUIREMENT = "xllamacpp>=2026.10.11549"
#: So many tokens of a prompt are read before it is asked whether the call was cancelled.
_BATCH = 64
_PLATFORMS = {"linux": ("x86_64", "aarch64"), "darwin": ("arm64", "x86_64"), "win32": ("AMD64",)}


class Chat(Protocol):
    """What answers a chat request in pieces: each is handed to `told`, and the first one for which that is true ends
    the answer. A request that cannot be answered is a piece with `error`, or a ValueError."""

    def handle_chat_completions(self, body: Mapping[str, Any], told: Callable[[Any], bool], /) -> Any:
        """Answer; return when the answer has ended."""


def check_engine() -> None:
    """Raise RunError P410 if the engine is not installed, with the command that installs it."""
    if importlib.util.find_spec("xllamacpp") is not None:
        return
    machine = platform.machine()
    if machine not in _PLATFORMS.get(sys.platform, ()):
        raise RunError(
            "P410",
            f"local models run in xllamacpp, which has no package for this platform ({sys.platform}, {machine})",
            hint="a server that speaks the OpenAI API works everywhere: openai/NAME, with a base_url in the settings",
        )
    raise RunError("P410", "local models run in xllamacpp, which is not installed", hint=install_command())


def install_command() -> str:
    """What installs the engine into this Python."""
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    return f'{python} -m pip install "{REQUIREMENT}"'


def load(model: LocalModel) -> Chat:
    """Load a model: takes seconds. Raises RunError P410 if it is not there, is damaged or cannot be loaded."""
    check_engine()
    path = Store().checked(model)
    try:
        engine = importlib.import_module("xllamacpp")
        settings = engine.CommonParams()
        settings.model.path = str(path)
        settings.n_ctx = model.context
        settings.n_parallel = 1
        settings.n_batch = settings.n_ubatch = _BATCH
        settings.n_gpu_layers = 0
        settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 2) - 1)
        settings.warmup = settings.ui = settings.endpoint_slots = False
        settings.offline = True
        settings.verbosity = -1  # it writes to standard error past everything
        settings.api_keys = [secrets.token_urlsafe(32)]
        made: Chat = engine.Server(settings)
    except Exception as error:  # whatever a library of another language raises
        raise RunError("P410", f"the local model `{model.name}` cannot be loaded: {described(error)}") from None
    return made


class Loaded:
    """A model of this process: its thread, and the engine that the thread loads when it is first asked for."""

    def __init__(self, model: LocalModel, load: Callable[[LocalModel], Chat] = load) -> None:
        self.model = model
        self.threads = WorkerThreads(maximum=1)
        self._load = load
        self._chat: Chat | None = None

    def chat(self) -> Chat:
        """The engine; to be called in the model's thread. Raises RunError P410. What failed is tried again."""
        if self._chat is None:
            self._chat = self._load(self.model)
        return self._chat


_ONE_AT_A_TIME = threading.Lock()


def loaded(model: LocalModel) -> Loaded:
    """The model of this process: the same one for all engines and event loops."""
    with _ONE_AT_A_TIME:
        return _loaded(model)


@functools.cache
def _loaded(model: LocalModel) -> Loaded:
    return Loaded(model)
