"""A person's answer, put into the record of a run that waits for it (P411); going on from there is `resuming.py`.

An answer is for a call that waits, and says which by a name: the service that asks, the name by which the program calls
it (a slot's, say), or the call's address. Where the names are none of these, but fields that the program reads of the
call's result, they are the fields of one answer.

Texts of the command line become what is declared of the callee's outputs, else what the program uses them as. What does
not fit is refused before anything is written (P203, P210, P211), and the run waits on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import attrs

from prose_lang.conditions import BOOLEAN_FIELDS, read_answer, read_choice
from prose_lang.diagnostics import CheckError, Diagnostic
from prose_lang.diagnostics.redact import Redactor
from prose_lang.documents.model import Item
from prose_lang.engine.given import Given
from prose_lang.engine.linker import Linker
from prose_lang.engine.types import Mismatch, fitted
from prose_lang.journal import Ended, Entry, Store
from prose_lang.runtime.effects import Service
from prose_lang.runtime.patterns import BoundPattern
from prose_lang.runtime.served import ServedContract
from prose_lang.semantics import Program
from prose_lang.semantics.demands import DECISION_FIELDS, Demand, demands
from prose_lang.text import amount, did_you_mean, nearest
from prose_lang.values import NotAValue, Value, as_number, handout, intake

_ROLE = re.compile(r"\.(?:call|session|resume):([^/#]+)(?:#\d+)?\Z")
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}
#: Characters of a question that a hint shows.
_SHOWN = 300


@attrs.frozen
class Waiting:
    """A call that waits for a person: its entry, the names that mean it, what it asks, what its service declares, and
    what the program reads of its result."""

    entry: Entry
    names: tuple[str, ...]
    question: str
    outputs: tuple[Item, ...]
    demand: Demand
    labels: tuple[str, ...] | None = None  # of a judge: the options of a choice, none for a condition

    @property
    def address(self) -> str:
        return self.entry.key.removeprefix("ask:")

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that an answer may consist of."""
        if self.labels is not None:
            return ("choice" if self.labels else "holds", "reason")
        found = [*(item.name for item in self.outputs), *self.demand.fields]
        if self.demand.decided or self.demand.said:
            found += DECISION_FIELDS
        return tuple(dict.fromkeys(found))

    def said(self) -> str:
        """What waits and what is asked, for a hint."""
        shown = self.question if len(self.question) <= _SHOWN else f"{self.question[:_SHOWN]}…"
        return f"`{self.names[0]}` waits at {self.address}: {shown}"


class _Reply(NamedTuple):
    waiting: Waiting
    value: Value


def put_answers(
    store: Store, run: str, answers: Mapping[str, Any], made: BoundPattern | ServedContract, linker: Linker,
    redactor: Redactor,
) -> None:  # fmt: skip
    """Put answers into the record of a run, durably, all or none. Raises CheckError and StoreError."""
    found = waiting_calls(store, run, made, linker)
    if not found:
        raise CheckError("P210", f"nothing of the run {run} waits for an answer",
                         hint="`prose trace` shows how it stands, `prose resume` goes on with it")  # fmt: skip
    changes = []
    for waiting, value in _replies(found, answers):
        plain = handout(value)
        if redactor.value(plain) != plain:
            message = f"the answer for `{waiting.names[0]}` holds a secret, which no record keeps"
            raise CheckError("P211", message, hint="bind a service in its place that gives the answer")
        changes.append(Ended(run, waiting.entry._replace(state="value", result=json.dumps(plain), reserved=None)))
    store.write(changes)


def waiting_calls(store: Store, run: str, made: BoundPattern | ServedContract, linker: Linker) -> list[Waiting]:
    """The calls of a run that wait for a person, in the order in which they were begun."""
    keys = [entry.key for entry in store.sums(run) if entry.state == "waiting" and not entry.key.startswith("leaving:")]
    entries = [store.resolved(entry) for key in keys for entry in store.find(run, key)]
    services = list(_services(made)) if entries else []
    return [_waiting(entry, services, linker) for entry in entries]


def _waiting(entry: Entry, services: Sequence[Service], linker: Linker) -> Waiting:
    request = json.loads(entry.request)
    question = str(json.loads(entry.result or "{}").get("message", ""))
    if entry.kind == "ask":
        labels = tuple(request["inputs"].get("options", ()))
        return Waiting(entry, ("judge", entry.service), question, (), Demand(), labels)
    role = _ROLE.search(entry.key)
    names = dict.fromkeys((*([role[1]] if role else []), entry.service))
    programs = list(_programs(entry, linker))
    demand = Demand()
    for program in programs:
        for site, (_, asked) in demands(program).items():
            if re.search(r"\d+".join(map(re.escape, site.template)) + r"\Z", entry.key):
                demand.absorb(asked)
    outputs = _outputs(entry.service, services, programs, linker)
    return Waiting(entry, tuple(names), question, outputs, demand)


