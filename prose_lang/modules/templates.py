"""Feedback templates: what the next attempt is told about the last one.

A template is a text with `{score}`, `{prediction}` and the names of inputs in braces; `{{` and `}}` are braces. Nothing
in it is evaluated, and what is filled in is never read as a template again.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Any

from prose_lang.diagnostics import RunError
from prose_lang.modules.errors import refused
from prose_lang.runtime.effects import Effect
from prose_lang.semantics.signature import Parameter, Signature
from prose_lang.text import did_you_mean, nearest
from prose_lang.values import TooLarge, Value, interpolated

#: What an attempt gets where nothing has been said yet.
NO_FEEDBACK = "No feedback yet."

DEFAULT_TEMPLATE = "The last answer scored {score}. It was: {prediction}. Give a better one."

_OWN = ("score", "prediction")


class Template:
    """A checked template.

    >>> Template("{prediction} scored {score}", ("question",)).fill({}, {"answer": "Paris", "tags": ["a"]}, 1 / 3)
    'answer: Paris; tags: ["a"] scored 0.333'
    """

    def __init__(self, text: str, fields: tuple[str, ...], *, any_field: bool = False) -> None:
        """`fields` are the inputs it may name; with `any_field` it may name others. Raises CheckError P211."""
        if not isinstance(text, str):
            raise refused(f"a feedback template is a text, not {type(text).__name__}")
        known = (*_OWN, *fields)
        self.parts: list[tuple[str, str | None]] = []
        try:
            parsed = list(string.Formatter().parse(text))
        except ValueError as error:
            raise refused(f"the feedback template is malformed: {error}", "write {{ and }} for braces") from None
        for literal, field, form, conversion in parsed:
            if field is not None:
                if form or conversion or not field.isidentifier():
                    raise refused(f"the feedback template names `{{{_written(field, conversion, form)}}}`",
                                  "a field is a name in braces; {{ and }} are braces")  # fmt: skip
                if field not in known and not any_field:
                    close = nearest(field, known)
                    hint = did_you_mean(close[:1]) or f"it can name {', '.join(known)}"
                    raise refused(f"the feedback template names `{field}`, which is no input", hint)
            self.parts.append((literal, field))

    @property
    def fields(self) -> tuple[str, ...]:
        """The inputs that it names."""
        return tuple(dict.fromkeys(field for _, field in self.parts if field is not None and field not in _OWN))

    def fill(self, inputs: Mapping[str, Value], prediction: Value, score: float) -> str:
        """The text of one attempt's feedback; an input that is not there is written as nothing."""
        words = {"score": shown_score(score), "prediction": shown_prediction(prediction)}
        filled = []
        for literal, field in self.parts:
            filled.append(literal)
            if field is not None:
                filled.append(words[field] if field in words else interpolated(inputs.get(field)))
        return "".join(filled)


class FeedbackWriter:
    """A template in the slot `feedback_writer` of a library pattern."""

    name = "feedback-template"
    composite = True  # it reaches nobody, and is no call
    signature = Signature((Parameter("task_brief", True), Parameter("result", False), Parameter("score", True)))

    def __init__(self, template: Template) -> None:
        self.template = template

    async def invoke(self, effect: Effect) -> Any:
        """The filled template."""
        inputs = effect.inputs
        try:
            return self.template.fill(inputs["task_brief"], inputs.get("result"), inputs["score"])
        except TooLarge as error:
            raise RunError("P304", f"the feedback cannot be written: {error}", service=self.name) from None


def shown_score(score: float) -> str:
    """A score with at most three digits behind the point.

    >>> [shown_score(score) for score in (0, 1.0, 0.5, 2 / 3, -0.0001)]
    ['0', '1', '0.5', '0.667', '0']
    """
    rounded = round(score, 3)
    return str(int(rounded)) if rounded == int(rounded) else str(rounded)


def shown_prediction(prediction: Value) -> str:
    """A prediction as `field: value; …`; one without fields as itself, lists and objects inside it as JSON."""
    if isinstance(prediction, Mapping):
        return "; ".join(f"{name}: {interpolated(value)}" for name, value in prediction.items())
    return interpolated(prediction)


def _written(field: str, conversion: str | None, form: str | None) -> str:
    return field + (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
