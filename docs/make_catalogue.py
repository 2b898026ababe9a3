"""Writes stdlib_patterns/README.md, the catalogue of the library, from the patterns themselves.

    python docs/make_catalogue.py             writes the file (`make docs`)
    python docs/make_catalogue.py --check     exits with 1 if it is not what would be written

What stands there is what the files say and what the interpreter reads in them: first sentence, slots, inputs, config,
return keys, bounds of calls, Notes. The order of the groups is that of `prose_lang.resources.LIBRARY_GROUPS`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from prose_lang.cli.describing import describe, first_sentence
from prose_lang.engine import Engine, Pattern
from prose_lang.report.bounds import Bound, CallBounds, call_bounds
from prose_lang.resources import LIBRARY_GROUPS, library_names

TARGET = Path(__file__).parents[1] / "stdlib_patterns" / "README.md"

_LINE = re.compile(r" \(line \d+\)")
_HEAD = """\
# The library

The patterns that come with the interpreter, in our own words. `prose list` lists them, `prose show NAME` tells what one
takes and promises and how it flows, `prose run NAME …` runs it. [Which pattern for what](../docs/library.md) helps to
choose, and says what is different from the published patterns of the same names.

One pattern a file. Every line under its Ensures and Invariants is a scenario of the test beside it, or an expectation
of one: `prose test refine` runs those of `refine.test.prose.md`.

This file is made by `make docs` from the patterns. Change those, not this.
"""
_LEGEND = """\
In what follows a slot takes one service, unless it says *list*; what says *optional* can be left out. Config is given
with its defaults. Calls are those of a run that ends with a value at least, and of any run at most; one call of a slot
is counted as one, also where a whole pattern is bound to it. *Questions* are the most that a judge can be asked; rules
decide first, and mostly decide all.
"""


def catalogue() -> str:
    """The whole file."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    engine = Engine()
    patterns = [engine.load(f"stdlib:{name}") for name in library_names()]
    yield _HEAD
    yield "| group | for | patterns |"
    yield "| --- | --- | --- |"
    for group, what in LIBRARY_GROUPS.items():
        links = " ".join(f"[`{one.name}`](#{one.name})" for one in patterns if one.document.group == group)
        yield f"| [{group}](#{group.lower()}) | {what} | {links} |"
    yield ""
    yield _LEGEND.rstrip("\n")
    for group, what in LIBRARY_GROUPS.items():
        yield f"\n## {group}\n"
        yield f"{what[0].upper()}{what[1:]}."
        for pattern in patterns:
            if pattern.document.group == group:
                yield from _entry(pattern)


def _entry(pattern: Pattern) -> Iterator[str]:
    described = describe(pattern)
    name = pattern.name
    yield f"\n### {name}\n"
    yield f"{first_sentence(described['description'])}\n"
    yield f"- Slots: {', '.join(map(_slot, described['slots']))}"
    yield f"- Inputs: {', '.join(map(_input, described['inputs'])) or 'none'}"
    if described["config"]:
        yield f"- Config: {', '.join(map(_config, described['config']))}"
    yield f"- Returns: {', '.join(f'`{key}`' for key in described['returns'])}"
    yield f"- Calls: {_calls(call_bounds(pattern.engine, pattern))}"
    yield f"- [Pattern]({name}.prose.md), [test]({name}.test.prose.md), [graph](../tests/corpus/graph/{name}.svg)"
    yield f"\n{_linked(_notes(pattern), name)}"


def _slot(slot: Mapping[str, Any]) -> str:
    marks = [mark for mark, holds in (("list", slot["many"]), ("optional", not slot["required"])) if holds]
    marked = f" ({', '.join(marks)})" if marks else ""
    return f"`{slot['name']}`{marked}"


def _input(item: Mapping[str, Any]) -> str:
    if "default" in item:
        return _config(item)
    return f"`{item['name']}`{'' if item['required'] else ' (optional)'}"


def _config(item: Mapping[str, Any]) -> str:
    return f"`{item['name']}` = {_default(item)}"


def _default(item: Mapping[str, Any]) -> str:
    value = item["default"]
    return "none" if value is None else f"`{json.dumps(value, ensure_ascii=False)}`"


def _calls(bounds: CallBounds) -> str:
    """What is called how often, all together, what that comes to with the defaults, and the questions to a judge."""
    parts = [f"`{target.name}` {_bound(target.calls)}{_where(target.kind)}" for target in bounds.targets]
    if len(parts) > 1:
        parts.append(f"in all {_bound(bounds.total)}")
    text = f"{'; '.join(parts)}{_with_defaults(bounds.total, bounds)}"
    questions = "" if str(bounds.judge) == "none" else f". Questions: {_bound(bounds.judge)}"
    return f"{text}{questions}{_with_defaults(bounds.judge, bounds) if questions else ''}"


def _where(kind: str) -> str:
    return " where it is a service" if kind == "predicate" else ""


def _bound(bound: Bound) -> str:
    """A bound without the lines of what changes while it runs; `prose show NAME --calls` has them."""
    low, high = (_LINE.sub("", str(end)) for end in (bound.low, bound.high))
    return low if low == high else _LINE.sub("", str(bound))


def _with_defaults(bound: Bound, bounds: CallBounds) -> str:
    low, high = bound.within(bounds.defaults)
    known = bound.low.constant is not None and bound.high.constant is not None
    if known or low is None or high is None:
        return ""
    return f" ({low:,} by default)" if low == high else f" ({low:,} to {high:,} by default)"


def _notes(pattern: Pattern) -> str:
    section = pattern.entry.section("notes")
    assert section is not None, f"{pattern.name} has no Notes"
    return pattern.document.source.text[section.content.start : section.content.end].strip()


def _linked(text: str, own: str) -> str:
    """A text in which the names of other patterns lead to them."""
    names = set(library_names()) - {own}
    return re.sub(r"`([\w-]+)`", lambda found: f"[{found[0]}](#{found[1]})" if found[1] in names else found[0], text)


def main(arguments: list[str]) -> int:
    """Write the file, or compare it."""
    text = catalogue()
    if "--check" in arguments:
        return 0 if TARGET.exists() and TARGET.read_text(encoding="utf-8") == text else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