def _programs(entry: Entry, linker: Linker) -> Iterator[Program]:
    """The programs that a call may stand in: those of the entry whose body it is part of."""
    within = json.loads(entry.within)
    for program in linker.programs:
        if not within or program.entry.name == within[-1]:
            yield program


def _services(made: BoundPattern | ServedContract) -> Iterator[Service]:
    """The services that a pattern is bound to, and those that they are bound to."""
    if isinstance(made, ServedContract):
        yield made.service
        return
    for bound in made.slots.values():
        for reference in bound if isinstance(bound, list) else [bound]:
            service = getattr(reference, "target", None)
            if service is not None:
                yield service
                if isinstance(service, BoundPattern):
                    yield from _services(service)


def _outputs(name: str, services: Iterable[Service], programs: Iterable[Program], linker: Linker) -> tuple[Item, ...]:
    """What the service that asks declares that it gives."""
    for service in services:
        if service.name == name:
            return service.signature.outputs or ()
    for program in programs:
        found = linker.service(name, program.document)
        if found is not None:
            return found.signature.outputs or ()
    return ()


# --- which answer is for which call ----------------------------------------------------------------------------------


def _replies(found: Sequence[Waiting], answers: Mapping[str, Any]) -> list[_Reply]:
    replies: list[_Reply] = []
    fields: dict[str, Given] = {}
    taken: dict[str, str] = {}
    for name, item in answers.items():
        given = item if type(item) is Given else Given(item)
        waiting = _named(name, found)
        if waiting is None:
            fields[name] = given
            continue
        if waiting.entry.key in taken:
            other = taken[waiting.entry.key]
            raise CheckError("P209", f"`{other}` and `{name}` answer the same call", hint=waiting.said())
        taken[waiting.entry.key] = name
        replies.append(_Reply(waiting, _whole(waiting, name, given)))
    if fields:
        left = [waiting for waiting in found if waiting.entry.key not in taken]
        readers = [waiting for waiting in left if fields.keys() <= set(waiting.fields)]
        if not readers:
            raise _unknown(fields, found, left)
        if len(readers) > 1:
            raise _several(", ".join(f"`{name}`" for name in fields), readers)
        replies.append(_Reply(readers[0], _of_fields(readers[0], fields)))
    return replies


def _named(name: str, found: Sequence[Waiting]) -> Waiting | None:
    for waiting in found:
        if name in (waiting.entry.key, waiting.address):
            return waiting
    called = [waiting for waiting in found if name in waiting.names]
    if len(called) > 1:
        raise _several(f"`{name}`", called)
    return called[0] if called else None


def _several(what: str, found: Sequence[Waiting]) -> CheckError:
    return CheckError(
        "P210", f"{what} may be the answer for {amount(len(found), 'call')} that wait",
        hint="\n".join(["say for which by its address, ADDRESS=VALUE:", *(waiting.said() for waiting in found)]),
    )  # fmt: skip


def _unknown(fields: Mapping[str, Given], found: Sequence[Waiting], left: Sequence[Waiting]) -> CheckError:
    known = dict.fromkeys(name for waiting in left for name in (*waiting.names, *waiting.fields))
    hints = [waiting.said() for waiting in found]
    for waiting in left:
        hints.append(f"an answer is {waiting.names[0]}=VALUE")
        if waiting.fields:
            hints[-1] += f", or given by its fields: {', '.join(waiting.fields)}"
    strange = [name for name in fields if name not in known] or list(fields)
    faults = []
    for number, name in enumerate(strange):
        close = did_you_mean(nearest(name, known))
        hint = [*([close] if close else []), *(hints if number == len(strange) - 1 else [])]
        faults.append(Diagnostic("P210", f"`{name}` is neither what waits nor a field that is read of the answer",
                                 None, None, hint="\n".join(hint) or None))  # fmt: skip
    made = CheckError.from_diagnostics(faults)
    assert isinstance(made, CheckError)
    return made


# --- what an answer becomes ------------------------------------------------------------------------------------------


