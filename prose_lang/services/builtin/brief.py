"""The text that a brief is about: what remains without "Rewrite in plain English:" before it.

Only an instruction that asks for plainer wording is taken off; any other opening sentence is part of the text.
"""

from __future__ import annotations

import re
import textwrap

#: Verbs that ask for another wording, and verbs that do so only with a goal ("write this more clearly").
_REWORDING = (
    r"clarify|clean up|condense|copy-?edit|edit|improve|paraphrase|polish|reword|rephrase|restate|revise|rewrite"
    r"|shorten|simplify|tidy up|tighten"
)
_PUTTING = r"convert|express|make|put|say|translate|turn|write"
_GOALS = (
    r"plain|plainer|plainly|simple|simpler|simply|clear|clearer|clearly|readable|readability|concise|easy|easier|jargon"
    r"|shorter"
)
_OBJECTS = (
    r"text|passage|paragraph|sentence|memo|document|letter|e-?mail|notice|policy|clause|message|draft|wording|prose"
    r"|abstract|readme"
)
_POLITELY = r"(?:(?:please|kindly|can you|could you|your task is to|task|i want you to)[:,]?\s+)*"
_REST = r"[^.:!?\n]{0,160}"
#: An instruction that names a goal and ends in a colon, or stands alone in a sentence before "the text".
_INSTRUCTION = re.compile(
    rf"\s*(?:\#+\s*)?{_POLITELY}(?:(?:{_REWORDING})\b(?:\s*(?=:)|(?={_REST}\b(?:{_GOALS}|{_OBJECTS})\b))"
    rf"|(?:{_PUTTING})\b(?={_REST}\b(?:{_GOALS})\b)){_REST}(?P<end>[:.!?])(?=\s)",
    re.IGNORECASE,
)
_FENCED = re.compile(
    r"(?P<mark>\"{3}|'{3}|`{3,}|~{3,}|-{3,}|={3,})(?:(?:text|txt|markdown|md)?[ \t]*\n)?(?P<text>.*?)\s*(?P=mark)\s*",
    re.DOTALL,
)
_QUOTES = {'"': '"', "“": "”", "«": "»", "'": "'"}


def text_of(brief: str) -> str:
    """The text to work on: the brief without a leading instruction to make it plain.

    >>> text_of("Rewrite in plain English: In order to apply, call us.")
    'In order to apply, call us.'
    >>> text_of('Please simplify this text.\\n\\n\"\"\"In order to apply, call us.\"\"\"')
    'In order to apply, call us.'
    >>> text_of("In order to apply: call us.")
    'In order to apply: call us.'
    """
    match = _INSTRUCTION.match(brief)
    if match is None:
        return brief
    rest = brief[match.end() :]
    if match["end"] != ":" and not _stands_apart(rest, match.group()):
        return brief
    text = _unwrapped(rest.strip("\r\n").strip() if "\n" not in rest.strip() else rest.strip("\r\n").rstrip())
    return text if text.strip() else brief


def _stands_apart(rest: str, instruction: str) -> bool:
    """Whether a sentence is an instruction about what follows rather than its beginning."""
    return rest.lstrip(" \t\r").startswith("\n") or bool(
        re.search(r"\b(?:this|the following|below)\b", instruction, re.IGNORECASE)
    )


def _unwrapped(text: str) -> str:
    """A text without the fence or quotation marks that hold all of it."""
    fenced = _FENCED.fullmatch(text.lstrip())
    if fenced:
        return textwrap.dedent(fenced["text"]).strip("\n")
    stripped = text.strip()
    closing = _QUOTES.get(stripped[:1])
    if closing and len(stripped) > 2 and stripped.endswith(closing) and closing not in stripped[1:-1]:
        return stripped[1:-1]
    return text.lstrip(" \t") if "\n" not in text else text
