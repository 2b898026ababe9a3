"""Bodies (L6): the fenced `prose` block of `### Delegation` or `### Execution`."""

from __future__ import annotations

from prose_lang.documents.faults import Faults
from prose_lang.documents.model import Fence
from prose_lang.documents.sections import Draft
from prose_lang.text import Span, nearest

SECTIONS = ("delegation", "execution")


def read_body(draft: Draft, faults: Faults) -> Fence | None:
    """The body of an entry, if it has one. A second block is P105; a `prosescript` block is told and not run."""
    found = [fence for part in draft.named(*SECTIONS) for fence in part.fences(faults, "prose")]
    for fence in found[1:]:
        line = faults.source.position(found[0].fence_span.start).line
        hint = f"the first one starts on line {line}"
        faults.error("P105", "an entry has one body, and this is a second one", fence.fence_span, hint)
    for part in draft.named(*SECTIONS):
        for fence in part.fences(faults, "prosescript"):
            message = "a `prosescript` block is not run"
            faults.warning("ignored-fence", message, fence.fence_span, "bodies start with ```prose")
    return found[0] if found else None


def report_missing(draft: Draft, name: str, span: Span, faults: Faults) -> None:
    """P105 for a pattern without a body, with what may have been meant for one."""
    part = next(draft.named(*SECTIONS), None)
    hint = "add a section `### Delegation` with a block that starts with ```prose"
    if part is not None:
        span = part.section.heading
        hint = "put the body into a block that starts with ```prose"
    elif near := nearest("delegation", [part.key for part in draft.parts], 1):
        section = next(draft.named(near[0])).section
        span, hint = section.heading, f"is `### {section.name}` meant to be `### Delegation`?"
    faults.error("P105", f"the pattern `{name}` has no body", span, hint)
