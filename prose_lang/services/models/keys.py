"""Keys: from the environment, or the platform's keyring where `keyring` is installed; never from files.

A missing key is P410 with the variable's name, before anything is sent. Where a base URL came from a file of the
project, a key goes there only if it is this machine or a host that the user allows: a cloned folder must not collect
keys.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from prose_lang.diagnostics import RunError
from prose_lang.services.models.settings import ModelSettings

if TYPE_CHECKING:
    from prose_lang.diagnostics.redact import Redactor

#: Under this name keys are looked for in the keyring; the user name is that of the variable.
KEYRING_SERVICE = "prose"

#: What is sent where a server of the user's own needs no key, but the client wants one.
NO_KEY = "no-key"


class Keys:
    """The keys of an engine. `secrets` are the values handed out so far, for redaction."""

    def __init__(self, settings: ModelSettings, environ: Mapping[str, str] | None = None) -> None:
        self.settings = settings
        self.environ = os.environ if environ is None else environ
        self.secrets: set[str] = set()
        self._named = settings.key_names
        self._redactor: tuple[object, Redactor] | None = None
        self.told: Callable[[str], None] | None = None  # who has to know of each key, to keep it out of what is shown

    def key(self, model: str, missing: Callable[[str], Sequence[str]]) -> str | None:
        """The key to send with a request to a model; None leaves it to litellm, which finds it in the environment.

        `missing` tells the variables that a provider needs and the environment does not have. Raises RunError P410.
        """
        provider = self.settings.provider(model)
        if provider.key is not None:
            found = self._found(provider.key)
            if found is None:
                raise _missing_key(model, (provider.key,))
            self._check_host(model, provider.key)
            return found
        absent = list(missing(model))
        for name in absent:
            found = self._found(name)
            if found is not None and len(absent) == 1:
                self._check_host(model, name)
                return found
        if provider.base_url is not None:
            if absent:
                return NO_KEY
            self._check_host(model, f"{model.partition('/')[0].upper()}_API_KEY")
            return None
        if absent:
            raise _missing_key(model, absent)
        return None

    def redactor(self) -> Redactor:
        """What takes every key that is known so far out of what leaves: those of the environment, those handed out, and
        the values of variables that the settings name as keys."""
        named = tuple(value for name in self._named if (value := self.environ.get(name))) if self._named else ()
        known = (len(self.secrets), named)
        if self._redactor is None or self._redactor[0] != known:
            from prose_lang.diagnostics.redact import Redactor

            self._redactor = (known, Redactor.from_environment(self.environ, (*self.secrets, *named)))
        return self._redactor[1]

    def is_set(self, name: str) -> bool:
        """Whether there is a key under a name, in the environment or the keyring."""
        return self._found(name) is not None

    def _found(self, name: str) -> str | None:
        value = self.environ.get(name) or _from_keyring(name)
        if value:
            self.secrets.add(value)
            if self.told is not None:
                self.told(value)
        return value or None

    def _check_host(self, model: str, name: str) -> None:
        provider = self.settings.provider(model)
        if provider.base_url is None or not provider.from_file:
            return
        from urllib.parse import urlsplit

        host = urlsplit(provider.base_url).hostname or ""
        if is_this_machine(host) or host in self.settings.allow_hosts:
            return
        raise RunError(
            "P410",
            f"a settings file sends requests for `{model}` to {host}, and the key in {name} would go there",
            hint=f"if you trust it: PROSE_ALLOW_HOSTS={host}",
        )


def is_this_machine(host: str) -> bool:
    """Whether a host is the machine itself.

    >>> is_this_machine("127.0.0.1"), is_this_machine("localhost"), is_this_machine("localhost.example.org")
    (True, True, False)
    """
    import ipaddress

    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _missing_key(model: str, names: Sequence[str]) -> RunError:
    shown = " and ".join(names)
    return RunError(
        "P410",
        f"there is no key for `{model}`: {shown} {'is' if len(names) == 1 else 'are'} not set",
        hint=f"export {names[0]}=…",
    )


def _from_keyring(name: str) -> str | None:
    if importlib.util.find_spec("keyring") is None:
        return None
    try:
        found = importlib.import_module("keyring").get_password(KEYRING_SERVICE, name)
    except Exception:  # a locked or missing backend is no reason to fail: the variable is asked for instead
        return None
    return found if isinstance(found, str) else None
