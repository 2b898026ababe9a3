"""Where the data files are: the grammar and the pattern library.

In a checkout they are the top-level folders `grammar/` and `stdlib_patterns/`; a wheel carries them as
`prose_lang/_data/grammar/` and `prose_lang/_data/stdlib_patterns/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

#: The groups of the shipped patterns, in the order of the catalogue, each with what its patterns are for. Which pattern
#: is in which group stands in the pattern's frontmatter.
LIBRARY_GROUPS: Mapping[str, str] = MappingProxyType(
    {
        "Improve": "one result gets better from round to round",
        "Choose": "there are several results, and one of them is taken",
        "Combine": "several services work on parts of one result, or one after the other",
        "Argue": "services contradict each other",
        "Control": "what is done, by whom, and whether at all",
        "Probe": "material is examined by readers that do not know of each other",
    }
)

_PACKAGE = Path(__file__).resolve().parent
_SUFFIX = ".prose.md"


def _folder(name: str) -> Path:
    packed = _PACKAGE / "_data" / name
    return packed if packed.is_dir() else _PACKAGE.parent / name


def grammar_folder() -> Path:
    """The folder of the grammar."""
    return _folder("grammar")


def grammar_text() -> str:
    """The grammar that the parse table is made from."""
    return (grammar_folder() / "prose.lark").read_text(encoding="utf-8")


def grammar_table_text() -> str | None:
    """The stored parse table, or None if there is none."""
    try:
        return (grammar_folder() / "prose.table.json").read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def library_folder() -> Path:
    """The folder of the shipped patterns."""
    return _folder("stdlib_patterns")


def library_names() -> list[str]:
    """The names of the shipped patterns, sorted; their tests are not patterns."""
    files = library_folder().glob(f"*{_SUFFIX}")
    names = (path.name.removesuffix(_SUFFIX) for path in files)
    return sorted(name for name in names if not name.endswith(".test"))


def library_path(name: str) -> Path | None:
    """The file of a shipped pattern, or None if there is no such pattern."""
    return library_folder() / f"{name}{_SUFFIX}" if name in library_names() else None
