"""Entries: what the sections of a file or of an inline `##` heading say, put together (L1–L7)."""

from __future__ import annotations

import re
from types import MappingProxyType

from prose_lang.documents.agreement import agree
from prose_lang.documents.bodies import read_body, report_missing
from prose_lang.documents.config import read_config
from prose_lang.documents.faults import Faults
from prose_lang.documents.instances import read_callables
from prose_lang.documents.interface import INPUTS, OUTPUTS, PROMISES, read_interface
from prose_lang.documents.model import Entry, Fence
from prose_lang.documents.sections import Draft
from prose_lang.documents.shapes import NAME
from prose_lang.documents.slots import read_slots
from prose_lang.text import Span


def kind_of_sections(draft: Draft) -> str:
    """The kind of an entry that does not state one: a pattern has slots or a delegation, others are functions."""
    return "pattern" if next(draft.named("slots", "delegation"), None) else "function"


#: Sections of which one makes an entry of a heading, whatever its words are.
_CONTRACT = frozenset(
    {*PROMISES, "slots", "config", "delegation", "execution", "services", "patterns", "errors", "strategies", "runtime",
     "effects", "tools"}
)  # fmt: skip
_NAME = re.compile(NAME)


def is_documentation(draft: Draft) -> bool:
    """Whether a `##` heading divides the text and opens no entry: nothing below it says what a service takes or does,
    and it reads like a heading, "Notes" or "Design choices". `## writer` alone is a service without a contract.

    >>> [is_documentation(Draft(name, None, name, "")) for name in ("writer", "Notes", "how it works")]
    [False, True, True]
    """
    name = draft.name or ""
    return not any(draft.named(*_CONTRACT)) and (not _NAME.fullmatch(name) or name[0].isupper())


def read_entry(draft: Draft, name: str, kind: str, span: Span, faults: Faults, *, sound: bool = True) -> Entry:
    """The entry that a draft describes. A pattern without a body is P105 if what is said about its kind is `sound`."""
    interface = read_interface(draft.parts, faults)
    slots, config, inputs = agree(
        read_slots(draft.named("slots"), faults), read_config(draft.named("config"), faults), interface.inputs, faults
    )
    callables = read_callables(draft.named("services", "patterns"), faults)
    body = read_body(draft, faults)
    if body is None and kind == "pattern" and sound:
        report_missing(draft, name, span, faults)
    return Entry(
        name=name,
        kind=kind,
        span=span,
        title=draft.title,
        description=draft.description or _described(draft),
        sections=tuple(part.section for part in draft.parts),
        inputs=inputs,
        outputs=tuple(interface.outputs.values()),
        slots=slots,
        config=config,
        instances=tuple(callables.instances.values()),
        services=tuple(callables.services),
        guarantees=tuple(interface.guarantees),
        body=body,
        open_inputs=next(draft.named(*INPUTS, *OUTPUTS), None) is None,
        service_spans=MappingProxyType(callables.services),
        is_documentation=draft.name is not None and is_documentation(draft),
    )


def _described(draft: Draft) -> str:
    part = next(draft.named("description"), None)
    return part.page.text(part.first, part.last).strip() if part else ""


def anonymous_entry(body: Fence, name: str) -> Entry:
    """The pattern that a bare delegation body is (L2)."""
    return Entry(
        name=name,
        kind="pattern",
        span=body.span,
        title="",
        description="",
        sections=(),
        inputs=(),
        outputs=(),
        slots=(),
        config=(),
        instances=(),
        services=(),
        guarantees=(),
        body=body,
        open_inputs=True,
    )
