"""prose_lang: an interpreter for the OpenProse delegation language.

Load a pattern file, bind its slots to functions, commands or other patterns, and run it:

>>> import prose_lang as prose
>>> pattern = prose.loads('let draft = call writer\\n  topic: topic\\nreturn draft.length')
>>> async def writer(topic): return topic * 2
>>> prose.Engine(services=[writer]).run(pattern, {"topic": "abc"}).value
6

Importing this module loads none of the parts; each public name loads what it needs when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from prose_lang.version import VERSION

if TYPE_CHECKING:
    import os

    from prose_lang import modules as modules
    from prose_lang.diagnostics import (
        CheckError,
        Diagnostic,
        LimitError,
        ProseError,
        RunError,
        ServiceError,
        SourceError,
        WaitingError,
    )
    from prose_lang.engine import Engine, Outcome, Pattern
    from prose_lang.handlers import Limits, Quota
    from prose_lang.journal import StoreError
    from prose_lang.runtime.current import CurrentCall, current_call
    from prose_lang.runtime.events import TextDelta
    from prose_lang.services import Script, read_script, ref, service
    from prose_lang.services.models.completion import Reply
    from prose_lang.services.models.definition import model_service
    from prose_lang.services.models.request import Request
    from prose_lang.services.models.settings import ModelSettings, Price, Provider
    from prose_lang.text import Source

__version__ = VERSION

__all__ = [
    "Cassette",
    "CheckError",
    "CurrentCall",
    "Diagnostic",
    "Engine",
    "LimitError",
    "Limits",
    "ModelSettings",
    "Outcome",
    "Pattern",
    "Price",
    "ProseError",
    "Provider",
    "Quota",
    "Reply",
    "Request",
    "RunError",
    "Script",
    "ServiceError",
    "Source",
    "SourceError",
    "StoreError",
    "TextDelta",
    "WaitingError",
    "current_call",
    "load",
    "loads",
    "model_service",
    "read_script",
    "ref",
    "service",
]

_HOMES = {
    "prose_lang.cassettes": "Cassette",
    "prose_lang.diagnostics": (
        "CheckError Diagnostic LimitError ProseError RunError ServiceError SourceError WaitingError"
    ),
    "prose_lang.engine": "Engine Outcome Pattern",
    "prose_lang.handlers": "Limits Quota",
    "prose_lang.journal": "StoreError",
    "prose_lang.runtime.current": "CurrentCall current_call",
    "prose_lang.runtime.events": "TextDelta",
    "prose_lang.services": "Script read_script ref service",
    "prose_lang.services.models.completion": "Reply",
    "prose_lang.services.models.definition": "model_service",
    "prose_lang.services.models.request": "Request",
    "prose_lang.services.models.settings": "ModelSettings Price Provider",
    "prose_lang.text": "Source",
}


def __getattr__(name: str) -> Any:
    if name == "modules":
        return importlib.import_module("prose_lang.modules")
    for home, names in _HOMES.items():
        if name in names.split():
            found = getattr(importlib.import_module(home), name)
            globals()[name] = found
            return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


def load(reference: str | os.PathLike[str]) -> Pattern:
    """A pattern by path, `stdlib:NAME` or bare library name, on an engine with the default limits (L8).

    Raises SourceError if it cannot be found or read.

    >>> load("stdlib:refine").name
    'refine'
    """
    from prose_lang.engine import Engine

    return Engine().load(reference)


def loads(text: str) -> Pattern:
    """A pattern from its text: a whole `.prose.md` file, or a bare delegation body (L2).

    >>> loads("return 1 + 1").run().value
    2
    """
    from prose_lang.engine import Engine

    return Engine().loads(text)
