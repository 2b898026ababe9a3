"""What a model costs: configured prices, else those of litellm's table. A price that neither knows is unknown, not 0.

The table is a file of litellm's package and is read without importing it, so that answers read back from a recording
have their prices too.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from prose_lang.services.models.local.catalogue import is_local, local_model
from prose_lang.services.models.settings import ModelSettings, Price

_STEP = re.compile(r"input_cost_per_token(?P<suffix>_above_(?P<thousands>\d+)k_tokens)")


class Tariff(NamedTuple):
    """The price of a model, None where it is unknown, and the most tokens of one answer, None where that is unknown."""

    price: Price | None
    most_out: int | None


class Tariffs:
    """The tariffs of models, each looked up once."""

    def __init__(self, settings: ModelSettings) -> None:
        self.settings = settings
        self._known: dict[str, Tariff] = {}

    def of(self, model: str) -> Tariff:
        """The tariff of a `PROVIDER/MODEL`."""
        found = self._known.get(model)
        if found is None:
            found = self._known[model] = self._looked_up(model)
        return found

    def _looked_up(self, model: str) -> Tariff:
        if is_local(model):  # known to be free, which is another thing than unknown
            return Tariff(self.settings.prices.get(model, Price(0, 0)), local_model(model).most_out)
        entry = table_entry(model)
        most = entry.get("max_output_tokens") or entry.get("max_tokens")
        price = self.settings.prices.get(model)
        # At another address the name says nothing about what it costs there.
        if price is None and self.settings.provider(model).base_url is None:
            price = _price(entry)
        return Tariff(price, most if isinstance(most, int) and most > 0 else None)


def _price(entry: Mapping[str, Any]) -> Price | None:
    """The price in an entry of the table, with its steps for long requests; None if a side is missing."""

    def millions(suffix: str) -> tuple[float, float] | None:
        found = [entry.get(f"{side}_cost_per_token{suffix}") for side in ("input", "output")]
        if not all(isinstance(one, (int, float)) for one in found):
            return None
        return float(found[0] or 0) * 1_000_000, float(found[1] or 0) * 1_000_000

    plain = millions("")
    if plain is None:
        return None
    steps = []
    for key in entry:
        match = _STEP.fullmatch(key)
        step = millions(match["suffix"]) if match else None
        if match and step is not None:
            steps.append((int(match["thousands"]) * 1000, *step))
    return Price(*plain, tuple(sorted(steps)))


def table_entry(model: str) -> Mapping[str, Any]:
    """What litellm's table knows about a `PROVIDER/MODEL`; nothing if it does not know it.

    Models of the large providers stand there without the provider: such an entry counts if it is that provider's.
    """
    provider, _, name = model.partition("/")
    table = _table()
    found = table.get(model)
    if found is None:
        found = table.get(name, {})
        if str(found.get("litellm_provider", "")).partition("-")[0] != provider:
            return {}
    return found if isinstance(found, Mapping) else {}


def table_providers() -> frozenset[str]:
    """The providers that litellm's table knows."""
    entries = _table().values()
    found = (entry.get("litellm_provider") for entry in entries if isinstance(entry, Mapping))
    return frozenset(name for name in found if isinstance(name, str))


@functools.cache
def _table() -> Mapping[str, Any]:
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    try:
        text = (Path(spec.origin).parent / "model_prices_and_context_window_backup.json").read_text("utf-8")
        table = json.loads(text)
    except (OSError, ValueError):
        return {}  # prices are unknown then
    return table if isinstance(table, Mapping) else {}
