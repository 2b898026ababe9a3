"""Secrets stay inside: the one place that takes them out of what is about to be shown, written or sent.

Every sink (standard output and error, traces, run records, reports) gives its texts and values to the run's
`Redactor` first. Which sinks there are, and where the secrets of a run come from besides the environment, is not
known here. A text must come here whole: half a secret, cut off by a clipped line, is not recognised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus, unquote

import attrs

MARK = "[redacted]"

#: Anything shorter would be found inside ordinary words.
SHORTEST = 8

# Names whose values are keys. `MAX_TOKENS`, `PWD` and GOOGLE_APPLICATION_CREDENTIALS (a path) are not among them.
_KEY_NAME = re.compile(
    r"((^|_)(API)?KEY|ACCESS_KEY_ID|SECRET_KEY_BASE|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|_PASS|_PWD|_PAT"
    r"|(?<!APPLICATION_)CREDENTIALS?)$",
    re.IGNORECASE,
)
# A database address is a key in disguise: its password is one.
_ADDRESS_NAME = re.compile(r"(^|_)(URL|URI|DSN)$|^PROSE_STORE$", re.IGNORECASE)
_ADDRESS_PASSWORD = re.compile(r"://[^/@:\s]*:([^/@\s]+)@")
_PERCENT = re.compile(r"%[0-9A-F]{2}")


def is_secret_name(name: str) -> bool:
    """Whether the value of an environment variable of this name is taken for a key.

    >>> is_secret_name("OPENAI_API_KEY"), is_secret_name("HOME")
    (True, False)
    """
    return _KEY_NAME.search(name) is not None


def _forms_of(secrets: Iterable[str]) -> tuple[str, ...]:
    forms = {form for secret in secrets for form in _forms(secret) if len(form) >= SHORTEST}
    # What the mark itself says cannot be hidden by it, and would be found in it again on a second pass.
    return tuple(sorted((form for form in forms if form not in MARK), key=lambda form: (-len(form), form)))


def _forms(secret: str) -> Iterator[str]:
    """The ways in which a secret may be written: as it is, line by line, inside JSON, inside a URL."""
    for plain in {secret, secret.strip(), *(line.strip() for line in secret.splitlines())}:
        if len(plain) < SHORTEST:
            continue
        yield plain
        yield json.dumps(plain)[1:-1]
        yield json.dumps(plain, ensure_ascii=False)[1:-1]
        for encoded in (quote(plain, safe="", errors="replace"), quote(plain, errors="replace"), _plus(plain)):
            yield encoded
            yield _PERCENT.sub(lambda match: match.group().lower(), encoded)


def _plus(text: str) -> str:
    return quote_plus(text, errors="replace")


@attrs.frozen
class Redactor:
    """Replaces every occurrence of a secret, in any of the forms it may be written in, by `[redacted]`.

    Secrets shorter than 8 characters are ignored. Where occurrences overlap, all that they cover is replaced.

    >>> Redactor(["sk-12345678"]).text("key=sk-12345678!")
    'key=[redacted]!'
    """

    _forms: tuple[str, ...] = attrs.field(converter=_forms_of, alias="secrets", repr=False)

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], more: Iterable[str] = ()) -> Redactor:
        """The redactor of the values of all variables whose names look like keys, and of passwords in addresses.

        `more` are secrets that are known from elsewhere.

        >>> Redactor.from_environment({"OPENAI_API_KEY": "sk-12345678", "HOME": "/srv/ann"}).text("sk-12345678")
        '[redacted]'
        """
        secrets = [*more, *(value for name, value in environ.items() if is_secret_name(name))]
        for name, value in environ.items():
            if _ADDRESS_NAME.search(name):
                for match in _ADDRESS_PASSWORD.finditer(value):
                    secrets += [match.group(1), unquote(match.group(1))]
        return cls(secrets)

    def text(self, text: str) -> str:
        """The text without secrets; the very same object if it holds none."""
        if not self._forms or len(text) < SHORTEST:
            return text
        found = [form for form in self._forms if form in text]
        if not found:
            return text
        parts = []
        copied = 0
        for start, end in _merged(found, text):
            parts += [text[copied:start], MARK]
            copied = end
        parts.append(text[copied:])
        return "".join(parts)

    def value(self, value: Any) -> Any:
        """A JSON value without secrets, keys included: a copy, or the value itself when there is nothing to hide."""
        if not self._forms:
            return value
        # An explicit stack: values may be nested deeper than Python recurses.
        top: list[Any] = [value]
        open_places: list[tuple[Any, Any, Any]] = [(top, 0, value)]
        while open_places:
            holder, key, item = open_places.pop()
            if isinstance(item, str):
                holder[key] = self.text(item)
            elif isinstance(item, (list, tuple)):
                holder[key] = copy = list(item)
                open_places.extend((copy, index, part) for index, part in enumerate(item))
            elif isinstance(item, dict):
                names = {name: self.text(name) if isinstance(name, str) else name for name in item}
                holder[key] = fresh = dict.fromkeys(names.values())
                open_places.extend((fresh, names[name], part) for name, part in item.items())
            else:
                holder[key] = item
        return top[0]


def _merged(forms: Iterable[str], text: str) -> list[tuple[int, int]]:
    """The stretches of the text that the forms cover, in order; overlapping ones are one."""
    places = []
    for form in forms:
        start = text.find(form)
        while start >= 0:
            places.append((start, start + len(form)))
            start = text.find(form, start + 1)
    merged: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
