"""Running from the sources that a record holds, where the files are not, or are not the same any more.

The texts are laid out in a temporary folder as they stood in their project, so that references between them resolve as
they did (L8). Shipped patterns come from the library of this installation; that they are the same is checked as for any
run that is gone on with.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePath

from prose_lang.diagnostics import CheckError
from prose_lang.documents.loader import Loader
from prose_lang.documents.model import Document
from prose_lang.documents.reader import read_document
from prose_lang.journal import SourceText
from prose_lang.text import Source


@contextmanager
def laid_out(sources: Sequence[SourceText], loader: Loader) -> Iterator[Document]:
    """The document of a run's pattern, read from its record; the others stand where it looks for them.

    Raises SourceError, and CheckError P501 for a record whose paths lead out of the folder.
    """
    main = sources[0]
    if main.path is None or main.inside is None:
        if main.name.startswith("stdlib:"):
            yield loader.load(main.name)
        else:
            yield read_document(Source(main.name, main.text))
        return
    root = _root(main.path, main.inside)
    with tempfile.TemporaryDirectory(prefix="prose-", ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        (folder / "prose.toml").touch()  # a project ends here, whatever stands above
        for source in sources:
            if source.path is not None:
                path = folder / _below(source.path, root)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(source.text.encode("utf-8", "surrogatepass"))
        yield loader.load_as(folder / _below(main.path, root), main.name)


def _root(path: str, inside: str) -> str:
    """The root of a project, from a path and what of it is below the root."""
    root = path
    for _ in PurePath(inside).parts:
        root = os.path.dirname(root)
    return root


def _below(path: str, root: str) -> PurePath:
    below = PurePath(os.path.relpath(path, root))
    if below.is_absolute() or ".." in below.parts or not below.name.endswith(".prose.md"):
        raise CheckError(
            "P501", f"the source `{path}` stands outside of the project that the run is of",
            hint="such a run is gone on with where its files are",
        )  # fmt: skip
    return below
