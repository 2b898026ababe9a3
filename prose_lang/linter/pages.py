"""The page of a rule for `prose explain`, made from the docstring of its class."""

from __future__ import annotations

import inspect
import re
import textwrap

from prose_lang.linter.registry import RULES

_WIDTH = 116
_HEADING = re.compile(r"^## (What it does|Why|Example|Use instead)$\n*", re.MULTILINE)


def page_names() -> tuple[str, ...]:
    """The names of all rules, sorted; each has a page."""
    return tuple(RULES)


def page(name: str) -> str | None:
    """The page of a rule as Markdown, its name in any case; None if there is no such rule.

    >>> page("re-let").splitlines()[0]
    '# re-let'
    """
    rule = RULES.get(name.strip().lower())
    if rule is None:
        return None
    text = inspect.cleandoc(type(rule).__doc__ or "")  # Python drops docstrings under -OO
    parts = _HEADING.split(text)
    sections = {heading: body.strip() for heading, body in zip(parts[1::2], parts[2::2], strict=True)}
    lines = [f"# {rule.name}", sections.pop("What it does", "")]
    for heading, body in sections.items():
        lines.append(_filled(f"**{heading}.** {body}") if heading == "Why" else f"**{heading}.**\n\n{body}")
    mended = " `prose lint --fix` mends it where that is safe." if rule.mends else ""
    silence = f"Silence one place with `# prose: allow[{rule.name}]`."
    lines.append(f"Told as a {rule.severity.value}.{mended} {silence}")
    return "\n\n".join(line for line in lines if line) + "\n"


def _filled(text: str) -> str:
    paragraphs = (" ".join(paragraph.split()) for paragraph in text.split("\n\n"))
    fill = textwrap.TextWrapper(_WIDTH, break_long_words=False, break_on_hyphens=False).fill
    return "\n\n".join(map(fill, paragraphs))
