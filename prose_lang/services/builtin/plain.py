"""The service `plain`: English rewritten in plain English by rules.

It edits wording, never content: wordy phrases, fillers, doubled words, long sentences, long words. It knows no
facts, checks no law, understands nothing, and leaves alone what it does not recognize.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prose_lang.services.builtin.atoms import Atom, split_atoms
from prose_lang.services.builtin.brief import text_of
from prose_lang.services.builtin.edits import replace_named, replace_phrases, replace_words
from prose_lang.services.builtin.page import Page, read_page
from prose_lang.services.builtin.rules import find
from prose_lang.services.builtin.splitting import split_long
from prose_lang.services.builtin.tables import all_rules

#: Sentences of more words than this are cut first, and of more than the second number last.
LONG_SENTENCE = 25
LONGISH_SENTENCE = 18

#: How deep suggestions are searched for texts.
_DEPTH = 6


def plain(
    task_brief: str,
    current_result: str | None = None,
    current_score: float | None = None,
    improvement_suggestions: object = None,
) -> str:
    """Rewrite English in plain English: the refiner of the `refine` pattern that needs no model.

    The first call works on `task_brief`, which is the text itself or the text after an instruction such as
    "Rewrite in plain English:". Later calls work on `current_result` and go one step further each time: wordy
    phrases, fillers and doubled words; then sentences of more than 25 words; then long words that have a plain
    synonym; then sentences of more than 18 words. A step with nothing to do is passed over, and when no step is left
    the text comes back unchanged. Phrases and words that `improvement_suggestions` mention (a text, or a list or
    object of texts) are replaced at once. `current_score` is taken, as the pattern sends it, and not looked at.

    What it is not: it follows tables and guesses, and does not understand the text. It keeps code, links, numbers,
    quotations, headings, tables and names to the letter, and returns other languages unchanged. Read the result
    before you rely on it, above all if it is a contract.

    >>> plain("It should be noted that the the form is utilized in order to apply.")
    'The form is utilized to apply.'
    >>> plain("", current_result="The form is utilized to apply.")
    'The form is used to apply.'
    """
    _require_text("plain", "task_brief", task_brief)
    if current_result is not None:
        _require_text("plain", "current_result", current_result)
    if current_result is None or not current_result.strip():
        return _improved(read_page(text_of(task_brief))).text
    page = _improved(read_page(current_result))
    named = _named(improvement_suggestions)
    return page.edited(lambda atoms: replace_named(atoms, named)).text if named else page.text


def _improved(page: Page) -> Page:
    """The page after the first step that finds something to do."""
    for step in _steps():
        changed = page.edited(step)
        if changed != page:
            return changed
    return page


def _steps() -> Iterator[Callable[[list[Atom]], list[Atom]]]:
    yield replace_phrases
    yield lambda atoms: split_long(atoms, LONG_SENTENCE)
    yield replace_words
    yield lambda atoms: split_long(atoms, LONGISH_SENTENCE)


def _named(suggestions: object) -> frozenset[str]:
    """The families of rules whose phrases the suggestions mention."""
    families: set[str] = set()
    for text in _texts(suggestions, _DEPTH):
        atoms = [piece for atom in split_atoms(text)[0] for piece in _opened(atom)]
        families.update(match.rule.family for match in find(atoms, all_rules(), anywhere=True))
    return frozenset(families)


def _opened(atom: Atom) -> list[Atom]:
    """A quotation in a suggestion is what it is about, so it is looked into; "Beginning with …" only tells a place."""
    if atom.kind != "quote":
        return [atom]
    return split_atoms(atom.text[1:-1])[0] if atom.text[-2] != "…" else []


def _texts(thing: object, depth: int) -> Iterator[str]:
    if isinstance(thing, str):
        yield thing
    elif depth and isinstance(thing, dict):
        for value in thing.values():
            yield from _texts(value, depth - 1)
    elif depth and isinstance(thing, (list, tuple)):
        for value in thing:
            yield from _texts(value, depth - 1)


def _require_text(service: str, name: str, value: object) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{service}: `{name}` must be a text, not {type(value).__name__}")
