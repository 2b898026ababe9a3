"""Effects: the only way in which the walk reaches the world. Handlers perform them (`handlers/`).

An effect is made once for each dynamic call and carries what is needed to do it, to record it and to find it
again: its address (L35). It doubles as the record of what came of it, so that tracing costs no second object.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from prose_lang.semantics.signature import Signature
from prose_lang.text import Source, Span

if TYPE_CHECKING:
    from prose_lang.runtime.conversations import Turn

_NUMBERS = re.compile(r"\[(\d+)\]")


class Usage:
    """What calls consumed. Cost is in US dollars; None means unknown, which is not 0.

    `cached` counts the answers that came from the cache, which are no calls and consume nothing; None without a cache.
    """

    __slots__ = ("cached", "calls", "cost", "tokens_in", "tokens_out")

    def __init__(
        self,
        calls: int = 0,
        tokens_in: int = 0,
        tokens_out: int = 0,
        cost: float | None = 0.0,
        cached: int | None = None,
    ) -> None:
        self.calls = calls
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out
        self.cost = cost
        self.cached = cached

    def add(self, other: Usage) -> None:
        """Count another usage in; an unknown cost makes the sum unknown."""
        self.calls += other.calls
        self.tokens_in += other.tokens_in
        self.tokens_out += other.tokens_out
        self.cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        if other.cached is not None:
            self.cached = (self.cached or 0) + other.cached

    def as_json(self) -> dict[str, Any]:
        """As plain data; `cached` is there only where there is a cache."""
        plain: dict[str, Any] = {
            "calls": self.calls, "tokens_in": self.tokens_in, "tokens_out": self.tokens_out, "cost": self.cost
        }  # fmt: skip
        return plain if self.cached is None else {**plain, "cached": self.cached}

    def __repr__(self) -> str:
        return f"Usage({self.as_json()})"


class Modifiers(NamedTuple):
    """The modifiers of a call (L32). `retry` counts further attempts; `timeout` is seconds per attempt."""

    retry: int = 0
    backoff: str = "none"
    timeout: float | None = None
    prompt: str | None = None
    model: str | None = None
    context: Any = None

    def as_json(self) -> dict[str, Any]:
        """Only what was set."""
        plain: dict[str, Any] = {}
        if self.retry:
            plain["retry"] = self.retry
        if self.backoff != "none":
            plain["backoff"] = self.backoff
        for name in ("timeout", "prompt", "model", "context"):
            value = getattr(self, name)
            if value is not None:
                plain[name] = value
        return plain


NO_MODIFIERS = Modifiers()


class Reservation(NamedTuple):
    """The most that one attempt may consume, known before it is made; `cost` is None where it is unknown (L34).

    Attempts with one `lane` share a provider's rates per minute; None there is no limit.
    """

    tokens: int
    cost: float | None
    lane: str = ""
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None


class Site(Protocol):
    """Where in a program an effect comes from: its place in the text and the template of its address."""

    @property
    def source(self) -> Source: ...
    @property
    def span(self) -> Span: ...
    def address(self, prefix: str, indices: tuple[int, ...]) -> str:
        """The address of the dynamic occurrence (L35)."""

    def order(self, indices: tuple[int, ...]) -> tuple[int, ...]:
        """A key that sorts occurrences in program order."""


class Effect:
    """What calls and questions to a judge have in common.

    `value` or `error` is set once it is done; `attempt` counts from 1 while it runs, `made` those that reached the
    service: a limit may refuse one, and one that waits for its place may be cancelled. Times are the clock's seconds.
    `number` is the start order within the run.
    """

    kind = "effect"

    # Most effects keep most of these: as class attributes they cost nothing to begin with.
    attempt = 1
    made = 0
    number = 0
    #: Of several questions that one condition puts to one judge: which it is, from 0.
    turn = 0
    #: What its journal notes of it while it is under way, and whether what came of it was read back from there.
    draft: Any = None
    recalled = False
    #: Whether its answer came from the cache: then no attempt was made.
    cached = False
    #: Seconds of the current attempt's `timeout` that are used up: one attempt may be several requests
    #: (`handlers/again`).
    spent = 0.0
    #: What a service keeps from one request of this call to the next, and what it made ready for the next one.
    memo: Any = None
    ready: Any = None
    #: Whom a service tells its text while it comes, None if nobody listens; and what had come when a request failed.
    tell: Callable[[str], None] | None = None
    heard: str | None = None
    reserved: Reservation | None = None
    #: What answers the requests of a metered service instead of its own completion (`handlers/cassette`, `remote`), and
    #: which model the answer is of.
    completion: Any = None
    model: str | None = None
    #: The attempt that was sent to a worker last, and how often (`handlers/remote`); whether that keeps its `timeout`.
    sent = (0, 0)
    timed = False
    usage: Usage | None = None
    value: Any = None
    error: BaseException | None = None
    started = 0.0
    seconds = 0.0

    def __init__(
        self,
        site: Site,
        place: Any,
        indices: tuple[int, ...],
        service: Service,
        inputs: dict[str, Any],
        modifiers: Modifiers = NO_MODIFIERS,
    ) -> None:
        self.site = site
        self.place = place
        self.indices = indices
        self.service = service
        self.inputs = inputs
        self.modifiers = modifiers

    @property
    def address(self) -> str:
        """The address (L35), made when somebody wants to see it."""
        return self.site.address(self.place.prefix, self.indices)

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt of one call of one run, and for no other call: a service may tell by it that it
        has done the work already. A call that is made anew because something else is asked now has another one."""
        key = f"{self.place.run.run_id}:{self.address}" + (f"#{self.turn}" if self.turn else "")
        apart = self.draft.apart if self.draft is not None else ""
        return f"{key}:{apart}" if apart else key

    @property
    def sample(self) -> int:
        """The sample number: what a cache of answers needs beside the question.

        It is made of the numbers of the loops and branches around the call: the passes of a loop that ask the same have
        different ones, and a repeated run has the same ones again. In a single loop it is the number of the pass.
        """
        numbers = _NUMBERS.findall(self.address)
        if len(numbers) <= 1:
            return int(numbers[0]) if numbers else 0
        from hashlib import blake2b

        return int.from_bytes(blake2b(".".join(numbers).encode(), digest_size=6).digest())


