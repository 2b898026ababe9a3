"""The one family of exceptions.

ProseError
├── SourceError       P1xx  a source could not be read or parsed
├── CheckError        P2xx  the program or what it was given is wrong; nothing was run
└── RunError          P3xx  the program failed while running
    ├── ServiceError  P4xx  a service, a judge or a person did not answer as needed
    ├── LimitError    P405  a limit or budget was reached
    └── WaitingError  P411  a person's answer is needed
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prose_lang.diagnostics.codes import CODES
from prose_lang.diagnostics.diagnostic import Diagnostic, Severity
from prose_lang.text import Source, Span

#: What `catch`, `retry` and `on-fail` see (L27); everything else passes through them.
CATCHABLE = frozenset({"P302", "P303", "P304", "P305", "P308", "P401", "P404", "P406", "P407", "P408"})


def described(error: BaseException) -> str:
    """A foreign error as its `repr`; the name of its type where it cannot say what it is.

    >>> described(KeyError("x"))
    "KeyError('x')"
    """
    try:
        return repr(error)
    except Exception:
        return type(error).__name__


class ProseError(Exception):
    """The root of every error that the interpreter raises on purpose.

    `code` is the diagnostic code, `span` the place in `source` (None where there is none), `hint` what to do.
    `outcome` is the partial outcome of the run, for errors raised by a run that had started.
    `diagnostics` are all faults that were found together; there is at least one.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        source: Source | None = None,
        span: Span | None = None,
        hint: str | None = None,
        service: str | None = None,
        diagnostics: Sequence[Diagnostic] = (),
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.source = source
        self.span = span
        self.hint = hint
        self.service = service
        self.outcome: Any = None
        self._diagnostics = tuple(diagnostics)

    @property
    def name(self) -> str:
        """The kebab-case name of the code."""
        return CODES[self.code].name

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All faults found together, sorted by position."""
        return self._diagnostics or (self.as_diagnostic(),)

    def as_diagnostic(self) -> Diagnostic:
        """The error as a diagnostic."""
        return Diagnostic(
            code=self.code,
            name=self.name,
            message=self.message,
            source=self.source,
            span=self.span,
            severity=Severity.ERROR,
            hint=self.hint,
            notes=(f"the service is `{self.service}`",) if self.service else (),
        )

    def as_json(self) -> dict[str, Any]:
        """The plain form that `--json` prints under `error`."""
        plain = self.as_diagnostic().as_json()
        del plain["severity"]
        return {**plain, "service": self.service}

    def render(self, *, color: bool = False) -> str:
        """The error as a person reads it: code, message, code frame and hint, for every fault found."""
        from prose_lang.diagnostics.render import render_all

        return render_all(self.diagnostics, color=color)

    @classmethod
    def from_diagnostics(cls, found: Sequence[Diagnostic]) -> ProseError:
        """One error for a list of diagnostics with at least one error; the first error gives code and place."""
        first = next(item for item in found if item.severity is Severity.ERROR)
        assert first.code is not None, "errors have codes"
        return cls(
            first.code,
            first.message,
            source=first.source,
            span=first.span,
            hint=first.hint,
            diagnostics=found,
        )


class SourceError(ProseError):
    """P1xx: a source could not be found, read or parsed."""


class CheckError(ProseError):
    """P1xx or P2xx: the program, or what it was given, is wrong. Nothing was run."""


class RunError(ProseError):
    """P3xx: the program failed while running. `attempts` counts the attempts of the call that failed.

    Of a model's failure: `transient` tells that asking again may help, after `retry_after` seconds if the provider says
    so; `permanent` that it never will; `uncharged` that the provider refused before it did anything; `answer` is the
    text that broke the contract, `correctable` whether it may be asked for again; `overflow` that what was sent is more
    than the model takes.
    """

    transient = False
    permanent = False
    uncharged = False
    correctable = False
    overflow = False
    retry_after: float | None = None
    answer: str | None = None

    def __init__(self, code: str, message: str, **places: Any) -> None:
        self.attempts: int = places.pop("attempts", 1)
        self.error_name: str | None = places.pop("error_name", None)
        self.thrown: Any = places.pop("thrown", None)
        self.survivors: list[Any] | None = None  # what the other branches of a parallel block gave (L24)
        self.branch_errors: list[RunError] = []  # every branch's error, where too few succeeded (P401)
        super().__init__(code, message, **places)

    @property
    def name(self) -> str:
        """The name the program gave the error, else the kebab-case name of the code."""
        return self.error_name or CODES[self.code].name

    @property
    def catchable(self) -> bool:
        """Whether `catch`, `retry` and `on-fail` see it (L27)."""
        return self.code in CATCHABLE


class ServiceError(RunError):
    """P4xx: a service, a judge or a model did not answer as needed."""


class LimitError(RunError):
    """P405: a limit or budget was reached (L34)."""


class WaitingError(RunError):
    """P411: a person's answer is needed and nobody can answer now."""
