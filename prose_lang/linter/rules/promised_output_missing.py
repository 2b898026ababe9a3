"""The rule `promised-output-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.documents.model import FUNCTION_KINDS
from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.semantics.returns import paths_of
from prose_lang.syntax import nodes as n
from prose_lang.text import nearest


class PromisedOutputMissing(Rule):
    """
    ## What it does

    Ensures, Returns or Maintains lists an output, and no object that the body returns has that key; or one `return` of
    a function with several outputs lacks one of them.

    ## Why

    What a pattern gives are the keys that its body returns, whatever the sections say (L6); a function with several
    outputs that lacks one fails with P404 (L33). Told only where every value that the body can return is an object
    written out, so that all keys are known.

    ## Example

    ```markdown
    ---
    name: draft
    kind: pattern
    ---

    ### Slots

    - `writer`

    ### Returns

    - `result`: the text
    - `rounds`: how many drafts were written

    ### Delegation

    ~~~prose
    let text = call writer
    return { result: text }
    ~~~
    ```

    ## Use instead

    ```markdown
    ---
    name: draft
    kind: pattern
    ---

    ### Slots

    - `writer`

    ### Returns

    - `result`: the text
    - `rounds`: how many drafts were written

    ### Delegation

    ~~~prose
    let text = call writer
    return { result: text, rounds: 1 }
    ~~~
    ```
    """

    name = "promised-output-missing"
    whole = True

    def find(self, subject: Subject) -> Iterator[Finding]:
        entry = subject.entry
        if subject.program.body is None or not entry.outputs:
            return
        # A function with one output may give it bare, and what it returns is then the output itself.
        if entry.kind != "pattern" and (entry.kind not in FUNCTION_KINDS or len(entry.outputs) < 2):
            return
        values = _returned(subject)
        keys = _keys_of(values)
        if entry.kind in FUNCTION_KINDS:
            known = {key for value in values if isinstance(value, n.ObjectLiteral) for key in _keys(value)}
            wanted = [item.name for item in entry.outputs if keys is None or item.name in known]
            for value in values:
                yield from self.one(subject, value, wanted)
        if keys is None:
            return
        for item in entry.outputs:
            if item.name not in keys:
                close = nearest(item.name, keys)
                hint = f"it returns `{close[0]}`" if close else f"it returns {', '.join(f'`{key}`' for key in keys)}"
                yield self.at(subject, item.span, f"`{item.name}` is promised, and nothing returns it", hint)

    def one(self, subject: Subject, value: n.Value, wanted: list[str]) -> Iterator[Finding]:
        """One value that a function returns: an object written out has all outputs, and a text can have none."""
        if isinstance(value, n.ObjectLiteral):
            missing = [name for name in wanted if name not in _keys(value)]
            if missing:
                words = ", ".join(f"`{name}`" for name in missing)
                yield self.at(subject, value, f"this is returned without {words}, which is promised")
        elif isinstance(value, (n.Text, n.ListLiteral)) or (isinstance(value, n.Literal) and value.value is not None):
            words = ", ".join(f"`{name}`" for name in wanted)
            yield self.at(subject, value, f"an object with {words} is promised, and this is none")


def _returned(subject: Subject) -> list[n.Value]:
    """The values that the body can return."""
    body = subject.parsed.body
    values: list[n.Value] = []
    for suite in subject.structure.suites:
        for statement in suite.statements if suite.body is body else ():
            if isinstance(statement, n.Return) and statement.value is not None:
                values.append(statement.value)
    if paths_of(body.statements).falls_through and body.statements:
        match body.statements[-1]:
            case n.Evaluate(value=n.Loop()):
                pass
            case n.Evaluate(value=n.Repeat() | n.For() as loop) if loop not in subject.program.collects:
                pass
            case n.Evaluate(value=value) | n.Let(value=value) | n.Destructure(value=value):
                values.append(value)
            case _:
                pass
    return values


def _keys_of(values: list[n.Value]) -> dict[str, None] | None:
    """The keys of all objects that are returned; None if one of the values is not an object written out."""
    keys: dict[str, None] = {}
    for value in values:
        if isinstance(value, n.ObjectLiteral):
            keys.update(_keys(value))
        elif not (isinstance(value, n.Literal) and value.value is None):
            return None
    return keys or None


def _keys(value: n.ObjectLiteral) -> dict[str, None]:
    return {entry.key: None for entry in value.entries}
