"""What a service is asked and what it raised, as plain data: for whoever keeps answers or carries them elsewhere."""

from __future__ import annotations

from typing import Any

from prose_lang.diagnostics import RunError, ServiceError, WaitingError
from prose_lang.runtime.effects import NO_MODIFIERS, Effect
from prose_lang.values import NotAValue, ServiceRef, TooLarge, handout, intake

#: What is kept of an error besides its code and message.
FLAGS = ("transient", "permanent", "uncharged", "retry_after")
#: Modifiers that are told to the service; the others are about how it is called (L32).
TOLD = ("prompt", "model", "context")


def asked(effect: Effect) -> dict[str, Any]:
    """What a service that is no model is asked: its inputs, and the modifiers that it is told. Raises TooLarge."""
    request: dict[str, Any] = {"inputs": {name: plain(value) for name, value in effect.inputs.items()}}
    if effect.modifiers is NO_MODIFIERS:
        return request
    told = {name: getattr(effect.modifiers, name) for name in TOLD}
    return request | {name: plain(value) for name, value in told.items() if value is not None}


def plain(value: Any) -> Any:
    """A value as data; references are the names of their services."""
    return str(value) if isinstance(value, ServiceRef) else handout(value)


def error_data(error: RunError) -> dict[str, Any]:
    """An error of a service as data.

    >>> error_data(ServiceError("P406", "it is down", hint="wait"))
    {'code': 'P406', 'message': 'it is down', 'hint': 'wait'}
    """
    data: dict[str, Any] = {
        "code": error.code, "message": error.message, "name": error.error_name, "hint": error.hint
    }  # fmt: skip
    data |= {flag: getattr(error, flag) for flag in FLAGS}
    data["thrown"] = _thrown(error)
    return {name: value for name, value in data.items() if value is not None and value is not False}


def _thrown(error: RunError) -> Any:
    """What a service threw besides its message, where that can be kept."""
    try:
        return None if error.thrown is None else plain(intake(error.thrown))
    except (NotAValue, TooLarge):
        return None


def error_of(data: dict[str, Any], service: str) -> RunError:
    """The error that `error_data` told of."""
    kind = WaitingError if data["code"] == "P411" else ServiceError
    made = kind(
        data["code"], data.get("message", ""), service=service, hint=data.get("hint"), error_name=data.get("name")
    )
    made.thrown = data.get("thrown")
    for flag in FLAGS:
        if flag in data:
            setattr(made, flag, data[flag])
    return made
