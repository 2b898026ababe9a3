"""Rules about programs that run and yet are probably not meant so; fixes, suppression and configuration.

A rule is a file in `rules/`: its docstring is its page. Errors are not found here but where programs are checked.
"""

from prose_lang.linter.fixing import Fixed, fix
from prose_lang.linter.linting import Linted, lint
from prose_lang.linter.registry import RULES
from prose_lang.linter.rule import Finding, Fix, Rule
from prose_lang.linter.settings import Settings

__all__ = ["RULES", "Finding", "Fix", "Fixed", "Linted", "Rule", "Settings", "fix", "lint"]
