"""The rule `dropped-binding`."""

from __future__ import annotations

from collections.abc import Iterator

from prose_lang.diagnostics import Severity
from prose_lang.documents.model import Entry, Instance
from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.semantics import analyze


class DroppedBinding(Rule):
    """
    ## What it does

    An instance binds a slot to a service that does not take what the pattern sends to the slot.

    ## Why

    A service gets what it declares, and the rest is dropped without a word (L32), so that published callers may send
    more than a service wants. Where the service was meant to use it, it works without knowing. Told of instances whose
    pattern is an entry of the same file, since only there both sides can be seen.

    ## Example

    ````markdown
    ---
    name: main
    kind: function
    ---

    ### Services

    ```yaml
    - name: twice
      pattern: improve
      with:
        writer: author
    ```

    ### Execution

    ```prose
    return call twice
      topic: "rain"
    ```

    ## improve

    ### Slots

    - `writer`

    ### Requires

    - `topic`: what to write about

    ### Delegation

    ```prose
    return call writer
      topic: topic
      tone: "dry"
    ```

    ## author

    ### Requires

    - `topic`: what to write about

    ### Returns

    - `text`: the text
    ````

    ## Use instead

    Declare the input where the service is to use it, here `` - `tone`: how to write `` under the Requires of `author`,
    or do not send it.
    """

    name = "dropped-binding"
    severity = Severity.NOTE

    def find(self, subject: Subject) -> Iterator[Finding]:
        for instance in subject.entry.instances:
            yield from self.instance(subject, instance)

    def instance(self, subject: Subject, instance: Instance) -> Iterator[Finding]:
        pattern = subject.document.entry(instance.pattern)
        sent = _sent(subject, pattern) if pattern is not None and pattern.body is not None else {}
        for name, bound in instance.slots.items():
            said = []
            for service in bound.services:
                if isinstance(service, Instance):
                    yield from self.instance(subject, service)
                    continue
                signature = subject.environment.signature(service)
                if signature is None or signature.open:
                    continue
                dropped = [one for one in sent.get(name, ()) if signature.parameter(one) is None]
                if dropped:
                    said.append(f"`{service}` does not take {', '.join(f'`{one}`' for one in dropped)}")
            if said:
                message = f"of what `{instance.pattern}` sends to `{name}`, {'; '.join(said)}"
                yield self.at(subject, bound.span, message, "what a service does not take is dropped")


def _sent(subject: Subject, pattern: Entry) -> dict[str, dict[str, None]]:
    """What a pattern sends to each of its slots."""
    program = analyze(subject.document, pattern, subject.environment)
    slots = {base.cell: base.name for base in program.bases if base.kind == "slot"}
    sent: dict[str, dict[str, None]] = {}
    for plan in program.calls.values():
        if plan.target.slot is not None and plan.target.variable is None:  # else it may be something else (L17)
            sent.setdefault(slots[plan.target.slot], {}).update((name, None) for name, _ in plan.bindings)
    return sent
