"""A recorded run as a page of HTML: one file, which needs nothing else, no script and no network.

The rows stand in the order of a tree and each knows its level; what is below one can be folded away. A bar tells when
something happened and how long it took, between the beginning and the end of the run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

import attrs

#: Levels at which rows are open when the page is opened.
_OPEN = 3
#: Per cent of the page's bar that is drawn at least.
_THIN = 0.3

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

_STYLE = """\
:root { color-scheme: light dark; --line: #d6dbe0; --dim: #6a737d; --bar: #4c8bd0; --bad: #c03030; --page: #ffffff;
  --text: #1c2126; --box: #f4f6f8; }
@media (prefers-color-scheme: dark) { :root { --line: #333a41; --dim: #96a1ab; --bar: #5b9be0; --bad: #f07070;
  --page: #14181c; --text: #dde3e8; --box: #1d2329; } }
body { margin: 2rem auto; max-width: 75rem; padding: 0 1rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; margin: 0 0 .5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: 0 0 1.5rem; }
dt { color: var(--dim); }
dd { margin: 0; overflow-wrap: anywhere; }
.status { font-weight: 600; padding: 0 .5em; border-radius: 1em; border: 1px solid currentColor; font-size: .8em; }
.bad { color: var(--bad); }
.dim { color: var(--dim); }
details > details, details > .row, details > .parts { margin-left: 1.2rem; }
summary, .row { padding: .15rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.row { padding-left: 1.05rem; }
summary { cursor: pointer; }
.label { font-weight: 600; }
.pass .label { font-weight: 400; color: var(--dim); }
.decision .label { font-weight: 400; font-style: italic; }
.took { color: var(--dim); font-size: .85em; white-space: nowrap; }
.time { position: relative; height: 5px; margin: .15rem 0; background: var(--box); border-radius: 3px; }
.time i { position: absolute; top: 0; bottom: 0; background: var(--bar); border-radius: 3px; }
.bad .time i { background: var(--bad); }
.parts h3 { font-size: .85rem; color: var(--dim); margin: .5rem 0 0; font-weight: 400; }
pre { background: var(--box); margin: .2rem 0 .6rem; padding: .5rem .7rem; overflow: auto; max-height: 30rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }"""


@attrs.frozen
class Row:
    """A line of the tree: what it is, what came of it and what it took, each a text. `kind` is that of its node.

    `started` and `ended` are Unix times, 0 where nothing tells them. `parts` are texts with their headings, such as
    what a call was given, which are shown when it is unfolded.
    """

    level: int
    kind: str
    label: str
    gist: str = ""
    took: str = ""
    bad: bool = False
    started: float = 0.0
    ended: float = 0.0
    parts: Sequence[tuple[str, str]] = ()


@attrs.frozen
class Page:
    """A page: its heading, how the run stands, and what is told of the whole above and below the tree."""

    title: str
    status: str
    bad: bool
    facts: Sequence[tuple[str, str]]
    rows: Iterable[Row]
    started: float
    ended: float
    after: Sequence[tuple[str, str]] = ()


def to_html(page: Page, clean: Callable[[str], str] = str) -> Iterator[str]:
    """The lines of the page. Every text goes through `clean` first, which takes secrets out of it."""

    def text(part: str) -> str:
        return escape(_printable(clean(part)))

    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    # Nothing that a run has said may load or run anything, should it ever get past the escaping.
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield f"<title>{text(page.title)}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>"
    status = f'<span class="status{" bad" if page.bad else ""}">{text(page.status)}</span>'
    yield f"<h1>{text(page.title)} {status}</h1>"
    yield from _facts(page.facts, text)
    span = max(page.ended - page.started, 1e-9)
    open_levels: list[int] = []
    rows = iter(page.rows)
    row = next(rows, None)
    while row is not None:
        following = next(rows, None)
        while open_levels and open_levels[-1] >= row.level:
            open_levels.pop()
            yield "</details>"
        inner = following is not None and following.level > row.level
        css = f"{row.kind}{' bad' if row.bad else ''}"
        line = _line(row, text) + _bar(row, page.started, span)
        if inner or row.parts:
            shown = " open" if inner and row.level < _OPEN else ""
            yield f'<details class="{css}"{shown}><summary>{line}</summary>'
            open_levels.append(row.level)
            if row.parts:
                yield '<div class="parts">'
                for heading, part in row.parts:
                    yield f"<h3>{text(heading)}</h3><pre>{text(part)}</pre>"
                yield "</div>"
        else:
            yield f'<div class="row {css}">{line}</div>'
        row = following
    yield from ("</details>" for _ in open_levels)
    yield from _facts(page.after, text)
    yield "</body>\n</html>"


def _facts(facts: Sequence[tuple[str, str]], text: Callable[[str], str]) -> Iterator[str]:
    if facts:
        yield "<dl>"
        for name, fact in facts:
            yield f"<dt>{text(name)}</dt><dd>{text(fact)}</dd>"
        yield "</dl>"


def _line(row: Row, text: Callable[[str], str]) -> str:
    parts = [f'<span class="label">{text(row.label)}</span>']
    if row.gist:
        parts.append(f'<span class="gist{" bad" if row.bad else ""}">{text(row.gist)}</span>')
    if row.took:
        parts.append(f'<span class="took">{text(row.took)}</span>')
    return " ".join(parts)


def _bar(row: Row, started: float, span: float) -> str:
    if not row.started:
        return ""
    left = min(max((row.started - started) / span * 100, 0.0), 100.0 - _THIN)
    width = min(max((row.ended - row.started) / span * 100, _THIN), 100.0 - left)
    return f'<div class="time"><i style="left:{left:.2f}%;width:{width:.2f}%"></i></div>'


def _printable(text: str) -> str:
    """A text with what HTML has no place for replaced: control characters, and halves of characters."""
    return _UNPRINTABLE.sub("\ufffd", text)