class Call(Effect):
    """One dynamic `call` of a service."""

    kind = "call"


class Session(Call):
    """A `session` (L29): work for the default model. `role` is the prompt of its agent, if it names one; `before` are
    the turns that it goes on from."""

    role: str | None = None
    before: tuple[Turn, ...] = ()


class Ask(Effect):
    """One question to the judge (L30.5, L31): its inputs are `condition` or `criteria`, `values` and `options`."""

    kind = "ask"


class Service(Protocol):
    """Anything that can be called. One instance may be called many times at once.

    `invoke` gives a host object, which the dispatcher takes in as a value. It may set `effect.usage`. `composite`
    services (nested patterns) are not calls themselves: they make calls. A service that is `Metered` besides says
    before each attempt what it may consume.
    """

    @property
    def name(self) -> str: ...
    @property
    def signature(self) -> Signature: ...
    @property
    def composite(self) -> bool: ...
    def invoke(self, effect: Effect) -> Awaitable[Any]: ...


class Metered(Service, Protocol):
    """A service whose attempts are requests to a model. Handlers know one by its `metered`.

    `retries` is how often an attempt that failed in passing is made again, besides the `retry:` of the program;
    `corrections` how often an answer that broke the contract is asked for again.
    """

    @property
    def metered(self) -> bool: ...
    @property
    def retries(self) -> int: ...
    @property
    def corrections(self) -> int: ...
    def reserve(self, effect: Effect, bounded: bool) -> Reservation:
        """What the next attempt may consume at most; `bounded` requests are made such that it holds."""
