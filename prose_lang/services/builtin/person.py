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
    if not isinstance(question, str) or not question.strip():
        raise ValueError("person: `question` must be a text that asks something")
    lines = [
        f"a person has to answer: {question.strip()}",
        *(f"{name}: {_shown(what)}" for name, what in given.items()),
    ]
    raise WaitingError(
        "P411",
        "\n".join(lines),
        service="person",
        hint="show it to somebody; `prose answer RUN person=…` goes on with what they say",
    )


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else to_json(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}… ({len(text):,} characters in all)"
