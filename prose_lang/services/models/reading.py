"""Settings of models from `[models]` of `prose.toml` or `[tool.prose.models]` of `pyproject.toml`.

    default = "fast"                                   # an alias, or PROVIDER/MODEL
    seconds = 600                                      # the most time of one request
    retries = 2                                        # after a failure that may pass

    [models.aliases]                                   # what files call models
    fast = "openai/gpt-x-mini"

    [models.providers.openai]
    base_url = "http://127.0.0.1:8080/v1"
    key = "MY_KEY"                                     # the variable's name; keys themselves are never in a file
    requests_per_minute = 60
    tokens_per_minute = 90000

    [models.prices."openai/gpt-x-mini"]                # US dollars per million tokens
    input = 0.5
    output = 1.5

    [models.parameters."openai/gpt-x-mini"]
    temperature = 0

Everything that is wrong is told at its place, all at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from prose_lang.services.models.settings import PARAMETERS, ModelSettings, Price, Provider
from prose_lang.settings import SettingsFiles, Table
from prose_lang.settings.table import meant

_KEYS = ("default", "seconds", "retries", "aliases", "providers", "prices", "parameters")
_PROVIDER_KEYS = ("base_url", "key", "requests_per_minute", "tokens_per_minute")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def settings_in(folder: Path) -> ModelSettings:
    """The settings that count in a folder. Raises ProseError for a file that is faulty or cannot be read."""
    table = SettingsFiles("models").table(folder)
    return ModelSettings() if table is None else read_settings(table)


def read_settings(table: Table) -> ModelSettings:
    """The settings in a table. Raises CheckError with everything that is wrong in it.

    >>> from prose_lang.settings import read_table
    >>> from prose_lang.text import Source
    >>> table = read_table(Source("prose.toml", '[models.aliases]\\nfast = "openai/x"'), ("models",))
    >>> read_settings(table).aliases["fast"]
    'openai/x'
    """
    settings = _Reader(table).settings()
    table.check()
    return settings


class _Reader:
    def __init__(self, table: Table) -> None:
        self.table = table

    def settings(self) -> ModelSettings:
        data = self.table.data
        if not isinstance(data, dict):
            self.fault(f"`{self.table.written}` is a table")
            return ModelSettings()
        self.only(data, _KEYS, "models have")
        default, aliases = self.text(data, "default"), dict(self.aliases())
        if default is not None and default not in aliases and not all(default.partition("/")):
            hint = meant(default, aliases) or 'default = "PROVIDER/MODEL"'
            self.fault("`default` is an alias or PROVIDER/MODEL", "default", hint=hint)
        return ModelSettings(
            default=default,
            seconds=self.number(data, "seconds", above=0) or 600.0,
            retries=self.whole(data, "retries", least=0, default=2) or 0,
            aliases=aliases,
            providers=dict(self.providers()),
            prices=dict(self.prices()),
            parameters=dict(self.parameters()),
        )

    # --- tables ------------------------------------------------------------------------------------------------------

    def aliases(self) -> Iterator[tuple[str, str]]:
        for name, model in self.inner("aliases", tables=False):
            if isinstance(model, str) and all(model.partition("/")):
                yield name, model.removeprefix("model:")
            else:
                self.fault(f"the alias `{name}` is a model", "aliases", name, hint=f'{name} = "PROVIDER/MODEL"')

    def providers(self) -> Iterator[tuple[str, Provider]]:
        for name, data in self.inner("providers"):
            way = ("providers", name)
            self.only(data, _PROVIDER_KEYS, "a provider has", *way)
            base_url, key = self.text(data, "base_url", *way), self.text(data, "key", *way)
            if base_url is not None and not _is_address(base_url):
                self.fault(f"`base_url` of `{name}` is an http or https address without a password", *way, "base_url")
                base_url = None
            if key is not None and not _VARIABLE.fullmatch(key):
                # Perhaps it is a key: it is not repeated.
                self.fault(
                    f"`key` of `{name}` is the name of an environment variable; keys do not belong in files",
                    *way, "key", hint=f'key = "{name.upper()}_API_KEY"',
                )  # fmt: skip
                key = None
            requests, tokens = (self.whole(data, rate, *way, least=1) for rate in _PROVIDER_KEYS[2:])
            yield name, Provider(base_url, key, requests, tokens, from_file=True)

    def prices(self) -> Iterator[tuple[str, Price]]:
        for model, data in self.inner("prices"):
            way = ("prices", model)
            self.only(data, ("input", "output"), "a price has", *way)
            found = [self.number(data, side, *way, least=0) for side in ("input", "output")]
            if None in (data.get("input"), data.get("output")):
                hint = "US dollars per million tokens"
                self.fault(f"the price of `{model}` has `input` and `output`", *way, hint=hint)
            elif found[0] is not None and found[1] is not None:
                yield model, Price(found[0], found[1])

    def parameters(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        for model, data in self.inner("parameters"):
            self.only(data, PARAMETERS, "a model has", "parameters", model)
            for name, value in data.items():
                if isinstance(value, dict):
                    self.fault(f"`{name}` of `{model}` is a number, a text or a list", "parameters", model, name)
            self.whole(data, "max_tokens", "parameters", model, least=1)
            yield model, data

    # --- values ------------------------------------------------------------------------------------------------------

    def inner(self, key: str, *, tables: bool = True) -> Iterator[tuple[str, Any]]:
        found = self.table.data.get(key, {})
        if not isinstance(found, dict):
            self.fault(f"`{key}` is a table", key)
            return
        for name, data in found.items():
            if tables and not isinstance(data, dict):
                self.fault(f"`{name}` under `{key}` is a table", key, name)
            else:
                yield name, data

    def only(self, data: Mapping[str, Any], keys: tuple[str, ...], what: str, *way: str) -> None:
        for key in data:
            if key not in keys:
                hint = meant(key, keys) or f"{what} {', '.join(keys)}"
                self.table.fault("P210", f"there is no setting `{key}`", self.table.place(*way, key), hint)

    def text(self, data: Mapping[str, Any], key: str, *way: str) -> str | None:
        value = data.get(key)
        if value is not None and (not isinstance(value, str) or not value.strip()):
            self.fault(f"`{key}` is a text", *way, key)
            return None
        return value

    def number(
        self, data: Mapping[str, Any], key: str, *way: str, above: float | None = None, least: float | None = None
    ) -> float | None:
        value = data.get(key)
        if value is None:
            return None
        sound = isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")
        if not sound or (above is not None and value <= above) or (least is not None and value < least):
            bound = f" above {above:g}" if above is not None else f" from {least:g}" if least is not None else ""
            self.fault(f"`{key}` is a number{bound}", *way, key)
            return None
        return float(value)

    def whole(self, data: Mapping[str, Any], key: str, *way: str, least: int, default: int | None = None) -> int | None:
        value = data.get(key, default)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < least):
            self.fault(f"`{key}` is a whole number from {least}", *way, key)
            return None
        return value

    def fault(self, message: str, *words: str, hint: str | None = None) -> None:
        self.table.fault("P211", message, self.table.place(*words), hint)


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None
        return sound and (parts.port or 1) > 0
    except ValueError:
        return False
