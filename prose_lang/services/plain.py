"""Requests to services and their answers as plain JSON data: what a cassette keeps and what goes to a worker and back.

An error is the code, message, name and hint that it has, with what `again`, `retry` and budgets go by. Of an error that
is not of this project's family there are its type's name and its message.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prose_lang.diagnostics import RunError, ServiceError, WaitingError
from prose_lang.runtime.effects import Effect
from prose_lang.services.models.completion import Reply
from prose_lang.values import ServiceRef, handout

#: What is kept of an error besides its code, message, name and hint.
_FLAGS = ("transient", "permanent", "uncharged", "overflow", "retry_after")
#: Modifiers that are told to the service; the others are about how it is called (L32).
TOLD = ("prompt", "model", "context")


def asked(effect: Effect) -> dict[str, Any]:
    """What a service that is no model is asked: its inputs, and the modifiers that it is told."""
    request: dict[str, Any] = {"inputs": {name: plain_value(value) for name, value in effect.inputs.items()}}
    told = {name: getattr(effect.modifiers, name) for name in TOLD}
    return request | {name: plain_value(value) for name, value in told.items() if value is not None}


def plain_value(value: Any) -> Any:
    """A value as a copy of its own; a reference is its name."""
    return str(value) if isinstance(value, ServiceRef) else handout(value)


def plain_reply(reply: Reply) -> dict[str, Any]:
    """A model's reply."""
    plain = {"text": reply.text, "finish": reply.finish, "tokens_in": reply.tokens_in, "tokens_out": reply.tokens_out}
    return plain if reply.refusal is None else {**plain, "refusal": reply.refusal}


def reply_of(plain: Mapping[str, Any]) -> Reply:
    """The reply that `plain_reply` wrote. Raises KeyError for what is none."""
    return Reply(plain["text"], plain.get("refusal"), plain["finish"], plain["tokens_in"], plain["tokens_out"])


def plain_error(error: Exception) -> dict[str, Any]:
    """An error that a service raised.

    >>> plain_error(ServiceError("P406", "no line"))
    {'code': 'P406', 'message': 'no line', 'name': 'service-failed'}
    >>> plain_error(KeyError("x"))
    {'type': 'KeyError', 'message': "'x'"}
    """
    if not isinstance(error, RunError):
        return {"type": type(error).__name__, "message": _said(error)}
    plain: dict[str, Any] = {
        "code": error.code, "message": error.message, "name": error.error_name, "hint": error.hint
    }  # fmt: skip
    plain |= {flag: getattr(error, flag) for flag in _FLAGS}
    return {name: value for name, value in plain.items() if value is not None and value is not False}


def error_of(plain: Mapping[str, Any], service: str) -> Exception:
    """The error that `plain_error` wrote."""
    if "code" not in plain:
        made: Exception = type(str(plain.get("type", "Error")), (Exception,), {})(plain.get("message", ""))
        return made
    kind = WaitingError if plain["code"] == "P411" else ServiceError
    fault = kind(
        plain["code"], plain.get("message", ""), service=service, hint=plain.get("hint"), error_name=plain.get("name")
    )
    for flag in _FLAGS:
        if flag in plain:
            setattr(fault, flag, plain[flag])
    return fault


def _said(error: Exception) -> str:
    try:
        return str(error)
    except Exception:  # it cannot say what it is
        return ""
