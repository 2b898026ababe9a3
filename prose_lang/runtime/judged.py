"""What a model has decided in a run, so that the same question is put to it once.

Two questions are the same if their texts and values are equal as JSON. Who asks while an equal question is under way
waits for that answer; where it fails or is cancelled the next one asks.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any


class Known:
    """What is known of one question; `answer` is None until there is one."""

    __slots__ = ("answer", "turn")

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.answer: Any = None


class Judged:
    """The decisions of one run."""

    def __init__(self) -> None:
        self._known: dict[bytes, Known] = {}

    @asynccontextmanager
    async def question(self, inputs: Mapping[str, Any]) -> AsyncIterator[Known]:
        """What is known of a question, for the one who may ask it now."""
        text = json.dumps(inputs, ensure_ascii=False, sort_keys=True)
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        known = self._known.setdefault(key, Known())
        async with known.turn:
            yield known
