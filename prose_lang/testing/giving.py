"""What a scenario gives its subject: the subject itself, its fixtures as values and services, its scripted services."""

from __future__ import annotations

from typing import Any

from prose_lang.diagnostics import CheckError, Diagnostic, ProseError, SourceError, sort_diagnostics
from prose_lang.documents.literals import read_default
from prose_lang.documents.model import ANY, Document, Entry, Item
from prose_lang.documents.scenarios import Fixture
from prose_lang.documents.types import is_text
from prose_lang.engine import Engine, Given, Pattern
from prose_lang.services import ScriptedService, split_list
from prose_lang.testing.files import Scenario
from prose_lang.text import did_you_mean, nearest


def subject_of(document: Document, engine: Engine) -> Pattern:
    """The pattern or function that a test file is about (L8): NAME, a path, `stdlib:NAME`, or one of those with #ENTRY.

    Raises CheckError P109, or SourceError where a file cannot be read, at the place of the subject.
    """
    test = document.test
    assert test is not None, "only a test has a subject"
    assert test.subject is not None, "a missing subject is a fault of the file"
    source, span = document.source, test.subject_span
    name, mark, part = test.subject.partition("#")
    try:
        found = engine.loader.resolve(name, document, span)
    except SourceError as error:
        raise SourceError(error.code, error.message, source=source, span=span, hint=error.hint) from None
    if found is None:
        close = nearest(name, engine.loader.names(document))
        hint = did_you_mean(close)
        raise CheckError("P109", f"the subject `{name}` is not found", source=source, span=span, hint=hint)
    if isinstance(found, Entry):
        if mark:
            raise CheckError("P109", f"`{name}` is an entry of this file and has none itself", source=source, span=span)
        return Pattern(document, found, engine)
    if not mark:
        return Pattern(found, found.main, engine)
    entry = found.entry(part)
    if entry is None:
        close = nearest(part, [one.name for one in found.entries[1:]])
        hint = did_you_mean(close[:1])
        raise CheckError("P109", f"`{name}` has no entry `{part}`", source=source, span=span, hint=hint)
    return Pattern(found, entry, engine)


def given_names(
    scenario: Scenario, subject: Entry, engine: Engine, scripted: dict[str, ScriptedService]
) -> dict[str, Any]:
    """The names that the subject is run with. A slot without a fixture is bound to the scripted service of its name."""
    slots = {slot.name: slot for slot in subject.slots}
    items: dict[str, Item] = {item.name: item for item in (*subject.inputs, *subject.config)}
    given: dict[str, Any] = {name: Given(name) for name in slots if name in scripted}
    for fixture in scenario.fixtures:
        place = (scenario.source, fixture.value_span)
        slot = slots.get(fixture.name)
        if slot is not None:
            given[fixture.name] = Given(_services(fixture, slot.many, scenario, engine, scripted), place=place)
        elif fixture.name in items:
            given[fixture.name] = Given(_value(fixture, items[fixture.name]), place=place)
        else:
            # A name that the body reads and nothing declares is an input too (L15); any other is told at its name.
            given[fixture.name] = Given(_value(fixture, None), place=(scenario.source, fixture.span))
    return given


def _value(fixture: Fixture, item: Item | None) -> Any:
    """What the text of an item means for its declared type; what stands in quotes or in YAML is what it is."""
    if not fixture.written:
        return fixture.value
    text: str = fixture.value
    declared = item.type if item is not None else ANY
    if is_text(declared):
        ticked = len(text) > 2 and text[0] == text[-1] == "`" and "`" not in text[1:-1]
        return text[1:-1] if ticked else text
    value = read_default(text, declared)
    if declared.is_list and isinstance(value, list) and len(value) == 1 and not text.lstrip("` ").startswith("["):
        return value[0]  # one T where a list of them is declared stays one, as on the command line (§9 L3)
    return value


def _services(
    fixture: Fixture, many: bool, scenario: Scenario, engine: Engine, scripted: dict[str, ScriptedService]
) -> Any:
    """The services that a slot is bound to: names that a test may hold, for a test is data."""
    value = fixture.value
    if isinstance(value, str):
        text = value.strip("`") if fixture.written else value
        names: Any = [part.strip("` ") for part in split_list(text)] if many or "," in text else text
    else:
        names = value
    if isinstance(names, list):
        return [_service(name, scenario.document, engine, scripted) for name in names]
    return _service(names, scenario.document, engine, scripted)


def _service(name: Any, document: Document, engine: Engine, scripted: dict[str, ScriptedService]) -> Any:
    """An entry that the test file can name as a pattern; every other name is looked up where the subject stands."""
    if not isinstance(name, str) or name in scripted or name in engine.services or name.startswith("stdlib:"):
        return name
    try:
        found = engine.loader.resolve(name, document)
    except ProseError:
        return name  # it is told when the slot is bound
    if isinstance(found, Entry):
        return Pattern(document, found, engine)
    return Pattern(found, found.main, engine) if found is not None and found.kind != "test" else name


def at_the_test(found: list[Diagnostic], scenario: Scenario, subject: Pattern) -> list[Diagnostic]:
    """Faults as the author of a test needs them: what is missing, is missing in the scenario, and told once."""
    slots = {slot.span: slot.name for slot in subject.entry.slots}
    inputs = {item.span: item.name for item in subject.entry.inputs}
    told: list[Diagnostic] = []
    missing: list[Diagnostic] = []
    hints: list[str] = []
    for item in found:
        if item.code != "P203" or item.source is not subject.document.source:
            told.append(item)
        elif item.span in slots:
            missing.append(item)
            name = slots[item.span]
            hints.append(f"script a service `{name}` under Services, or bind it under Fixtures: - `{name}`: NAME")
        elif item.span in inputs:
            missing.append(item)
            hints.append(f"give it under Fixtures: - `{inputs[item.span]}`: value")
        else:
            told.append(item)
    if missing:
        message = ", and ".join(item.message for item in missing)
        several = (
            "inputs are given under Fixtures, services of slots are scripted under Services or bound under Fixtures"
        )
        hint = hints[0] if len(hints) == 1 else several
        told.append(Diagnostic("P203", message, scenario.source, scenario.text.span, hint=hint))
    return sort_diagnostics(told)
