"""Layer 5 of conditions: what the judge is asked and which answers are usable (L30.5, L31). Asking is elsewhere.

    question   {condition, values}           answer   {holds: boolean, reason: string}
    question   {criteria, values, options}   answer   {choice: one of the options, reason: string}

The values are data in a field of their own, apart from the text that is asked about, and bounded in size. An answer
may be the JSON text of such an object, and may have more keys; without a reason it is unusable, for every decision
in a trace has one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping

import attrs

from prose_lang.conditions.rule import Parse, is_path
from prose_lang.conditions.shapes import fields_of
from prose_lang.conditions.words import cut
from prose_lang.syntax import nodes
from prose_lang.values import TooLarge, Value, handout

#: How many bytes the values of one question may take as JSON, unless the runtime says otherwise.
MAX_QUESTION = 64 * 1024

#: What stands in a word before punctuation or a possessive ends it.
_CORE = re.compile(r"[^\W\d](?:[\w-]*\w)?(?:\.[^\W\d](?:[\w-]*\w)?|\[[^\]]*\])*")


class QuestionTooLarge(ValueError):
    """The values of a question are larger than the bound; they are refused rather than cut (P402)."""


@attrs.frozen
class Answer:
    """A usable answer about a condition."""

    holds: bool
    reason: str


@attrs.frozen
class Chosen:
    """A usable answer about a choice."""

    label: str
    reason: str


def question(condition: str, values: Mapping[str, Value], bound: int = MAX_QUESTION) -> dict[str, Value]:
    """The judge's inputs for a condition. Raises `QuestionTooLarge`.

    >>> question("v has critical concerns", {"v": "All of it is wrong"})
    {'condition': 'v has critical concerns', 'values': {'v': 'All of it is wrong'}}
    """
    return {"condition": condition.strip(), "values": _packed(values, bound)}


def choice_question(
    criteria: str, values: Mapping[str, Value], options: Iterable[str], bound: int = MAX_QUESTION
) -> dict[str, Value]:
    """The judge's inputs for a choice. Raises `QuestionTooLarge`."""
    return {"criteria": criteria.strip(), "values": _packed(values, bound), "options": list(options)}


def _packed(values: Mapping[str, Value], bound: int) -> dict[str, Value]:
    packed: dict[str, Value] = {}
    sizes: dict[str, int] = {}
    for name, value in values.items():
        try:
            # A part takes at least a byte, so that many parts are too many; this stops early on huge values.
            packed[name] = handout(value, 0, [bound + 1])
        except TooLarge:
            raise QuestionTooLarge(
                f"{name} is nested too deeply for the judge, or larger than the {bound:,} bytes it may be given"
            ) from None
        sizes[name] = _size(packed[name])
    total = _size(packed)
    if total > bound:
        largest = max(sizes, key=lambda name: sizes[name])
        raise QuestionTooLarge(
            f"the values for the judge take {total:,} bytes and may take {bound:,}; "
            f"the largest is {largest} with {sizes[largest]:,}"
        )
    return packed


def _size(value: Value) -> int:
    return len(json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def read_answer(answer: Value) -> Answer | None:
    """What a judge's answer says about a condition; None if it is of another shape.

    >>> read_answer({"holds": True, "reason": "clearly"})
    Answer(holds=True, reason='clearly')
    >>> read_answer({"holds": "yes", "reason": "clearly"}) is None
    True
    """
    fields = fields_of(answer)
    if fields is None:
        return None
    holds, reason = fields.get("holds"), fields.get("reason")
    return Answer(holds, reason) if isinstance(holds, bool) and isinstance(reason, str) else None


def read_choice(answer: Value, labels: Collection[str]) -> Chosen | None:
    """What a judge's answer says about a choice; None if it is of another shape or names none of the labels.

    >>> read_choice('{"choice": "abort", "reason": "no hope"}', ["retry", "abort"])
    Chosen(label='abort', reason='no hope')
    """
    fields = fields_of(answer)
    if fields is None:
        return None
    label, reason = fields.get("choice"), fields.get("reason")
    return Chosen(label, reason) if isinstance(label, str) and label in labels and isinstance(reason, str) else None


def mentioned(condition: nodes.Condition, parse: Parse) -> dict[str, nodes.Expression]:
    """The paths that a text may be naming, as they are written, in order. Words inside strings are not looked at.

    Most are plain English: the caller keeps those whose first name means something where the condition stands. What
    follows `a` or `an` is English too: "a round finds nothing new" is not about the number in `round`.
    """
    found: dict[str, nodes.Expression] = {}
    words = cut(condition.text) or ()
    for before, word in zip((None, *words), words, strict=False):
        if before is not None and before.lower in ("a", "an"):
            continue
        core = None if word.text.startswith('"') else _CORE.search(word.text)
        if core is None or core[0] in found:
            continue
        start = condition.start + word.start + core.start()
        expression = parse(start, start + len(core[0]))
        if expression is not None and is_path(expression):
            found[core[0]] = expression
    return found
