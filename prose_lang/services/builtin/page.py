"""A text as both services see it: its blocks, the atoms of those that are English prose, and edits to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from prose_lang.services.builtin.atoms import Atom, join_atoms, split_atoms
from prose_lang.services.builtin.blocks import Block, split_blocks
from prose_lang.services.builtin.english import looks_english

#: Fewer words than this do not tell their language.
_TELLING = 12


@attrs.frozen
class Passage:
    """A block with its atoms. `editable` passages are English prose; the others are kept to the letter."""

    block: Block
    atoms: list[Atom]
    tail: str
    editable: bool

    @property
    def text(self) -> str:
        """The passage as it stands in the text."""
        body = join_atoms(self.atoms, self.tail) if self.editable else self.block.body
        return self.block.prefix + body + self.block.suffix


@attrs.frozen
class Page:
    """A text taken apart. `english` tells whether its prose is English as a whole."""

    passages: tuple[Passage, ...]
    english: bool

    @property
    def text(self) -> str:
        """The whole text; unchanged if nothing was edited."""
        return "".join([passage.text for passage in self.passages])

    @property
    def prose(self) -> list[Passage]:
        """The passages of running text, in whatever language."""
        return [passage for passage in self.passages if passage.block.prose]

    def edited(self, edit: Callable[[list[Atom]], list[Atom]]) -> Page:
        """The page with an edit applied to its English prose."""
        changed = tuple(
            attrs.evolve(passage, atoms=edit(passage.atoms)) if passage.editable else passage
            for passage in self.passages
        )
        return Page(changed, self.english)


def read_page(text: str) -> Page:
    """Take a text apart.

    >>> page = read_page("# Title\\n\\nIn order to apply, call us.\\n")
    >>> [atom.text for atom in page.prose[0].atoms][:3], page.text
    (['In', 'order', 'to'], '# Title\\n\\nIn order to apply, call us.\\n')
    """
    taken = [(block, *split_atoms(block.body if block.prose else "")) for block in split_blocks(text)]
    everything = [word for _, atoms, _ in taken for word in _words(atoms)]
    english = _is_english(everything)
    passages = []
    for block, atoms, tail in taken:
        words = _words(atoms)
        editable = block.prose and (english if len(words) < _TELLING else looks_english(words))
        passages.append(Passage(block, atoms, tail, editable))
    return Page(tuple(passages), english)


def _words(atoms: Sequence[Atom]) -> list[str]:
    return [atom.text.lower() for atom in atoms if atom.kind == "word"]


def _is_english(words: Sequence[str]) -> bool:
    if len(words) < _TELLING:
        return all(word.isascii() for word in words)
    return looks_english(words)
