"""What the interpreter says when something is wrong: codes, diagnostics, errors and how they are shown."""

from prose_lang.diagnostics.codes import CODES, Code, code_named
from prose_lang.diagnostics.diagnostic import Diagnostic, Severity, sort_diagnostics
from prose_lang.diagnostics.errors import (
    CheckError,
    LimitError,
    ProseError,
    RunError,
    ServiceError,
    SourceError,
    WaitingError,
    described,
)

__all__ = [
    "CODES",
    "CheckError",
    "Code",
    "Diagnostic",
    "LimitError",
    "ProseError",
    "RunError",
    "ServiceError",
    "Severity",
    "SourceError",
    "WaitingError",
    "code_named",
    "described",
    "sort_diagnostics",
]
