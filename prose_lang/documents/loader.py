"""Loading documents from files, and looking up what they name (L8). Nothing is fetched from anywhere.

Roots, and why a reference cannot leave them, are explained in `places.py`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePath

import attrs

from prose_lang import resources
from prose_lang.diagnostics import SourceError
from prose_lang.documents.model import Document, Entry
from prose_lang.documents.places import Place, place_of
from prose_lang.documents.reader import read_document
from prose_lang.text import Source, Span, did_you_mean, nearest

#: No source is larger; the text itself is far below, so that a wrong path cannot fill the memory.
MAX_BYTES = 32 * 1024 * 1024

_SUFFIX = ".prose.md"
_REFERENCE = re.compile(r"[\w@-][\w.@-]*(?:/[\w@-][\w.@-]*)*")
_ESCAPES = re.compile(r"[/\\~]|[A-Za-z]:[/\\]|(?:.*[/\\])?\.\.(?:[/\\]|$)|.*\\", re.DOTALL)
_LIBRARY = re.compile(r"(?:stdlib:|std/patterns/)(?P<name>[\w-]+)")


@attrs.frozen(eq=False)
class Loader:
    """Loads documents and keeps them as long as their files do not change. It may be used by several threads.

    `library` is the folder of the shipped patterns.
    """

    library: Path = attrs.field(factory=resources.library_folder)
    _kept: dict[tuple[str, str], tuple[tuple[int, int], Document]] = attrs.field(init=False, factory=dict, repr=False)

    def load(self, reference: str | os.PathLike[str]) -> Document:
        """The document that a user means by a path, `stdlib:NAME`, or the bare name of a shipped pattern.

        Raises `SourceError` P103.
        """
        reference = os.fspath(reference)
        library = _LIBRARY.fullmatch(reference)
        if library is None and os.path.lexists(reference):
            return self.load_path(reference)
        document = self._from_library(library["name"] if library else reference)
        if document is not None:
            return document
        if library is None:
            near = [f"{name}{_SUFFIX}" for name in _names_in(Path(reference).parent)]
            raise _missing(reference, [*near, *self.library_names()])
        hint = _hint(library["name"], self.library_names())
        raise SourceError("P103", f"the library has no pattern `{library['name']}`", hint=hint)

    def load_path(self, path: str | os.PathLike[str]) -> Document:
        """The document in a file that the user chose; errors name it as the user did. Raises `SourceError` P103."""
        shown = os.fspath(path)
        return self._load(Path(os.path.abspath(shown)), shown)

    def load_as(self, path: str | os.PathLike[str], shown: str) -> Document:
        """The document in a file, under the name by which it was reported before. Raises `SourceError` P103."""
        return self._load(Path(path), shown)

    def resolve(self, reference: str, origin: Document, span: Span | None = None) -> Document | Entry | None:
        """What a document means by a name (L8), or None if there is no such thing.

        Looked at in this order: the inline entries of the document, files beside it, the project's `src/`, the shipped
        library; `std/patterns/NAME` and `stdlib:NAME` mean the library only, `host/owner/repo/path` only what is
        installed in `deps/`. A reference that leads outside of its root raises `SourceError` P109, placed at `span`; a
        file that is found and cannot be read raises P103.
        """
        inline = origin.entry(reference)
        if inline is not None:
            return inline
        if library := _LIBRARY.fullmatch(reference):
            return self._from_library(library["name"])
        if _ESCAPES.match(reference):
            raise _outside(reference, origin, span)
        reference = reference.removeprefix("./")
        if not _REFERENCE.fullmatch(reference):
            return None
        if origin.path is not None:
            place = self._place(origin.path)
            for folder in _folders(reference, place):
                for path in _candidates(folder, reference):
                    if not place.allows(path, folder):
                        raise _outside(reference, origin, span, through_link=True)
                    return self._load(path, _shown(path, origin))
        return self._from_library(reference)

    def looked_for(self, reference: str, origin: Document) -> str | None:
        """Where a reference that resolves to nothing was looked for, as a hint says it; None for what is no path.

        >>> from prose_lang.documents.reader import read_document
        >>> Loader().looked_for("stdlib:nothing", read_document(Source("-", "return 1")))
        '`prose list` shows what the library holds'
        """
        if _LIBRARY.fullmatch(reference):
            close = _hint(reference.rpartition(":")[2].rpartition("/")[2], self.library_names())
            return close or "`prose list` shows what the library holds"
        reference = reference.removeprefix("./")
        if not _REFERENCE.fullmatch(reference):
            return None
        if origin.path is None:
            return "a text that stands in no file sees its own entries and the library only"
        place = self._place(origin.path)
        folders = list(_folders(reference, place))
        names = _spellings(reference)
        if folders == [place.deps]:
            files = " or ".join(f"`{_shown(place.deps / name, origin)}`" for name in names)
            return f"install it as {files}; nothing is fetched"
        if close := _hint(reference, self.names(origin)):
            return close
        beside, *source = (f"`{_shown(folder / names[0], origin)}`" for folder in folders if folder.is_dir())
        return f"looked for {beside}" + "".join(f" and {path}" for path in source)

    def root(self, document: Document) -> Path:
        """The folder of a document's project; of one that is no file, or a shipped one, the working directory."""
        if document.path is None or document.path.parent == self.library:
            return Path.cwd()
        return self._place(document.path).root

    def names(self, origin: Document) -> list[str]:
        """The names that resolve in a document, sorted; of files only those in the folders themselves."""
        found = {entry.name for entry in origin.entries[1:] if not entry.is_documentation}
        if origin.path is not None:
            place = self._place(origin.path)
            found.update(_names_in(place.folder), _names_in(place.source_folder))
        return sorted(name for name in found.union(self.library_names()) if not name.endswith(".test"))

    def library_names(self) -> list[str]:
        """The names of the shipped patterns, sorted."""
        return sorted(name for name in _names_in(self.library) if not name.endswith(".test"))

    def _from_library(self, name: str) -> Document | None:
        if name not in self.library_names():
            return None
        return self._load(self.library / f"{name}{_SUFFIX}", f"stdlib:{name}")

    def _place(self, path: Path) -> Place:
        # The library may be installed below a project, which is not its own.
        if path.parent == self.library:
            return Place(self.library, self.library, self.library / "deps")
        return place_of(path)

    def _load(self, path: Path, shown: str) -> Document:
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            kept = self._kept.get((str(path), shown))
            if kept is not None and kept[0] == stamp:
                return kept[1]
            text = _decoded(_content(path, shown), shown)
        except (OSError, ValueError) as error:
            raise _unreadable(path, shown, error) from None
        document = read_document(Source(shown, text), path)
        self._kept[str(path), shown] = (stamp, document)
        return document


