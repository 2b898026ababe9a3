"""`persist` (L29): where the conversation of an agent is kept, as far as the text says it.

    true, run           in the run, and gone with it
    project             in the project's folder of conversations
    user                in the user's
    NAME, "NAME"        in a folder of that name in the project's
    false, null, none   nowhere, as without `persist`

The value is part of the text and never worked out by the program: what a run may write where can be read off its file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prose_lang.syntax import nodes as n

#: The conversation is kept in the run.
RUN = "run"
PROJECT = "project"
USER = "user"

# It becomes a part of a path: no dots and no slashes, and nothing that file systems disagree about.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_NOWHERE = (False, None, "false", "null", "none")


class BadScope(ValueError):
    """A `persist` that names no scope; `node` is its value."""

    def __init__(self, node: n.Node) -> None:
        super().__init__("`persist` is true, run, project, user, false or a name, written out")
        self.node = node


def persisted(*properties: Sequence[n.Property]) -> str | None:
    """The scope that the first `persist` among lists of properties names; None where nothing is kept.

    Raises `BadScope`.
    """
    for some in properties:
        for item in some:
            if item.name == "persist":
                return _scope(item)
    return None


def _scope(item: n.Property) -> str | None:
    match item.value:
        case n.Name(id=word):
            said: object = word
        case n.Literal(value=value):
            said = value
        case _:
            raise BadScope(item.value or item)
    if any(said is one or (isinstance(one, str) and said == one) for one in _NOWHERE):
        return None
    if said is True or said == "true":
        return RUN
    if isinstance(said, str) and _NAME.fullmatch(said):
        return said
    raise BadScope(item.value)


def is_storable(agent: str) -> bool:
    """Whether the name of an agent can be that of a file everywhere.

    >>> is_storable("fact-checker"), is_storable("größe")
    (True, False)
    """
    return _NAME.fullmatch(agent) is not None
