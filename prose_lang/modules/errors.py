"""What modules raise and warn of, beside the errors every run may end in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from prose_lang.diagnostics import CheckError, ServiceError

if TYPE_CHECKING:
    from prose_lang.modules.attempts import Attempt


class AttemptsError(ServiceError):
    """A module gave up: too many attempts failed, or none was good enough. `history` holds all attempts.

    `code` is P308 where attempts failed and P404 where assertions were never met; `name` says which:
    `every-attempt-failed`, `too-many-failures`, `every-member-failed`, `no-quorum`, `assertions-failed` and the like.
    A pattern or module around it sees the failure of a service, and may try another.

    >>> error = AttemptsError("P308", "all 2 attempts failed", history=(), error_name="every-attempt-failed")
    >>> error.name, error.history
    ('every-attempt-failed', ())
    """

    def __init__(self, code: str, message: str, *, history: Sequence[Attempt], **places: Any) -> None:
        super().__init__(code, message, **places)
        self.history = tuple(history)
        self.attempts = len(self.history)


class IdenticalSamplesWarning(UserWarning):
    """All attempts of a module gave the same: asking again was of no use. A cache may be why, or a temperature of 0."""


class UnmetAssertionWarning(UserWarning):
    """A prediction breaks an assertion that is only wished for, or that `on_failure="warn"` lets pass."""


def refused(what: str, hint: str | None = None) -> CheckError:
    """The error of a module that is made of the wrong things: P211."""
    return CheckError("P211", what, hint=hint)
