"""A completion that answers from a list and keeps what it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from prose_lang import Reply, Request

Answer = str | Reply | BaseException | Callable[[Request], Any]


class Fake:
    """Answers in the order of the list, then with `then`; every answer takes `seconds`."""

    def __init__(self, *answers: Answer, then: Answer = "fine", seconds: float = 0.0) -> None:
        self.answers = list(answers)
        self.then = then
        self.seconds = seconds
        self.requests: list[Request] = []
        self.times: list[float] = []
        self.under_way = self.most_at_once = 0

    async def complete(self, request: Request, seconds: float) -> Reply:
        self.requests.append(request)
        self.times.append(asyncio.get_running_loop().time())
        answer = self.answers.pop(0) if self.answers else self.then
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            if self.seconds:
                await asyncio.sleep(self.seconds)
        finally:
            self.under_way -= 1
        if callable(answer):
            answer = answer(request)
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(answer, tokens_in=100, tokens_out=10)
