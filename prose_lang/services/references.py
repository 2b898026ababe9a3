"""Service references (CLI.md): what a text like `py:judges:strict` or `refine.prose.md#polish` refers to.

A text that came as data may name what is already known, and nothing else: it cannot make the machine import code,
read a file or run a command. Only a literal command-line argument and `prose.ref(...)` are trusted to.

Reading a reference finds nothing and runs nothing, except `resolve_python`, which imports.
"""

from __future__ import annotations

import re
from typing import Any

import attrs

from prose_lang.diagnostics import CheckError
from prose_lang.services.importing import import_module
from prose_lang.text import did_you_mean, nearest

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_DOTTED = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_FILE = re.compile(r"(?P<path>.*\.prose\.md)(?:#(?P<entry>.*))?", re.DOTALL)
_FORMS = {"py": "python", "cmd": "command", "model": "model", "stdlib": "library", "local": "local"}
_LIBRARY_PATH = "std/patterns/"


@attrs.frozen
class Reference:
    """A reference, taken apart.

    `kind` is `name`, `python`, `file`, `library`, `model`, `local` or `command`; `target` is the name, the module, the
    path, the library name, the model or the command line; `part` is the attribute of a module, or the entry of a file.
    """

    text: str
    kind: str
    target: str
    part: str | None = None


@attrs.frozen
class TrustedReference:
    """A reference that the embedding program vouches for, made by `prose.ref`.

    Not a text on purpose: nothing that handles texts can pass it on by mistake, or make one.
    """

    reference: Reference

    def __str__(self) -> str:
        return self.reference.text


def ref(text: str) -> TrustedReference:
    """`prose.ref`: a reference of any kind, from a program that knows what it asks for.

    >>> ref("py:judges:strict").reference.part
    'strict'
    """
    return TrustedReference(parse_reference(text, trusted=True))


def parse_reference(text: str, trusted: bool) -> Reference:
    """Take a reference apart; raises `CheckError` P109 if it is none, or one that data must not hold.

    >>> parse_reference("refine.prose.md#polish", trusted=True)
    Reference(text='refine.prose.md#polish', kind='file', target='refine.prose.md', part='polish')
    """
    text = text.strip()
    reference = _parsed(text)
    if not trusted and reference.kind in ("python", "file", "command", "model", "local"):
        raise CheckError(
            "P109",
            f"`{_short(text)}` is only accepted as a literal command-line argument or as `prose.ref(...)` in Python",
            hint="anywhere else only registered names, entries and `stdlib:` names are",
        )
    return reference


def _parsed(text: str) -> Reference:
    form, colon, rest = text.partition(":")
    rest = rest.strip()
    if colon and form in _FORMS:
        if not rest:
            raise CheckError("P109", f"`{text}` names nothing after `{form}:`")
        if form == "py":
            return _python(text, rest)
        if form == "stdlib" and not _NAME.fullmatch(rest):
            raise CheckError("P109", f"`{_short(text)}` does not name a pattern of the library")
        if form == "local" and not _NAME.fullmatch(rest):
            raise CheckError("P109", f"`{_short(text)}` does not name a local model", hint="`prose models` lists them")
        if form == "model" and not all(rest.partition("/")):
            raise CheckError("P109", f"`{_short(text)}` does not name a model", hint="write model:PROVIDER/MODEL")
        return Reference(text, _FORMS[form], rest)
    if text.startswith(_LIBRARY_PATH) and _NAME.fullmatch(text, len(_LIBRARY_PATH)):
        return Reference(text, "library", text.removeprefix(_LIBRARY_PATH))
    if match := _FILE.fullmatch(text):
        if match["entry"] == "":
            raise CheckError("P109", f"`{_short(text)}` names no entry after `#`")
        return Reference(text, "file", match["path"], match["entry"])
    if _NAME.fullmatch(text):
        return Reference(text, "name", text)
    raise CheckError("P109", _why_not(text, form if colon else ""), hint=_HINT)


_HINT = (
    "a reference is NAME, stdlib:NAME, FILE.prose.md, FILE.prose.md#ENTRY, py:MODULE:FUNCTION, "
    "model:PROVIDER/MODEL, local:NAME or cmd:COMMAND LINE"
)


def _why_not(text: str, form: str) -> str:
    if not text:
        return "an empty text is not a reference"
    if "/" in text or "\\" in text:
        return f"`{_short(text)}` looks like a path, but does not end in .prose.md"
    close = nearest(form, _FORMS) if form else []
    return f"`{_short(text)}` is not a reference" + (f"; did you mean `{close[0]}:`?" if close else "")


def _python(text: str, rest: str) -> Reference:
    module, _, attribute = rest.partition(":")
    if not _DOTTED.fullmatch(module) or not _DOTTED.fullmatch(attribute):
        raise CheckError("P109", f"`{_short(text)}` is not a Python reference", hint="write py:MODULE:FUNCTION")
    return Reference(text, "python", module, attribute)


def resolve_python(reference: Reference) -> Any:
    """Import the object that a `py:` reference names.

    Raises `CheckError` P109 if there is no such module, P202 if it has no such attribute, and `SourceError` P103
    if importing it fails.
    """
    assert reference.kind == "python"
    assert reference.part is not None
    thing: Any = import_module(reference.target)
    where = f"module `{reference.target}`"
    for name in reference.part.split("."):
        try:
            inner = getattr(thing, name)
        except AttributeError:
            close = nearest(name, (known for known in dir(thing) if not known.startswith("_")))
            hint = did_you_mean(close)
            raise CheckError("P202", f"{where} has no `{name}`", hint=hint) from None
        thing, where = inner, f"`{name}` of {where}"
    return thing


def split_list(text: str) -> list[str]:
    """The references of a list slot as written on the command line: commas separate, except in a `cmd:` line.

    >>> split_list("drafter, polisher"), split_list("cmd:rank --by a,b")
    (['drafter', 'polisher'], ['cmd:rank --by a,b'])
    """
    text = text.strip()
    if text.startswith("cmd:"):
        return [text]
    return [part.strip() for part in text.split(",") if part.strip()]


def _short(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
