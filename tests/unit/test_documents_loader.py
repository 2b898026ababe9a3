"""Loading files and looking up names (L8)."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from prose_lang import resources
from prose_lang.diagnostics import SourceError
from prose_lang.documents.loader import MAX_BYTES, Loader
from prose_lang.documents.model import Document, Entry
from prose_lang.documents.places import place_of
from prose_lang.documents.reader import read_document
from prose_lang.text import Source, Span


def text(name: str, *inline: str) -> str:
    return f"---\nname: {name}\nkind: function\n---\n" + "".join(f"## {entry}\n" for entry in inline)


def write(path: Path, name: str = "", *inline: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(name or path.name.removesuffix(".prose.md"), *inline), encoding="utf-8")
    return path


@pytest.fixture
def loader(tmp_path: Path) -> Loader:
    for name in ("refine", "race", "race.test"):
        write(tmp_path / "library" / f"{name}.prose.md", f"library-{name}")
    return Loader(tmp_path / "library")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "prose.toml").touch()
    return root


def name_of(found: Document | Entry | None) -> str | None:
    return None if found is None else found.name


# --- files -----------------------------------------------------------------------------------------------------------


def test_a_file_is_named_as_the_user_named_it(loader: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "a" / "x.prose.md")
    monkeypatch.chdir(tmp_path / "a")
    document = loader.load_path("../a/x.prose.md")
    assert document.source.name == "../a/x.prose.md"
    assert document.path == tmp_path / "a" / "x.prose.md"
    assert loader.load_path(Path("x.prose.md")).source.name == "x.prose.md"


def test_text_is_kept_as_it_is(loader: Loader, tmp_path: Path) -> None:
    path = tmp_path / "x.prose.md"
    path.write_bytes("\ufeff---\r\nname: é\r\nkind: test\r\n---\r\n".encode())
    document = loader.load_path(path)
    assert document.source.text == "\ufeff---\r\nname: é\r\nkind: test\r\n---\r\n"
    assert (document.name, document.diagnostics) == ("é", ())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"---\nname: \xff\n---\n", "is not UTF-8: line 2 holds the byte 0xFF"),
        (b"a\n\0", "is no text file: line 2 holds a NUL byte"),
        ("---\n".encode("utf-16"), "is UTF-16"),
    ],
)
def test_files_that_are_no_text(loader: Loader, tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "x.prose.md"
    path.write_bytes(data)
    with pytest.raises(SourceError) as caught:
        loader.load_path(path)
    assert (caught.value.code, caught.value.message) == ("P103", f"`{path}` {message}")


def test_files_that_cannot_be_read(loader: Loader, tmp_path: Path) -> None:
    write(tmp_path / "there.prose.md")
    for path, message, hint in (
        ("their.prose.md", "there is no file `{}`", "did you mean `there.prose.md`?"),
        ("no/such.prose.md", "there is no file `{}`", None),
        ("library", "`{}` is a folder", "give one of the files in it"),
        ("a\0b", "`{}` cannot be read: it is no valid path", None),
        ("n" * 5000, "`{}` cannot be read: file name too long", None),
    ):
        shown = f"{tmp_path}/{path}"
        with pytest.raises(SourceError) as caught:
            loader.load_path(shown)
        assert (caught.value.code, caught.value.message) == ("P103", message.format(shown))
        assert caught.value.hint == hint


def test_a_file_that_is_too_large(loader: Loader, tmp_path: Path) -> None:
    path = tmp_path / "x.prose.md"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(SourceError) as caught:
        loader.load_path(path)
    assert (caught.value.code, caught.value.message) == ("P103", f"`{path}` has more than 32 MB")


def test_a_document_is_kept_until_its_file_changes(loader: Loader, tmp_path: Path) -> None:
    path = write(tmp_path / "x.prose.md", "one")
    first = loader.load_path(path)
    assert loader.load_path(path) is first
    write(path, "another")
    assert loader.load_path(path).name == "another"


def test_threads_may_share_a_loader(loader: Loader, project: Path) -> None:
    origin = loader.load_path(write(project / "x.prose.md"))
    for index in range(20):
        write(project / "src" / f"n{index}.prose.md")
    found: list[str | None] = []

    def look_up() -> None:
        found.extend(name_of(loader.resolve(f"n{index}", origin)) for index in range(20))

    threads = [threading.Thread(target=look_up) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, found)) == sorted(f"n{index}" for index in range(20) for _ in threads)


# --- what a user means -----------------------------------------------------------------------------------------------


def test_loading_by_path_or_library_name(loader: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "mine.prose.md")
    assert loader.load("mine.prose.md").name == "mine"
    assert loader.load(tmp_path / "mine.prose.md").name == "mine"
    document = loader.load("refine")
    assert (document.name, document.source.name) == ("library-refine", "stdlib:refine")
    assert loader.load("stdlib:refine") is document
    assert loader.load("std/patterns/race").name == "library-race"
    write(tmp_path / "race", "a file of that name")
    assert loader.load("race").name == "a file of that name"


@pytest.mark.parametrize(
    ("reference", "message", "hint"),
    [
        ("stdlib:refin", "the library has no pattern `refin`", "did you mean `refine`?"),
        ("refin", "there is no file `refin`", "did you mean `refine`?"),
        ("stdlib:race.test", "there is no file `stdlib:race.test`", None),
        ("mine.prose", "there is no file `mine.prose`", "did you mean `mine.prose.md`?"),
    ],
)
def test_loading_what_is_not_there(
    loader: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reference: str, message: str, hint: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "mine.prose.md")
    with pytest.raises(SourceError) as caught:
        loader.load(reference)
    assert (caught.value.code, caught.value.message) == ("P103", message)
    if hint:
        assert caught.value.hint == hint


# --- references ------------------------------------------------------------------------------------------------------


def test_the_order_of_places(loader: Loader, project: Path) -> None:
    path = write(project / "flows" / "main.prose.md", "main", "refine")
    write(project / "flows" / "refine.prose.md", "beside-refine")
    write(project / "flows" / "race.prose.md", "beside-race")
    write(project / "src" / "race.prose.md", "src-race")
    write(project / "src" / "only.prose.md", "src-only")
    write(project / "src" / "folder" / "index.prose.md", "src-folder")
    write(project / "src" / "roles" / "writer.prose.md", "src-writer")
    origin = loader.load_path(path)
    inline = loader.resolve("refine", origin)
    assert isinstance(inline, Entry)
    names = {
        "race": "beside-race",
        "./race": "beside-race",
        "race.prose.md": "beside-race",
        "only": "src-only",
        "folder": "src-folder",
        "roles/writer": "src-writer",
        "std/patterns/race": "library-race",
        "stdlib:race": "library-race",
        "main": "main",
    }
    assert {reference: name_of(loader.resolve(reference, origin)) for reference in names} == names
    os.unlink(project / "flows" / "race.prose.md")
    assert name_of(loader.resolve("race", origin)) == "src-race"
    os.unlink(project / "src" / "race.prose.md")
    assert name_of(loader.resolve("race", origin)) == "library-race"


@pytest.mark.parametrize(
    "reference",
    ["nothing", "", "race.test", "stdlib:nothing", "std/roles/writer", "a b", "py:os:system", "cmd:x y", "model:a/b",
     "github.com/a/b/c", "a\0b", "n" * 5000, "race/", "a//b", ".hidden"],
)  # fmt: skip
def test_what_resolves_to_nothing(loader: Loader, project: Path, reference: str) -> None:
    origin = loader.load_path(write(project / "main.prose.md"))
    assert loader.resolve(reference, origin) is None


def test_names_of_files_found_by_reference(
    loader: Loader, project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write(project / "flows" / "main.prose.md")
    write(project / "flows" / "other.prose.md")
    write(project / "src" / "deep.prose.md")
    monkeypatch.chdir(project)
    origin = loader.load_path("flows/main.prose.md")

    def shown(reference: str) -> str:
        found = loader.resolve(reference, origin)
        assert isinstance(found, Document)
        return found.source.name

    assert shown("other") == str(Path("flows", "other.prose.md"))
    assert shown("deep") == str(Path("src", "deep.prose.md"))
    assert shown("refine") == "stdlib:refine"
    monkeypatch.chdir(tmp_path / "library")
    assert shown("deep") == str(project / "src" / "deep.prose.md")


def test_dependencies(loader: Loader, project: Path) -> None:
    write(project / "src" / "secret.prose.md")
    write(project / "deps/github.com/a/b/lib/one.prose.md", "one")
    write(project / "deps/github.com/a/b/lib/two.prose.md", "two")
    write(project / "deps/github.com/a/b/src/three.prose.md", "three")
    write(project / "deps/github.com/c/d/index.prose.md", "four")
    write(project / "deps/github.com/c/d/five.prose.md", "five")
    origin = loader.load_path(write(project / "src" / "main.prose.md"))
    one = loader.resolve("github.com/a/b/lib/one", origin)
    assert isinstance(one, Document)
    assert one.name == "one"
    assert name_of(loader.resolve("github.com/c/d/five.prose.md", origin)) == "five"
    # A dependency is a project of its own.
    assert name_of(loader.resolve("two", one)) == "two"
    assert name_of(loader.resolve("three", one)) == "three"
    assert name_of(loader.resolve("secret", one)) is None
    assert name_of(loader.resolve("github.com/c/d/five", one)) == "five"


@pytest.mark.parametrize(
    "reference",
    ["../x", "a/../../x", "..", "a/..", "/etc/passwd", "~/x", "~", "C:/x", "c:\\x", "..\\x", "a\\b", "\\\\host\\x",
     "github.com/a/b/../../../../x"],
)  # fmt: skip
def test_references_cannot_leave_their_root(loader: Loader, project: Path, reference: str) -> None:
    origin = loader.load_path(write(project / "main.prose.md"))
    write(project.parent / "x.prose.md")
    with pytest.raises(SourceError) as caught:
        loader.resolve(reference, origin, Span(3, 5))
    error = caught.value
    assert (error.code, error.source, error.span) == ("P109", origin.source, Span(3, 5))
    assert error.message == f"`{reference}` leads outside of the folder that `{origin.source.name}` may use"


@pytest.mark.parametrize("folder", ["", "src"])
@pytest.mark.parametrize("through_folder", [False, True])
def test_links_that_leave_the_root_are_refused(
    loader: Loader, project: Path, folder: str, through_folder: bool
) -> None:
    origin = loader.load_path(write(project / "main.prose.md"))
    outside = write(project.parent / "outside" / "x.prose.md")
    if through_folder:
        (project / folder / "link").symlink_to(outside.parent)
    else:
        (project / folder / "link.prose.md").symlink_to(outside)
    with pytest.raises(SourceError) as caught:
        loader.resolve("link/x" if through_folder else "link", origin)
    assert caught.value.code == "P109"


def test_links_inside_the_root_are_followed(loader: Loader, project: Path) -> None:
    origin = loader.load_path(write(project / "flows" / "main.prose.md"))
    (project / "flows" / "link.prose.md").symlink_to(write(project / "shared" / "x.prose.md"))
    assert name_of(loader.resolve("link", origin)) == "x"


def test_a_dependency_that_is_a_link_out_of_deps_is_refused(loader: Loader, project: Path) -> None:
    origin = loader.load_path(write(project / "main.prose.md"))
    write(project / "elsewhere" / "b" / "one.prose.md")
    (project / "deps/github.com/a").mkdir(parents=True)
    (project / "deps/github.com/a/b").symlink_to(project / "elsewhere" / "b")
    with pytest.raises(SourceError) as caught:
        loader.resolve("github.com/a/b/one", origin)
    assert caught.value.code == "P109"


def test_a_path_of_the_user_may_lead_through_a_link(loader: Loader, project: Path) -> None:
    write(project.parent / "outside" / "main.prose.md")
    write(project.parent / "outside" / "other.prose.md")
    (project / "link").symlink_to(project.parent / "outside")
    origin = loader.load_path(project / "link" / "main.prose.md")
    assert name_of(loader.resolve("other", origin)) == "other"


def test_a_document_without_a_file_sees_its_entries_and_the_library(loader: Loader) -> None:
    origin = read_document(Source("<text>", text("x", "inline")))
    assert name_of(loader.resolve("inline", origin)) == "inline"
    assert name_of(loader.resolve("refine", origin)) == "library-refine"
    assert loader.resolve("other", origin) is None
    assert loader.names(origin) == ["inline", "race", "refine"]


def test_library_patterns_do_not_see_the_project_around_them(project: Path) -> None:
    library = project / "env" / "library"
    write(library / "one.prose.md")
    write(library / "two.prose.md")
    write(project / "src" / "mine.prose.md")
    loader = Loader(library)
    one = loader.load("one")
    assert name_of(loader.resolve("two", one)) == "two"
    assert loader.resolve("mine", one) is None


def test_a_file_that_is_found_but_unreadable(loader: Loader, project: Path) -> None:
    origin = loader.load_path(write(project / "main.prose.md"))
    (project / "broken.prose.md").write_bytes(b"\xff")
    with pytest.raises(SourceError) as caught:
        loader.resolve("broken", origin)
    assert caught.value.code == "P103"


def test_names(loader: Loader, project: Path) -> None:
    origin = loader.load_path(write(project / "flows" / "main.prose.md", "main", "inline"))
    write(project / "flows" / "beside.prose.md")
    write(project / "src" / "deep.prose.md")
    (project / "flows" / "README.md").touch()
    assert loader.names(origin) == ["beside", "deep", "inline", "main", "race", "refine"]


# --- places ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("marker", ["prose.toml", "pyproject.toml", ".git", "deps"])
def test_the_root_of_a_project(tmp_path: Path, marker: str) -> None:
    path = tmp_path / "p" / "a" / "b" / "x.prose.md"
    path.parent.mkdir(parents=True)
    assert place_of(path).root == path.parent
    (tmp_path / "p" / marker).mkdir()
    assert place_of(path).root == path.parent
    (tmp_path / "p" / "src").mkdir()
    place = place_of(path)
    assert (place.folder, place.root, place.deps) == (path.parent, tmp_path / "p", tmp_path / "p" / "deps")
    assert place.source_folder == tmp_path / "p" / "src"


def test_the_nearest_project_counts(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "inner"):
        (folder / "src").mkdir(parents=True)
        (folder / "prose.toml").touch()
    assert place_of(tmp_path / "inner" / "x.prose.md").root == tmp_path / "inner"


# --- resources -------------------------------------------------------------------------------------------------------


def test_the_data_files_are_found() -> None:
    assert "start" in resources.grammar_text()
    assert resources.library_names() == sorted(resources.library_names())
    assert resources.library_path("../pyproject") is None
    assert resources.library_path("") is None
    for name in resources.library_names():
        path = resources.library_path(name)
        assert path is not None
        assert path.is_file()
