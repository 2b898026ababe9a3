"""The canonical request: everything that decides an answer, as plain data, and nothing else.

Two requests with the same digest ask the same of the same model, so a recording or a cache may answer one for the
other. How the request travels (addresses, keys, time allowed) is no part of it, and so no secret ever is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import attrs


def _frozen(found: Mapping[str, Any]) -> Mapping[str, Any]:
    return MappingProxyType(dict(found))


class Message(NamedTuple):
    """One message: `role` is `system`, `user` or `assistant`."""

    role: str
    text: str


@attrs.frozen
class Request:
    """What a model is asked. `model` is its name with the provider (`openai/gpt-x`), `schema` the JSON schema of the
    answer.

    `parameters` are those that were set: one that is not there is not sent, one that is 0 is.

    >>> Request("openai/x", (Message("user", "hi"),), {"temperature": 0}).digest[:8]
    '13c76fae'
    """

    model: str
    messages: tuple[Message, ...]
    parameters: Mapping[str, Any] = attrs.field(factory=dict, converter=_frozen)
    schema: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        """The request as plain data, as it is recorded and shown."""
        plain: dict[str, Any] = {
            "model": self.model,
            "messages": [{"role": message.role, "content": message.text} for message in self.messages],
            "parameters": dict(self.parameters),
        }
        if self.schema is not None:
            plain["schema"] = self.schema
        return plain

    @classmethod
    def of_json(cls, plain: Mapping[str, Any]) -> Request:
        """The request that `as_json` wrote. Raises KeyError and the like for what is none.

        >>> request = Request("openai/x", (Message("user", "hi"),), {"temperature": 0})
        >>> Request.of_json(request.as_json()) == request
        True
        """
        messages = tuple(Message(part["role"], part["content"]) for part in plain["messages"])
        return cls(plain["model"], messages, plain["parameters"], plain.get("schema"))

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical JSON, hexadecimal."""
        text = json.dumps(self.as_json(), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def most_tokens_in(self) -> int:
        """A number of input tokens that no tokenizer exceeds: a token is at least a byte, and a message has a frame."""
        size = sum(len(message.text.encode("utf-8", "surrogatepass")) + 16 for message in self.messages)
        return size + (len(json.dumps(self.schema)) if self.schema is not None else 0)
