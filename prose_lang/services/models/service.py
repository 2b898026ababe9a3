"""A model as a service. One attempt is one request; asking again is decided by the handlers (`handlers/again.py`).

What is asked comes from a contract. Where a slot is bound to a model and nothing else, the call is the contract: the
name under which it is called, the bindings it sends, and the fields that the program reads from the result
(`demanded.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import attrs

from prose_lang.diagnostics import RunError, ServiceError
from prose_lang.runtime.conversations import Turn
from prose_lang.runtime.effects import Effect, Reservation, Session, Usage
from prose_lang.semantics.signature import Signature
from prose_lang.services.models import answer, judging, prompt
from prose_lang.services.models.choice import choose
from prose_lang.services.models.completion import Reply
from prose_lang.services.models.contract import Contract
from prose_lang.services.models.demanded import of_call
from prose_lang.services.models.models import Models
from prose_lang.services.models.request import Message, Request
from prose_lang.values import TooLarge, Value

#: The most output tokens of a request under a limit of tokens or cost, where none is set for its model.
BOUNDED_OUTPUT = 4096
#: What is reckoned with where no limit is set and the request is not bounded.
EXPECTED_OUTPUT = 16_384
#: Characters of an unusable answer that are sent back when it is asked for again.
_QUOTED = 20_000


_OPEN = Signature(open=True, positional=False)


class Asked(NamedTuple):
    """A request made ready, with the contract that its answer has to keep."""

    request: Request
    contract: Contract


@attrs.frozen(eq=False)
class ModelService:
    """A service that a model does.

    `contract` is None where the call is the contract. `model` is what it is bound to, `tier` what its entry's Runtime
    asks for; `parameters` are set for this service. `usual` is the contract of calls that ask for a text and say
    nothing else, for a model that has to be told one; `usual_parameters` are theirs where nothing else sets them.
    """

    name: str
    models: Models
    contract: Contract | None = None
    signature: Signature = _OPEN
    model: str | None = None
    tier: str | None = None
    parameters: dict[str, Any] = attrs.field(factory=dict)
    max_concurrency: int | None = None
    usual: Contract | None = None
    usual_parameters: Mapping[str, Any] = attrs.field(factory=dict)

    composite = False
    metered = True
    corrections = 2

    @property
    def judge_prompt(self) -> str | None:
        """The version of what it is asked as a judge; None where it has a contract of its own."""
        return judging.VERSION if self.contract is None else None

    @property
    def retries(self) -> int:
        """How often a failure that may pass is tried again."""
        return self.models.settings.retries

    # --- asking ------------------------------------------------------------------------------------------------------

    def asked(self, effect: Effect) -> Asked:
        """The request of the next attempt of a call. Raises RunError P410 where no model can be chosen."""
        contract = self.contract or of_call(self.name, effect)
        usual: Mapping[str, Any] = {}
        if self.usual is not None and contract.is_open:
            contract, usual = attrs.evolve(self.usual, name=contract.name), self.usual_parameters
        settings = self.models.settings
        modifiers = effect.modifiers
        model = choose(settings, self.name, call=modifiers.model, entry=self.tier, binding=self.model)
        instruction, context, sent = modifiers.prompt, modifiers.context, effect.inputs
        before: tuple[Turn, ...] = ()
        if isinstance(effect, Session):  # what it is sent are the parts of a conversation
            instruction, context, before, sent = sent.get("prompt"), sent.get("context"), effect.before, {}
        given = {**contract.defaults, **{name: value for name, value in sent.items() if value is not None}}
        order = dict.fromkeys((*(item.name for item in contract.takes), *given))
        inputs = {name: given[name] for name in order if name in given}
        try:
            found = prompt.messages(contract, inputs, instruction, context, before)
        except TooLarge as error:
            raise ServiceError("P305", f"an input of `{self.name}` cannot be sent: {error}") from None
        for text, problem in effect.memo or ():
            found += (Message("assistant", text), Message("user", prompt.correction(problem)))
        parameters = {**usual, **settings.parameters.get(model, {}), **self.parameters}
        return Asked(Request(model, found, parameters, contract.schema), contract)

    def reserve(self, effect: Effect, bounded: bool) -> Reservation:
        """See `runtime.effects.Metered`."""
        asked = self.asked(effect)
        request = asked.request
        tariff = self.models.tariff(request.model)
        most = request.parameters.get("max_tokens")
        if most is None:
            usual = BOUNDED_OUTPUT if bounded else EXPECTED_OUTPUT
            most = usual if tariff.most_out is None else min(usual, tariff.most_out)
            if bounded:
                request = attrs.evolve(request, parameters={**request.parameters, "max_tokens": most})
        effect.ready = Asked(request, asked.contract)
        tokens_in = request.most_tokens_in
        provider = self.models.settings.provider(request.model)
        return Reservation(
            tokens_in + most,
            None if tariff.price is None else tariff.price.cost(tokens_in, most),
            request.model.partition("/")[0],
            provider.requests_per_minute,
            provider.tokens_per_minute,
        )

    async def invoke(self, effect: Effect) -> Any:
        """One request. Raises P404 for an answer that breaks the contract, P407 for one that was cut off."""
        asked = effect.ready or self.asked(effect)
        effect.ready = None
        model = asked.request.model
        price = self.models.tariff(model).price
        # If it is cut off now, nobody knows what it cost, unless it costs nothing.
        effect.usage = Usage(cost=0.0 if price is not None and price.is_free else None)
        effect.model = model
        try:
            reply = await self._complete(asked.request, effect)
        except RunError as error:
            if error.uncharged or error.code in ("P409", "P410"):
                effect.usage = None
            if error.overflow:
                error.hint = _shorter(effect) or error.hint
            raise
        tokens_in, tokens_out = reply.tokens_in or 0, reply.tokens_out or 0
        known = price is not None and reply.tokens_in is not None
        effect.usage = Usage(0, tokens_in, tokens_out, price.cost(tokens_in, tokens_out) if known and price else None)
        if reply.refusal is not None or reply.finish == "content_filter":
            said = f": {reply.refusal}" if reply.refusal else ""
            raise self._error("P406", f"the model refused{said}", reply.text)
        if reply.finish == "length":
            hint = "allow more with max_tokens of this model, or ask for less"
            raise self._error(
                "P407", "the answer was cut off at the most tokens it may have", reply.text, _shorter(effect) or hint
            )
        return self._read(reply.text, asked.contract, effect)

    async def _complete(self, request: Request, effect: Effect) -> Reply:
        """Streamed where somebody listens and the completion can. What came before a failure stays with the effect."""
        completion = effect.completion or self.models.completion_of(request.model)
        seconds = self.models.settings.seconds
        stream, tell = getattr(completion, "stream", None), effect.tell
        effect.heard = None
        if stream is None or tell is None:
            return await completion.complete(request, seconds)
        heard: list[str] = []

        def hear(text: str) -> None:
            heard.append(text)
            tell(text)

        try:
            reply: Reply = await stream(request, seconds, hear)
        except BaseException:
            effect.heard = "".join(heard) or None
            raise
        return reply

    def _read(self, text: str | None, contract: Contract, effect: Effect) -> Value:
        if text is not None and len(text) > answer.LONGEST:
            raise self._error("P404", f"the answer has {len(text):,} characters; at most {answer.LONGEST:,} are read",
                              text[: answer.LONGEST // 100])  # fmt: skip
        try:
            value = answer.read(text, contract.schema)
        except answer.Unusable as error:
            fault = self._error("P404", f"`{self.name}` broke its contract: {error}", text)
            # A judge is asked once more (L30.5), other services as often as the handlers say.
            fault.correctable = effect.kind != "ask" or not effect.memo
            effect.memo = (*(effect.memo or ()), (_quoted(text or ""), str(error)))
            raise fault from None
        return value[contract.unwrap] if contract.unwrap is not None else value

    def _error(self, code: str, message: str, text: str | None, hint: str | None = None) -> ServiceError:
        fault = ServiceError(code, message, service=self.name, hint=hint)
        fault.answer = text
        return fault

    # --- the same model with another contract ------------------------------------------------------------------------

    def with_contract(self, name: str, contract: Contract, signature: Signature, tier: str | None) -> ModelService:
        """This model for an entry: what it is bound to stays, the contract is the entry's."""
        return attrs.evolve(self, name=name, contract=contract, signature=signature, tier=tier)

    def __hash__(self) -> int:
        return id(self)


def _shorter(effect: Effect) -> str | None:
    """What to do where a conversation has outgrown its model. Nothing is ever left out of it silently (L29)."""
    turns = len(effect.before) if isinstance(effect, Session) else 0
    if not turns:
        return None
    return (
        f"{turns} earlier {'turn was' if turns == 1 else 'turns were'} sent along: begin anew with `session:` and a "
        "summary as its `context`, or choose a model that takes more"
    )


def _quoted(text: str) -> str:
    """An unusable answer as it is sent back; providers refuse a message without text."""
    if not text.strip():
        return "(nothing)"
    return text if len(text) <= _QUOTED else f"{text[:_QUOTED]} …"
