"""Which rules are looked at, and how grave their findings are. Where that is configured is `configuration.py`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import attrs

from prose_lang.diagnostics import Severity
from prose_lang.linter.registry import RULES
from prose_lang.linter.rule import Rule


@attrs.frozen
class Settings:
    """`select` are the names of the rules that count (None: all), `ignore` those that do not."""

    select: frozenset[str] | None = None
    ignore: frozenset[str] = frozenset()
    severity: Mapping[str, Severity] = MappingProxyType({})

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that are looked at.

        >>> [rule.name for rule in Settings(select=frozenset({"re-let", "shadowing"})).rules]
        ['re-let', 'shadowing']
        """
        return tuple(rule for name, rule in RULES.items() if self.counts(name))

    def counts(self, name: str) -> bool:
        """Whether a rule is looked at."""
        return (self.select is None or name in self.select) and name not in self.ignore

    def over(self, select: frozenset[str], ignore: frozenset[str]) -> Settings:
        """These settings with what a command line says: it selects anew, and ignores besides."""
        if select:
            return attrs.evolve(self, select=select, ignore=ignore)
        return attrs.evolve(self, ignore=self.ignore | ignore)
