"""What `prose models` finds out. litellm is not imported: names of keys follow its rule, prices are in its table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from prose_lang.cli.engines import model_settings
from prose_lang.diagnostics.visible import visible
from prose_lang.services.models.keys import Keys, is_this_machine
from prose_lang.services.models.litellm_completion import needed_keys
from prose_lang.services.models.local.catalogue import MODELS, PROVIDER
from prose_lang.services.models.prices import Tariffs, table_providers

if TYPE_CHECKING:
    from prose_lang.cli.terminal import Terminal
    from prose_lang.services.models.settings import ModelSettings

#: Seconds that a base URL has to answer, and characters that are read of what it says.
SECONDS = 3.0
_MOST = 1_000_000
#: How many models of a server are shown in the text.
_SHOWN = 8
_KEY = "_API_KEY"


def found_models(terminal: Terminal, *, check: bool = False) -> dict[str, Any]:
    """Everything as plain data. With `check` the base URLs of the settings are asked. Raises ProseError."""
    settings = model_settings(terminal)
    keys = Keys(settings, terminal.environ)
    default = settings.default
    models = [*([settings.aliases.get(default, default)] if default else []), *settings.aliases.values()]
    models = list(dict.fromkeys([*models, *settings.prices, *settings.parameters]))
    return {
        "default": default,
        "aliases": dict(settings.aliases),
        "models": [_model(model, settings) for model in models],
        "providers": [_provider(name, settings, keys, check) for name in _providers(models, settings, terminal)],
        "local": _local(),
    }


def _model(model: str, settings: ModelSettings) -> dict[str, Any]:
    from prose_lang.diagnostics import RunError

    try:
        price = Tariffs(settings).of(model).price
    except RunError:  # a local model that there is none of
        price = None
    return {
        "model": model,
        "price": None if price is None else {"input": price.input, "output": price.output},
        "parameters": dict(settings.parameters.get(model, {})),
    }


def _providers(models: list[str], settings: ModelSettings, terminal: Terminal) -> list[str]:
    """Those that the settings speak of, and those whose key is in the environment."""
    spoken_of = [*settings.providers, *(model.partition("/")[0] for model in models)]
    known = table_providers() | set(spoken_of)
    set_up = [name.removesuffix(_KEY).lower() for name, value in terminal.environ.items() if value and _KEY in name]
    return sorted({*spoken_of, *(name for name in set_up if name in known)} - {PROVIDER})


def _provider(name: str, settings: ModelSettings, keys: Keys, check: bool) -> dict[str, Any]:
    provider = settings.provider(f"{name}/")
    key = provider.key or needed_keys(f"{name}/")[0]
    found: dict[str, Any] = {"name": name, "key": key, "key_set": keys.is_set(key), "base_url": provider.base_url}
    if check and provider.base_url is not None:
        found["check"] = asked(provider.base_url)
    return found


def asked(base_url: str) -> dict[str, Any]:
    """Ask a server for its models, once, for a short time and without a key; follow it nowhere.

    `reached` tells whether anything answered, `status` what, `models` are those it names, `reason` why not.
    """
    import http.client
    import urllib.error
    import urllib.request
    from urllib.parse import urlsplit

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *of: Any, **more: Any) -> None:
            return None

    here = is_this_machine(urlsplit(base_url).hostname or "")
    # A proxy of the environment is for the way out.
    opener = urllib.request.build_opener(Stay, *([urllib.request.ProxyHandler({})] if here else []))
    try:
        with opener.open(f"{base_url.rstrip('/')}/models", timeout=SECONDS) as answer:
            return {"reached": True, "status": answer.status, "models": _named(answer.read(_MOST))}
    except urllib.error.HTTPError as error:
        error.close()
        return {"reached": True, "status": error.code, "models": []}
    except (OSError, http.client.HTTPException, ValueError) as error:
        cause = getattr(error, "reason", error)
        said = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
        return {"reached": False, "reason": said[:1].lower() + said[1:]}


def _named(text: bytes) -> list[str]:
    """The models in an answer; none if it is no list of models."""
    try:
        data = json.loads(text)["data"]
        return [item["id"] for item in data if isinstance(item["id"], str)]
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _local() -> list[dict[str, Any]]:
    from prose_lang.diagnostics import RunError
    from prose_lang.services.models.local.engine import check_engine
    from prose_lang.services.models.local.store import Store

    lacking: str | None = None
    try:
        check_engine()
    except RunError as error:
        lacking = f"{error.message}: {error.hint}"
    store = Store()
    return [
        {
            "name": model.name,
            "reference": f"{PROVIDER}:{model.name}",
            "about": model.about,
            "licence": model.licence,
            "bytes": model.size,
            "installed": store.has(model),
            "path": str(store.path(model)),
            "engine": lacking is None,
            "lacking": lacking,
        }
        for model in MODELS.values()
    ]


# --- as text ---------------------------------------------------------------------------------------------------------


def lines(found: Mapping[str, Any]) -> Iterator[str]:
    """What was found, as text."""
    aliases, default = found["aliases"], found["default"]
    mapped = f" = {aliases[default]}" if default in aliases else ""
    yield f"default    {visible((default or 'none') + mapped)}"
    yield from _column("aliases", [f"{name} = {model}" for name, model in aliases.items()])
    yield from _column("models", [f"{one['model']}: {_price(one['price'])}" for one in found["models"]])
    yield from _column("providers", [_provider_line(one) for one in found["providers"]])
    yield from _column("local", [_local_line(one) for one in found["local"]])


def _column(title: str, items: list[str]) -> Iterator[str]:
    for number, item in enumerate(items or ["none"]):
        yield f"{'' if number else title:<11}{visible(item)}"


def _price(price: Mapping[str, float] | None) -> str:
    if price is None:
        return "price unknown"
    if not any(price.values()):
        return "free"
    return f"${price['input']:g} in, ${price['output']:g} out per million tokens"


def _provider_line(one: Mapping[str, Any]) -> str:
    facts = [f"{one['key']} is {'set' if one['key_set'] else 'not set'}"]
    if one["base_url"]:
        facts.append(f"at {one['base_url']}")
    check = one.get("check")
    if check is not None:
        facts.append(_answer(check))
    return f"{one['name']}: {', '.join(facts)}"


def _answer(check: Mapping[str, Any]) -> str:
    if not check["reached"]:
        return f"no answer ({check['reason']})"
    names = check["models"]
    if not names:
        return f"it answers ({check['status']})"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"it has {', '.join(names[:_SHOWN])}{more}"


def _local_line(one: Mapping[str, Any]) -> str:
    state = "installed" if one["installed"] else f"not installed (prose models install {one['name']})"
    if one["lacking"]:
        state = one["lacking"]
    return f"{one['name']}: {one['about']}; {one['bytes'] / 1e6:.0f} MB, {one['licence']}; {state}"
