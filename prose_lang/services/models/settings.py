"""What is configured about models, as plain data. Reading it from files is `reading.py`; keys are never part of it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

#: What may be set for a model. Whatever is not set is not sent; 0 is.
PARAMETERS = (
    "temperature", "top_p", "max_tokens", "seed", "stop", "reasoning_effort", "presence_penalty", "frequency_penalty",
)  # fmt: skip


@attrs.frozen
class Price:
    """US dollars per million tokens. `steps` are dearer prices of requests with more than so many input tokens.

    >>> Price(input=2.5, output=10).cost(1000, 100)
    0.0035
    """

    input: float
    output: float
    steps: tuple[tuple[int, float, float], ...] = ()

    @property
    def is_free(self) -> bool:
        """Whether it is nothing, however many tokens there are."""
        return not any((self.input, self.output, *(price for step in self.steps for price in step[1:])))

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Dollars for so many tokens of one request."""
        per_in, per_out = self.input, self.output
        for above, step_in, step_out in self.steps:
            if tokens_in > above:
                per_in, per_out = step_in, step_out
        return (tokens_in * per_in + tokens_out * per_out) / 1_000_000


@attrs.frozen
class Provider:
    """How a provider is reached: `base_url` instead of its own address, `key` the name of the variable with its key.

    `requests_per_minute` and `tokens_per_minute` are kept by waiting. `from_file` tells that a file of the project says
    so, and not whoever runs it: a key then goes to another host only if that is allowed.
    """

    base_url: str | None = None
    key: str | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    from_file: bool = False


@attrs.frozen
class ModelSettings:
    """Models of an engine: names for them, ways to them, prices, rates.

    `default` is the model of entries, sessions and services that name none. `aliases` map the tiers that files name
    (`fast`, `sonnet`) to `PROVIDER/MODEL`. `prices` and `parameters` go by `PROVIDER/MODEL`. `seconds` is the most time
    of one request, `retries` how often a failure that may pass is tried again, besides the `retry:` of a program.
    `allow_models` accepts a `PROVIDER/MODEL` that a file names; `allow_hosts` are hosts to which a base URL of a
    settings file may send a key.

    >>> ModelSettings(aliases={"fast": "openai/gpt-x"}).aliases["fast"]
    'openai/gpt-x'
    """

    default: str | None = None
    aliases: Mapping[str, str] = MappingProxyType({})
    providers: Mapping[str, Provider] = MappingProxyType({})
    prices: Mapping[str, Price] = MappingProxyType({})
    parameters: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
    seconds: float = 600.0
    retries: int = 2
    allow_models: bool = False
    allow_hosts: frozenset[str] = frozenset()

    def provider(self, model: str) -> Provider:
        """The settings of a model's provider."""
        return self.providers.get(model.partition("/")[0], _PLAIN)

    @property
    def key_names(self) -> tuple[str, ...]:
        """The variables that are said to hold keys."""
        return tuple(provider.key for provider in self.providers.values() if provider.key)


_PLAIN = Provider()
