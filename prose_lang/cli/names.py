"""Names and values as they stand on the command line: `NAME=VALUE`, `NAME:=JSON`, `NAME=@FILE`, and upstream's
`--NAME VALUE` and `name: value` after `--`.

What a value must be is not known here. What is known is how far it is to be trusted: a literal argument may name
programs and files, what a file holds may not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import click

from prose_lang.cli.reading import Reader, json_value
from prose_lang.diagnostics import CheckError, Diagnostic, ProseError
from prose_lang.engine import Given
from prose_lang.text import Source

_NAME = r"([^\W\d][\w-]*)"
_ASSIGNMENT = re.compile(rf"{_NAME}(:=|=@|=)(.*)", re.DOTALL)
_ANSWER = re.compile(r"([^=]+?)(:=|=@|=)(.*)", re.DOTALL)
_OPTION = re.compile(rf"--{_NAME}(?:=(.*))?", re.DOTALL)
_LINE = re.compile(rf"{_NAME}:(?:\s+(.*))?", re.DOTALL)


class Word(NamedTuple):
    """A name with what was written for it; `form` is `=`, `:=` or `=@`."""

    name: str
    form: str
    text: str


def read_names(words: Iterable[str], after: Sequence[str], inputs: str | None, reader: Reader) -> dict[str, Given]:
    """What a pattern is given: the words before `--`, those after it, and the file of `--inputs`.

    Raises UsageError for a word that gives nothing, and CheckError with every other fault.

    >>> read_names(["a=1", "b:=[1]"], ["--c", "x y"], None, Reader())["c"].value
    'x y'
    """
    given = _from_file(inputs, reader) if inputs is not None else {}
    of_file = frozenset(given)
    found: list[Diagnostic] = []
    for word in [*(assignment(text) for text in words), *upstream(after)]:
        if word.name in given:
            where = ", once in the file of --inputs" if word.name in of_file else ""
            found.append(Diagnostic("P209", f"`{word.name}` is given twice{where}", None, None))
            continue
        try:
            given[word.name] = _value(word, reader)
        except ProseError as error:
            given[word.name] = Given(None)
            found.extend(error.diagnostics)
    if found:
        raise CheckError.from_diagnostics(found)
    return given


def read_answers(words: Iterable[str], reader: Reader) -> dict[str, Given]:
    """The answers of `prose answer`: like names, and the address of a call is a name too.

    >>> [given.value for given in read_answers(["delegation/0.call:person:=true"], Reader()).values()]
    [True]
    """
    given: dict[str, Given] = {}
    for text in words:
        match = _ANSWER.fullmatch(text)
        if match is None:
            raise _usage(f"`{text}` is not NAME=VALUE, NAME:=JSON or NAME=@FILE")
        word = Word(*match.groups())
        if word.name in given:
            raise CheckError("P209", f"`{word.name}` is answered twice")
        given[word.name] = _value(word, reader)
    return given


def assignment(text: str) -> Word:
    """A word that gives a name a value.

    >>> assignment("brief=@brief.txt")
    Word(name='brief', form='=@', text='brief.txt')
    """
    match = _ASSIGNMENT.fullmatch(text)
    if match is None:
        raise _usage(f"`{text}` is not NAME=VALUE, NAME:=JSON or NAME=@FILE")
    return Word(*match.groups())


def upstream(words: Sequence[str]) -> Iterator[Word]:
    """The words after `--`. A `name:` takes all words up to the next name, or the lines of one word.

    >>> [word.text for word in upstream(["--tone", "dry", "topic:", "rain", "in", "May", "depth: 2"])]
    ['dry', 'rain in May', '2']
    """
    rest = list(words)
    while rest:
        first = rest.pop(0)
        option, line = _OPTION.fullmatch(first), _LINE.fullmatch(first)
        if option is not None and option[2] is not None:
            yield Word(option[1], "=", option[2])
        elif option is not None:
            if not rest or _OPTION.fullmatch(rest[0]):
                raise _usage(f"`{first}` has no value")
            yield Word(option[1], "=", rest.pop(0))
        elif line is not None:
            lines = [part for part in first.splitlines() if part.strip()]
            if len(lines) > 1 and all(map(_LINE.fullmatch, lines)):
                rest[:0] = lines
                continue
            parts = [line[2]] if line[2] else []
            while rest and not _OPTION.fullmatch(rest[0]) and not _LINE.fullmatch(rest[0]):
                parts.append(rest.pop(0))
            yield Word(line[1], "=", " ".join(parts))
        else:
            yield assignment(first)


def _value(word: Word, reader: Reader) -> Given:
    match word.form:
        case ":=":
            source = Source(f"<argument {word.name}>", word.text)
            hint = f"for a text write {word.name}=…"
            return Given(json_value(source, f"`{word.name}`", hint), trusted=True)
        case "=@":
            return Given(reader.source(word.text, f"`{word.name}`").text.removeprefix("\ufeff"), text=True)
        case _:
            return Given(word.text, text=True, trusted=True)


def _from_file(path: str, reader: Reader) -> dict[str, Given]:
    source = reader.source(path, "the file of --inputs")
    data = json_value(source, "the file of --inputs")
    if not isinstance(data, dict):
        raise CheckError("P211", "the file of --inputs holds no JSON object of names", source=source)
    return {name: Given(value) for name, value in data.items()}


def _usage(message: str) -> click.UsageError:
    return click.UsageError(message, click.get_current_context(silent=True))
