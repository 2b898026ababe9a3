"""What a run was given, as its record keeps it, and what of that a record may give back.

Values come back as they were. A service comes back only if data may name it: a registered name, an entry, `stdlib:`.
What was a Python function, a `cmd:`, `py:`, `model:` or a path has to be given again, for nothing that is data may make
the machine import code, run a command or spend money.
"""

from __future__ import annotations

from collections.abc import Mapping
from shlex import quote
from typing import Any

from prose_lang.diagnostics import CheckError, Diagnostic, ProseError
from prose_lang.diagnostics.redact import Redactor
from prose_lang.engine.given import Given
from prose_lang.engine.pattern import Pattern
from prose_lang.runtime.effects import Service
from prose_lang.services import TrustedReference, parse_reference
from prose_lang.values import ServiceRef, Value, handout


def names_data(
    names: Mapping[str, Any], inputs: Mapping[str, Value], redactor: Redactor, *, known: Mapping[str, Service]
) -> dict[str, Any]:
    """What is kept. `inputs` are the values that were bound; all other `names` are slots. `known` are registered."""
    values: dict[str, Any] = {}
    hidden: list[str] = []
    services: dict[str, Any] = {}
    for name, value in inputs.items():
        if isinstance(value, ServiceRef):
            services[name] = [_service(names.get(name, str(value)), known)]
            continue
        plain = handout(value)
        values[name] = redactor.value(plain)
        if values[name] != plain:
            hidden.append(name)
    for name, item in names.items():
        if name in inputs or item is None:
            continue
        value = item.value if type(item) is Given else item
        if isinstance(value, (list, tuple)):
            services[name] = [_service(part, known) for part in value]
        elif value is not None:
            services[name] = _service(value, known)
    # A command line may hold a secret; such a text has to be given again in any case.
    return {"values": values, "hidden": hidden, "services": redactor.value(services)}


def _service(thing: Any, known: Mapping[str, Service]) -> dict[str, Any]:
    """One service: the text that means it, and whether a record may bring it back."""
    if type(thing) is Given:
        thing = thing.value
    if isinstance(thing, TrustedReference):
        text = thing.reference.text
    elif isinstance(thing, str):
        text = str(thing)
    elif isinstance(thing, Pattern):
        return {"text": thing.name, "again": True, "what": "a pattern that was loaded"}
    else:
        name = getattr(thing, "name", None) or getattr(thing, "__name__", None) or type(thing).__name__
        return {"text": str(name), "again": str(name) not in known, "what": "a function"}
    return {"text": text, "again": not named_by_data(text), "what": "a reference"}


def named_by_data(text: str) -> bool:
    """Whether data may name it; of several, separated by commas, whether it may name all."""
    try:
        for part in text.split(","):
            parse_reference(part, trusted=False)
    except ProseError:
        return False
    return True


def names_given(recorded: Mapping[str, Any], again: Mapping[str, Any]) -> dict[str, Any]:
    """The names of a run that is gone on with: those of its record, and in their place those that are given `again`.

    Raises CheckError P203 with everything that has to be given again and is not.
    """
    found: list[Diagnostic] = []
    names: dict[str, Any] = {name: Given(value) for name, value in recorded["values"].items()}
    for name in recorded["hidden"]:
        if name not in again:
            message = f"`{name}` held a secret, which the record does not keep"
            found.append(Diagnostic("P203", message, None, None, hint=f"give it again: {name}=…"))
    for name, services in recorded["services"].items():
        several = services if isinstance(services, list) else [services]
        if name in again:
            continue
        lost = [service for service in several if service["again"]]
        if lost:
            texts = ", ".join(f"`{service['text']}`" for service in lost)
            found.append(
                Diagnostic(
                    "P203", f"`{name}` was bound to {texts}, which a record must not bring back", None, None,
                    hint=f"give it again: {quote(f'{name}=' + ','.join(service['text'] for service in several))}",
                )
            )  # fmt: skip
        elif isinstance(services, list):
            names[name] = Given([service["text"] for service in services])
        else:
            names[name] = Given(services["text"], text=True)
    if found:
        raise CheckError.from_diagnostics(found)
    return {**names, **again}


def must_be_given_again(recorded: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The names that have to be given again to go on with a run, each with the text that it was bound by.

    >>> must_be_given_again({"values": {}, "hidden": ["key"], "services": {}})
    [('key', '…')]
    """
    found = [(name, "…") for name in recorded["hidden"]]
    for name, services in recorded["services"].items():
        several = services if isinstance(services, list) else [services]
        if any(service["again"] for service in several):
            found.append((name, ",".join(service["text"] for service in several)))
    return found
