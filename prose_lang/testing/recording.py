"""`--update`: what runs gave, recorded in the test file where it says something else.

Only exact blocks of the scenarios themselves are changed, and of them the keys that are there and differ; what the
scenarios share is left to its author. A scenario that expects nothing gets a section of its own. Everything else of the
file stays as it is. The new text is read again and compared before it is given out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import attrs

from prose_lang.diagnostics import CheckError, Severity
from prose_lang.documents.reader import read_document
from prose_lang.documents.scenarios import Exact
from prose_lang.testing.checks import Verdict
from prose_lang.testing.evaluating import check_exact
from prose_lang.testing.files import Scenario, TestFile, test_of
from prose_lang.testing.running import ScenarioResult
from prose_lang.testing.seen import Seen
from prose_lang.testing.yaml_text import yaml_calls, yaml_flow, yaml_member
from prose_lang.text import Source, Span
from prose_lang.text.edit import Edit, apply
from prose_lang.values.yaml import YamlNode

_CODE = re.compile(r"[Pp]\d+")
_LINE_BREAK = re.compile(r"\r\n|\n|\r")


@attrs.frozen
class Change:
    """What was recorded for one scenario: the keys, and whether they are new."""

    scenario: str
    line: int
    keys: tuple[str, ...]
    new: bool


@attrs.frozen(eq=False)
class Recorded:
    """The new text of a test file, and what is different in it."""

    text: str
    changes: tuple[Change, ...]


def record(file: TestFile, results: Sequence[ScenarioResult], clean: Callable[[Any], Any] | None = None) -> Recorded:
    """Record what the scenarios of a file gave. `clean` redacts: what it would change is not written to any file.

    Raises CheckError P107 where something cannot be written down: YAML does not hold it, or it is a secret.
    """
    edits: list[Edit] = []
    changes: list[Change] = []
    source = file.document.source
    break_ = (_LINE_BREAK.findall(source.text) or ["\n"])[0]
    for result in results:
        recording = _Recording(result, source, break_, clean)
        made = list(recording.edits())
        if made:
            scenario = result.scenario
            changes.append(Change(scenario.name, scenario.line, tuple(recording.keys), recording.new))
            edits += made
    text = apply(source.text, edits)
    if edits:
        _prove(text, file, results, changes)
    return Recorded(text, tuple(changes))


class _Recording:
    """The edits of one scenario."""

    def __init__(self, result: ScenarioResult, source: Source, break_: str, clean: Callable[[Any], Any] | None) -> None:
        self.result = result
        self.scenario = result.scenario
        self.source = source
        self.break_ = break_
        self.clean = clean
        self.keys: list[str] = []
        self.new = False

    def edits(self) -> Iterator[Edit]:
        outcome, subject = self.result.outcome, self.result.subject
        if outcome is None or subject is None or outcome.status in ("invalid", "interrupted"):
            return
        self.seen = Seen(outcome, subject.entry)
        if not self.scenario.exact and not self.scenario.expectations:
            yield self.section()
        elif self.result.verdict is not Verdict.BROKEN:
            for block in self.scenario.text.exact:
                yield from self.block(block)

    # --- what was seen -----------------------------------------------------------------------------------------------

    @property
    def calls(self) -> list[list[Any]]:
        return [call if call[2] else call[:2] for call in self.seen.calls]

    def error(self, wanted: Any = None) -> Any:
        """The error in the form in which it was expected."""
        error = self.seen.error
        assert error is not None, "there is an error"
        if isinstance(wanted, str):
            return error["code" if _CODE.fullmatch(wanted) else "name"]
        return {key: error[key] for key in wanted or ("code", "message")}

    def refuse_secrets(self, found: dict[str, Any]) -> None:
        if self.clean is not None and self.clean(found) != found:
            raise _refused(self.scenario, "it holds a secret, which belongs into no file")

    def member(self, key: str, value: Any, indent: int) -> str:
        return yaml_calls(value, indent) if key == "calls" else yaml_member(key, value, indent)

    # --- a scenario that expects nothing -----------------------------------------------------------------------------

    def section(self) -> Edit:
        """A section of its own at the end of the scenario, or the block that its empty section lacks."""
        self.new = True
        result = ("value", self.seen.value) if self.seen.error is None else ("error", self.error())
        found = dict((result, ("calls", self.calls)))
        self.keys += found
        self.refuse_secrets(found)
        lines = ["```yaml", *(self.member(key, value, 0) for key, value in found.items()), "```"]
        section = self.scenario.text.section
        span = self.scenario.text.extent if section is None else Span(section.heading.start, section.content.end)
        if section is None:
            lines = ["### Expects", "", *lines]
        at = span.start + len(self.source.text[span.start : span.end].rstrip())
        text = "\n\n" + "\n".join(lines)
        return Edit(Span(at, at), self.broken(text if self.source.text[at:].strip("\ufeff") else text + "\n"))

    # --- a block that differs ----------------------------------------------------------------------------------------

    def block(self, block: Exact) -> Iterator[Edit]:
        """The edits of an exact block: keys that differ, or one that takes the place of another."""
        wanted: dict[str, Any] = block.node.value
        now = self.now(wanted)
        keys = dict.fromkeys([*wanted, *now])
        changed = [key for key in keys if not (key in wanted and key in now and now[key] is wanted[key])]
        if not changed:
            return
        self.keys += changed
        self.refuse_secrets({key: now[key] for key in changed if key in now})
        text = self.source.text
        if text[block.node.span.start] == "{":  # a mapping in braces is written anew as a whole
            yield Edit(block.node.span, yaml_flow(now))
            return
        added = [key for key in now if key not in wanted]
        for key, value in wanted.items():
            span, indent = self.place(block, key)
            if key in now:
                if now[key] is not value:
                    yield Edit(span, self.broken(self.member(key, now[key], indent)))
            elif added:
                other = added.pop()
                yield Edit(span, self.broken(self.member(other, now[other], indent)))
            else:
                yield Edit(self.whole_lines(span), "")
        for key in added:
            span, indent = self.place(block, list(wanted)[-1])
            lines = self.member(key, now[key], indent)
            yield Edit(Span(span.end, span.end), self.broken(f"\n{' ' * indent}{lines}"))

    def now(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """The block as it has to be; a part that is as expected is the very same object."""
        failing = {check.what for check in self.result.checks if check.verdict is not Verdict.PASSED}
        differing = {
            item.key
            for item in self.scenario.exact
            if item.block.node.value is wanted and check_exact(item, self.scenario, self.seen).verdict is Verdict.FAILED
        }
        now = dict(wanted)
        error = self.seen.error
        if "value" in differing:
            if error is None:
                now["value"] = self.seen.value
            else:
                del now["value"]
        if "error" in differing:
            if error is None:
                del now["error"]
                now.setdefault("value", self.seen.value)
            else:
                now["error"] = self.error(wanted["error"])
        if "the run" in failing and "error" not in now:
            now["error"] = self.error()
        for key, value in (
            ("calls", self.calls),
            ("calls_count", len(self.seen.calls)),
            ("status", self.seen.outcome.status),
        ):
            if key in differing:
                now[key] = value
        return now

    def place(self, block: Exact, key: str) -> tuple[Span, int]:
        """Where a key and its value stand, and the column that the key begins in."""
        text, start = self.source.text, block.node.keys[key].start
        colon = text.index(":", block.node.keys[key].end) + 1
        end = max(_end(block.node.members[key], text, colon), colon)
        end = start + len(text[start:end].rstrip())
        return Span(start, end), start - self.source.line_start(self.source.line_of(start))

    def whole_lines(self, span: Span) -> Span:
        first = self.source.line_start(self.source.line_of(span.start))
        found = _LINE_BREAK.search(self.source.text, span.end)
        return Span(first, found.end() if found is not None else span.end)

    def broken(self, text: str) -> str:
        """With the line breaks of the file."""
        return text if self.break_ == "\n" else text.replace("\n", self.break_)


def _end(node: YamlNode, text: str, after: int) -> int:
    """Where a value ends that is written after a place. A block of YAML, and a null that is not written, go on to what
    comes next, past the comments between."""
    if node.span.start == node.span.end:
        return after
    children = node.items or tuple(node.members.values())
    if not children or text[node.span.start] in "[{":
        return node.span.end
    if node.members:
        *_, key = node.keys.values()
        return _end(children[-1], text, text.index(":", key.end) + 1)
    before = _end(node.items[-2], text, node.span.start) if len(node.items) > 1 else node.span.start
    dash = text.find("-", before, children[-1].span.start)
    return _end(children[-1], text, dash + 1 if dash >= 0 else before)


# --- the proof -------------------------------------------------------------------------------------------------------


def _prove(text: str, file: TestFile, results: Sequence[ScenarioResult], changes: Sequence[Change]) -> None:
    """The new text must be as sound as the old one, and say what the runs gave."""
    source = Source(file.document.source.name, text)
    after = test_of(read_document(source, file.document.path))
    changed = {change.line: change for change in changes}
    sound = len(after.scenarios) == len(file.scenarios) and _errors(after) <= _errors(file)
    now = dict(zip((scenario.text for scenario in file.scenarios), after.scenarios, strict=False))
    for result in results:
        change = changed.get(result.scenario.line)
        if change is None:
            continue
        if not sound:
            raise _refused(result.scenario, "the file could not be read with it")
        again = attrs.evolve(result, scenario=now[result.scenario.text], verdict=Verdict.FAILED)
        if list(_Recording(again, source, "\n", None).edits()):
            raise _refused(result.scenario, "what was written does not say the same")


def _errors(file: TestFile) -> int:
    return sum(item.severity is Severity.ERROR for item in file.diagnostics)


def _refused(scenario: Scenario, reason: str) -> CheckError:
    message = f"what “{scenario.name}” gave cannot be recorded: {reason}"
    return CheckError("P107", message, source=scenario.source, span=scenario.text.span, hint="the file is as it was")