def _folders(reference: str, place: Place) -> Iterator[Path]:
    """Where a name is looked for, in order."""
    host, _, path = reference.partition("/")
    if "." in host and path.count("/") >= 2:
        yield place.deps
    else:
        yield place.folder
        yield place.source_folder


def _candidates(folder: Path, reference: str) -> Iterator[Path]:
    """The files in a folder that a reference can mean and that exist."""
    for name in _spellings(reference):
        if os.path.isfile(folder / name):
            yield folder / name


def _spellings(reference: str) -> list[str]:
    """The file names that a reference can mean, below the folder in which it is looked for."""
    return [reference] if reference.endswith(_SUFFIX) else [f"{reference}{_SUFFIX}", f"{reference}/index{_SUFFIX}"]


def _names_in(folder: Path) -> Iterator[str]:
    try:
        files = os.listdir(folder)
    except (OSError, ValueError):
        return
    yield from (file.removesuffix(_SUFFIX) for file in files if file.endswith(_SUFFIX) and file != _SUFFIX)


def _shown(path: Path, origin: Document) -> str:
    """The name that a file found by a reference is reported under: in the user's terms where there are any."""
    if origin.path is not None and path.parent == origin.path.parent and not origin.source.name.startswith("stdlib:"):
        return str(PurePath(origin.source.name).parent / path.name)
    try:
        return str(path.relative_to(Path.cwd()))
    except (OSError, ValueError):
        return str(path)


def _content(path: Path, shown: str) -> bytes:
    with path.open("rb") as file:
        data = file.read(MAX_BYTES + 1)  # what is no plain file tells no size
    if len(data) > MAX_BYTES:
        raise SourceError("P103", f"`{shown}` has more than {MAX_BYTES // 1024 // 1024} MB")
    return data


def _decoded(data: bytes, shown: str) -> str:
    """The text of a file; it must be UTF-8 and may not hold NUL."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise SourceError("P103", f"`{shown}` is UTF-16", hint="save it as UTF-8")
    if (nul := data.find(b"\0")) >= 0:
        line = data.count(b"\n", 0, nul) + 1
        raise SourceError("P103", f"`{shown}` is no text file: line {line} holds a NUL byte")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"`{shown}` is not UTF-8: line {line} holds the byte 0x{data[error.start]:02X}"
        raise SourceError("P103", message, hint="save it as UTF-8") from None


def _unreadable(path: Path, shown: str, error: OSError | ValueError) -> SourceError:
    if isinstance(error, FileNotFoundError):
        return _missing(shown, [f"{name}{_SUFFIX}" for name in _names_in(path.parent)])
    if isinstance(error, IsADirectoryError):
        return SourceError("P103", f"`{shown}` is a folder", hint="give one of the files in it")
    reason = (error.strerror if isinstance(error, OSError) else None) or "it is no valid path"
    return SourceError("P103", f"`{shown}` cannot be read: {reason.lower()}")


def _missing(shown: str, near: list[str]) -> SourceError:
    return SourceError("P103", f"there is no file `{shown}`", hint=_hint(PurePath(shown).name, near))


def _outside(reference: str, origin: Document, span: Span | None, *, through_link: bool = False) -> SourceError:
    message = f"`{reference}` leads outside of the folder that `{origin.source.name}` may use"
    hint = "name a file beside it or in the project's `src/`, without `..` and without a leading `/`"
    if through_link:
        hint = "the file is a link to one that stands elsewhere; put the file itself there"
    return SourceError("P109", message, source=origin.source, span=span, hint=hint)


def _hint(name: str, names: list[str]) -> str | None:
    guesses = nearest(name, names)
    return did_you_mean(guesses)
