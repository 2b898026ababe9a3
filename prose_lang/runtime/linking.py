"""What a call site and the service it reached agree on (L32): which bindings are sent, what is missing.

A slot's service is known only when the call is made, so the agreement is worked out at the first call of each pair and
kept for the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from prose_lang.diagnostics import RunError
from prose_lang.documents.declarations import misfit, restricts, takes_text
from prose_lang.documents.model import Item
from prose_lang.runtime.effects import Service
from prose_lang.runtime.place import Place
from prose_lang.semantics import CallPlan, Signature
from prose_lang.text import did_you_mean, nearest
from prose_lang.values import ServiceRef

MODIFIERS = ("retry", "backoff", "timeout")


class Link(NamedTuple):
    """What to send where.

    `inputs` are the names that are sent, `words` those of `prompt`, `model`, `context` that are modifiers here,
    `required` the inputs whose value must not be null, `keep_null` whether null bindings are sent (an instance has
    to know of them: they end its look-up, §9 L7), `dropped` the bindings that a slot's service does not take.
    """

    inputs: tuple[str, ...]
    words: tuple[str, ...]
    required: tuple[str, ...]
    keep_null: bool
    dropped: tuple[str, ...]
    typed: tuple[Item, ...]

    def check(
        self, service: Service, inputs: Mapping[str, Any], place: Place, warn: Callable[[Place, str, str], None]
    ) -> None:
        """P211 where a value is not what the contract declares; where that is a text, another kind is let through
        with a warning event (L3)."""
        for item in self.typed:
            value = inputs.get(item.name)
            if value is None or isinstance(value, ServiceRef) or (wrong := misfit(value, item)) is None:
                continue
            message = f"`{item.name}` of `{service.name}` {wrong}"
            if takes_text(item):
                warn(place, "P211", message)
                continue
            raise RunError("P211", message, source=place.source, span=place.span, service=service.name)

    def warn(
        self, service: Service, values: Mapping[str, Any], place: Place, warn: Callable[[Place, str, str], None]
    ) -> None:
        """Say what is not sent, but for null, which is never sent. Links outlive a run, so each call says it anew."""
        for name in self.dropped:
            if values[name] is not None:
                warn(place, "P210", f"`{service.name}` takes no `{name}`; it is not sent")


def link(plan: CallPlan, service: Service, given: Mapping[str, Any], place: Place) -> Link:
    """Work out the agreement. Raises P203, P209 or P210 where there is none."""
    signature = service.signature
    for name in MODIFIERS:
        if name in plan.modifiers and signature.parameter(name) is not None:
            raise RunError(
                "P209",
                f"`{name}` is a modifier of every call, but `{service.name}` declares an input of that name",
                source=place.source,
                span=place.span,
                service=service.name,
                hint="rename the input",
            )
    words = tuple(name for name in plan.words if signature.parameter(name) is None)
    names, dropped = [], []
    for name in given:
        if name in words:
            continue
        if signature.open or signature.parameter(name) is not None:
            names.append(name)
        else:
            _refuse_unless_a_slot(plan, service, signature, name, place)
            dropped.append(name)
    required = [parameter for parameter in signature.parameters if parameter.required]
    missing = [parameter.name for parameter in required if parameter.name not in names]
    if missing:
        raise missing_inputs(service, missing, place)
    typed = tuple(
        parameter.item
        for parameter in signature.parameters
        if parameter.name in names and parameter.item is not None and restricts(parameter.item)
    )
    strict = tuple(parameter.name for parameter in required if not parameter.pass_null)
    return Link(tuple(names), words, strict, getattr(service, "inherits", False), tuple(dropped), typed)


def _refuse_unless_a_slot(plan: CallPlan, service: Service, signature: Signature, name: str, place: Place) -> None:
    """A slot's service that does not take a binding does not get it; a function's caller is mistaken (L32)."""
    if plan.target.slot is None and plan.target.variable is None:
        close = nearest(name, signature.names)
        raise RunError(
            "P210",
            f"`{service.name}` has no input `{name}`",
            source=place.source,
            span=place.span,
            service=service.name,
            hint=did_you_mean(close[:1]),
        )


def missing_inputs(service: Service, names: list[str], place: Place, hint: str | None = None) -> RunError:
    """The error of a call that lacks required inputs."""
    words = ", ".join(f"`{name}`" for name in names)
    return RunError(
        "P203",
        f"`{service.name}` needs {words}, and this call does not give {'it' if len(names) == 1 else 'them'}",
        source=place.source,
        span=place.span,
        service=service.name,
        hint=hint,
    )
