"""Why an entry is not run, and what to do instead: kinds that are no runs (L2), and work for a model (L6)."""

from __future__ import annotations

from prose_lang.diagnostics import CheckError
from prose_lang.documents.model import Document, Entry

#: How many names a hint lists before it stops.
_LISTED = 6


def kind_refused(document: Document, entry: Entry) -> CheckError:
    """P104: a test, a responsibility or a gateway."""
    if entry.kind == "test":
        reason, hint = "is a test; it is not run", f"prose test {document.source.name}"
    else:
        reason = f"is a {entry.kind}, which belongs to a standing reactor; it is not run"
        hint = "`prose check` and `prose show` work on it; run what does one pass of its work: a function or a pattern"
    return CheckError("P104", f"`{entry.name}` {reason}", source=document.source, span=entry.span, hint=hint)


def model_needed(document: Document, entry: Entry) -> CheckError:
    """P410: an entry without a body for which no service stands in. What a person may do instead is the hint."""
    name = entry.name
    callable_names = [*entry.services, *(instance.name for instance in entry.instances)]
    given = f"give a model (--model PROVIDER/MODEL), or a service named `{name}` (--services, --script)"
    if entry.section("wiring") is not None:
        hint = f"its Wiring is kept and not run: write an `### Execution` block that makes these calls, or {given}"
    elif callable_names:
        listed = ", ".join(callable_names[:_LISTED]) + (", …" if len(callable_names) > _LISTED else "")
        hint = f"write an `### Execution` block that calls {listed}, or {given}"
    else:
        hint = given
    what = "has no `### Execution`: running it" if callable_names else "has no body: it"
    message = f"`{name}` {what} is work for a model, and no model is configured"
    return CheckError("P410", message, source=document.source, span=entry.span, hint=hint)