def _whole(waiting: Waiting, name: str, given: Given) -> Value:
    """An answer as a whole."""
    value = _value(name, given)
    if waiting.labels is not None:
        return _verdict(waiting, name, value)
    if len(waiting.outputs) == 1:
        item = waiting.outputs[0]
        inner = value[item.name] if isinstance(value, dict) and item.name in value else value
        return _fitted(name, inner, item, text=given.text)
    if waiting.outputs:
        if given.text and isinstance(value, str) and value.lstrip().startswith("{"):
            value = _parsed(name, value)
        if not isinstance(value, dict):
            wanted = ", ".join(item.name for item in waiting.outputs)
            raise CheckError("P211", f"`{name}` is to be an object with {wanted}", hint=_by_fields(waiting))
        return _object(waiting, {key: Given(part) for key, part in value.items()})
    if not given.text or not isinstance(value, str):
        return value
    if _read_by_fields(waiting.demand):
        if not value.lstrip().startswith("{"):
            read = ", ".join(waiting.demand.fields)
            raise CheckError("P211", f"`{name}` is to be an object, for the program reads {read} of it",
                             hint=_by_fields(waiting))  # fmt: skip
        return _parsed(name, value)
    return _used_as(waiting.demand, value)


def _of_fields(waiting: Waiting, fields: Mapping[str, Given]) -> Value:
    """An answer that is given by its fields."""
    if waiting.labels is not None:
        values = {name: _value(name, given) for name, given in fields.items()}
        holds = values.get("holds")
        if isinstance(holds, str):
            values["holds"] = _TRUTHS.get(holds.strip().lower(), holds)
        return _verdict(waiting, "the answer", {"reason": "a person said so", **values})
    made = _object(waiting, fields)
    if len(waiting.outputs) == 1 and waiting.outputs[0].name in made:
        return made[waiting.outputs[0].name]
    return made


def _object(waiting: Waiting, fields: Mapping[str, Given]) -> dict[str, Value]:
    declared = {item.name: item for item in waiting.outputs}
    made: dict[str, Value] = {}
    for name, given in fields.items():
        value = _value(name, given)
        if name in declared:
            made[name] = _fitted(name, value, declared[name], text=given.text)
        else:
            made[name] = _field_as(waiting.demand, name, value) if given.text else value
    missing = [name for name, item in declared.items() if name not in made and not item.optional]
    if missing:
        lacking = ", ".join(f"`{name}`" for name in missing)
        raise CheckError("P203", f"the answer for `{waiting.names[0]}` lacks {lacking}", hint=_by_fields(waiting))
    return made


def _value(name: str, given: Given) -> Value:
    try:
        return intake(given.value)
    except (NotAValue, TypeError) as error:
        raise CheckError("P211", f"`{name}`: {error}") from None


def _fitted(name: str, value: Value, item: Item, *, text: bool) -> Value:
    try:
        return fitted(value, item, text=text)
    except Mismatch as error:
        raise CheckError("P211", f"`{name}` {error}") from None


def _parsed(name: str, text: str) -> Value:
    try:
        return intake(json.loads(text))
    except (ValueError, NotAValue, RecursionError) as error:
        raise CheckError("P211", f"`{name}` is not valid JSON: {error}") from None


def _field_as(demand: Demand, name: str, value: Value) -> Value:
    """A text as the field that the program reads: a decision, a number, or itself."""
    if demand.decided and name in BOOLEAN_FIELDS and isinstance(value, str):
        return _TRUTHS.get(value.strip().lower(), value)
    return _used_as(demand.fields[name], value) if name in demand.fields else value


def _used_as(demand: Demand, value: Value) -> Value:
    if not isinstance(value, str):
        return value
    if "boolean" in demand.kinds:
        return _TRUTHS.get(value.strip().lower(), value)
    number = as_number(value) if "number" in demand.kinds else None
    return value if number is None else number


def _read_by_fields(demand: Demand) -> bool:
    """Whether a text would be read as if it said nothing: its fields are read, and it is used as nothing else.

    >>> read = Demand()
    >>> read.field("approved").kinds.add("boolean")
    >>> _read_by_fields(read)
    True
    """
    whole = demand.decided or demand.said or demand.words or demand.labels or demand.kinds - {"object"}
    return not whole and any(not part.optional for part in demand.fields.values())


def _verdict(waiting: Waiting, name: str, value: Value) -> Value:
    """A person in the place of the judge may say yes or no, or the label."""
    labels = waiting.labels
    if isinstance(value, str):
        text = value.strip()
        if labels and text in labels:
            value = {"choice": text, "reason": "a person said so"}
        elif not labels and text.lower() in _TRUTHS:
            value = _TRUTHS[text.lower()]
    if isinstance(value, bool) and not labels:
        value = {"holds": value, "reason": "a person said so"}
    usable = read_choice(value, labels) if labels else read_answer(value)
    if usable is None:
        wanted = f"one of {', '.join(labels)}" if labels else "yes or no"
        raise CheckError("P211", f"`{name}` is to be {wanted}", hint=waiting.said())
    return value


def _by_fields(waiting: Waiting) -> str:
    names = [item.name for item in waiting.outputs] or waiting.fields
    return f"an answer may be given by its fields: {' '.join(f'{name}=…' for name in names)}"
