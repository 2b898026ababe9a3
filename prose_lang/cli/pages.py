"""The pages of codes and of the linter's rules under one roof. A rule may have the name of a code (`judge-needed`)."""

from __future__ import annotations

from prose_lang.diagnostics import CODES
from prose_lang.diagnostics.explain import explain
from prose_lang.diagnostics.explain import page_names as other_names
from prose_lang.linter import pages as of_rules


def page(name: str) -> str | None:
    """The page of what a diagnostic is identified by: its code, or the name of a rule.

    >>> page("re-let").splitlines()[0], page("P201").splitlines()[0]
    ('# re-let', '# P201 unknown-name')
    """
    return of_rules.page(name) or explain(name)


def pages(name: str) -> list[str]:
    """All pages that a person may mean by a code, the name of a code or the name of a rule, in any case."""
    return [found for found in (of_rules.page(name), explain(name)) if found is not None]


def explainable() -> list[str]:
    """Everything that has a page: codes, their names, the names of rules and of what has no code; sorted."""
    return sorted({name for code in CODES.values() for name in (code.code, code.name)} | set(named()))


def named() -> list[str]:
    """What has a page under its name alone: the rules of the linter, and what is told without a code; sorted."""
    return sorted({*of_rules.page_names(), *(name for name in other_names() if name not in CODES)})
