"""What all model services of an engine share: settings, keys, prices, and the completions that answer them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from prose_lang.diagnostics import RunError
from prose_lang.services.models.completion import Completion
from prose_lang.services.models.keys import Keys
from prose_lang.services.models.local.catalogue import is_local, local_model
from prose_lang.services.models.settings import ModelSettings

if TYPE_CHECKING:
    from prose_lang.services.models.prices import Tariff, Tariffs


#: If this variable is set to anything but 0, no model is ever asked.
NO_LIVE_CALLS = "PROSE_NO_LIVE_CALLS"


def live_calls_off(environ: Mapping[str, str]) -> bool:
    """Whether the environment says that no model is asked.

    >>> live_calls_off({"PROSE_NO_LIVE_CALLS": "1"}), live_calls_off({})
    (True, False)
    """
    return environ.get(NO_LIVE_CALLS, "") not in ("", "0")


class Models:
    """The models of an engine. With no `completion` given requests go through litellm, imported with the first one, and
    those for `local/NAME` to a model in this process.

    With `elsewhere` workers answer (`handlers/remote`): their keys count, and none is needed here.

    With `live` off, or `PROSE_NO_LIVE_CALLS` set, no request leaves: each is refused (P410), unless a cassette answers
    it (`replayed`: all are), or the completion says of itself, by a false attribute `live`, that it sends nothing.

    >>> Models(ModelSettings(default="openai/gpt-x")).settings.default
    'openai/gpt-x'
    """

    def __init__(
        self,
        settings: ModelSettings | None = None,
        completion: Completion | None = None,
        environ: Mapping[str, str] | None = None,
        *,
        live: bool = True,
        replayed: bool = False,
        elsewhere: bool = False,
    ) -> None:
        self.settings = settings or ModelSettings()
        self.keys = Keys(self.settings, os.environ if environ is None else environ)
        self.live = live
        self.replayed = replayed
        self.elsewhere = elsewhere
        self._completion = completion
        self._tariffs: Tariffs | None = None
        self._own: Any = None
        self._local: Completion | None = None

    @property
    def answered_here(self) -> bool:
        """Whether requests are answered by an object of this process, which no other has."""
        return self._completion is not None

    def completion_of(self, model: str) -> Completion:
        """Where requests for a model go. Raises RunError P410 where none may leave."""
        self.check_live(model)
        if self._completion is not None:
            return self._completion
        if is_local(model):
            if self._local is None:
                from prose_lang.services.models.local.completion import LocalCompletion

                self._local = LocalCompletion()
            return self._local
        if self._own is None:
            from prose_lang.services.models.litellm_completion import LitellmCompletion

            self._own = LitellmCompletion(self.settings, self.keys)
        made: Completion = self._own
        return made

    def tariff(self, model: str) -> Tariff:
        """The price of a model and the most tokens of an answer, as far as they are known."""
        if self._tariffs is None:
            from prose_lang.services.models.prices import Tariffs

            self._tariffs = Tariffs(self.settings)
        return self._tariffs.of(model)

    def check_key(self, model: str) -> None:
        """Raise RunError P410 if a model's provider is unknown, or there is no key for it.

        A model that another completion or a cassette answers for needs none, and a local one has to be installed. Where
        no request may leave, that is told instead.
        """
        if self.replayed:
            return
        self.check_live(model)
        if self._completion is not None or self.elsewhere:
            return
        if is_local(model):
            from prose_lang.services.models.local.engine import check_engine
            from prose_lang.services.models.local.store import Store

            found = local_model(model)
            check_engine()
            Store().check(found)
        else:
            from prose_lang.services.models.litellm_completion import check_provider, missing_keys

            check_provider(model)
            self.keys.key(model, missing_keys)

    def check_live(self, model: str) -> None:
        """Raise RunError P410 if no request for a model may leave. One that runs in a process sends nothing."""
        if is_local(model):
            return
        by_variable = live_calls_off(self.keys.environ)
        if (self.live and not by_variable) or not getattr(self._completion, "live", True):
            return
        how = f"{NO_LIVE_CALLS} is set" if by_variable else "the engine has live=False"
        raise RunError(
            "P410",
            f"`{model}` is not asked: live calls of models are switched off ({how})",
            hint="replay a recording (--cassette FILE), bind another service, or switch them on",
        )

    async def release(self) -> None:
        """Close what the running event loop opened; the engine says so at the end of a loop of its own."""
        if self._own is not None:
            await self._own.release()
