"""Services that need no model: `plain` rewrites English by rules, `readability` scores it, `person` waits for somebody.

The first two are there so that the `refine` pattern, and a newcomer's first run, do something real without a key or a
network. They are rules, not understanding: see their own docstrings for what that excludes. Importing this package
loads neither the phrase tables nor the rules; `builtin` does when one of them is asked for.
"""

from __future__ import annotations

from collections.abc import Callable

#: The names that `builtin` knows.
BUILTIN_NAMES: tuple[str, ...] = ("plain", "readability", "person")


def builtin(name: str) -> Callable[..., object] | None:
    """The built-in service of that name, or None. Its declared inputs are the function's parameters (L32).

    >>> builtin("plain")("Call us in order to apply.")
    'Call us to apply.'
    >>> builtin("magic") is None
    True
    """
    if name == "plain":
        from prose_lang.services.builtin.plain import plain

        return plain
    if name == "readability":
        from prose_lang.services.builtin.readability import readability

        return readability
    if name == "person":
        from prose_lang.services.builtin.person import person

        return person
    return None
