"""The service `person`: where a run needs somebody's answer, and nobody has been asked yet.

It asks nobody by itself. It stops the run and says what is asked, and about what; `prose answer` (`Engine.answer`) puts
what somebody said into the record of the run, and goes on. Whoever runs the pattern bound to a terminal, a form or a
mailbox binds a service of their own instead.
"""

from __future__ import annotations

from typing import Any, NoReturn

from prose_lang.diagnostics import WaitingError
from prose_lang.values import to_json

#: Characters of what a person was to see that stand in the error; the trace has all of it.
_SHOWN = 2000


async def person(question: str, **given: Any) -> NoReturn:
    """Stop the run, which then waits for a person (P411, exit status 4): the built-in partner of `human-gate`.

    `question` is what to ask. Whatever else it is given is what the answer is about, and stands below the question.
    `catch`, `retry` and `on-fail` do not see the stop, so nothing is decided in the person's place (L27).
    In the place of the judge (`--judge person`) it asks whether a condition holds, or which option is chosen.

    >>> import asyncio
    >>> from prose_lang import WaitingError
    >>> try:
    ...     asyncio.run(person("May it be sent?", proposal="Dear all"))
    ... except WaitingError as error:
    ...     print(error.code, error.message, sep="\\n")
    P411
    a person has to answer: May it be sent?
    proposal: Dear all
    """
    asked, name = _of_judge(question, given) or (question, "person")
    if not isinstance(asked, str) or not asked.strip():
        raise ValueError("person: `question` must be a text that asks something")
    lines = [
        f"a person has to answer: {asked.strip()}",
        *(f"{name}: {_shown(what)}" for name, what in given.items()),
    ]
    raise WaitingError(
        "P411",
        "\n".join(lines),
        service="person",
        hint=f"show it to somebody; `prose answer RUN {name}=…` goes on with what they say",
    )


def _of_judge(question: object, given: dict[str, Any]) -> tuple[str, str] | None:
    """What a judge is asked, and the name by which it is answered; None for a call. What is asked is `given` no more.

    >>> _of_judge(None, {"condition": "the plan is safe", "values": {"plan": "walk"}})
    ('Does this hold? the plan is safe', 'judge')
    """
    if question is not None:
        return None
    if isinstance(given.get("condition"), str):
        return f"Does this hold? {given.pop('condition')}", "judge"
    if isinstance(given.get("criteria"), str) and "options" in given:
        return f"Which of the options? {given.pop('criteria')}", "judge"
    return None


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else to_json(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters in all)"
