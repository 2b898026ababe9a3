"""Which model does a call: the call's `model`, else its entry's Runtime, else the binding, else the engine's default.

Files name tiers, which the configuration maps. A `PROVIDER/MODEL` that comes from a file or from data is accepted where
the user named that very model too, or allows all of them (§9 L7): who pays decides.
"""

from __future__ import annotations

from prose_lang.diagnostics import RunError
from prose_lang.services.models.settings import ModelSettings
from prose_lang.text import nearest


def choose(settings: ModelSettings, service: str, *, call: str | None, entry: str | None, binding: str | None) -> str:
    """The `PROVIDER/MODEL` of a call. Raises RunError P410 for a tier that nothing maps, and where there is none.

    >>> choose(ModelSettings(aliases={"fast": "openai/x"}), "critic", call="fast", entry=None, binding="openai/y")
    'openai/x'
    """
    for word in (call, entry):
        if word is not None and word.strip():
            return _of_file(settings, service, word.strip(), binding)
    word = binding or settings.default
    if word is None:
        raise RunError(
            "P410",
            f"`{service}` is work for a model, and no model is configured",
            service=service,
            hint="give one: --model PROVIDER/MODEL, or `default` under [tool.prose.models]",
        )
    return mapped(settings, word, service)


def mapped(settings: ModelSettings, word: str, service: str | None = None) -> str:
    """The `PROVIDER/MODEL` of a word of the user's: an alias, or that itself. Raises RunError P410."""
    found = settings.aliases.get(word, word)
    if all(found.partition("/")):
        return found
    raise _unmapped(settings, word, service)


def _of_file(settings: ModelSettings, service: str, word: str, binding: str | None) -> str:
    if word in settings.aliases:
        return mapped(settings, settings.aliases[word], service)
    word = word.removeprefix("model:")
    if not all(word.partition("/")):
        raise _unmapped(settings, word, service)
    known = {binding, settings.default, *settings.aliases.values()}
    if settings.allow_models or word in known:
        return word
    raise RunError(
        "P410",
        f"the program asks for the model `{word}` by name, and whoever runs it decides which models are paid for",
        service=service,
        hint="allow it with --allow-model, or map a name to it under [tool.prose.models.aliases]",
    )


def _unmapped(settings: ModelSettings, word: str, service: str | None) -> RunError:
    close = nearest(word, settings.aliases)
    hint = f'map it: [tool.prose.models.aliases] with {word} = "PROVIDER/MODEL"'
    if close:
        hint = f"did you mean `{close[0]}`? Or {hint}"
    return RunError("P410", f"no model is configured for `{word}`", service=service, hint=hint)
