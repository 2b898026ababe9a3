"""`@service`, the services of a module, and `--services FILE`."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from prose_lang.diagnostics import CheckError, SourceError
from prose_lang.services import (
    CommandService,
    FunctionService,
    WorkerThreads,
    as_service,
    load_services_file,
    options_of,
    service,
    services_of,
)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current folder; what is imported from it is forgotten afterwards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


class TestDecorator:
    def test_the_function_stays_what_it_was(self) -> None:
        def evaluator(text: str) -> str:
            return text

        assert service(evaluator) is evaluator
        assert service(name="other", inline=True, max_concurrency=3)(evaluator) is evaluator
        options = options_of(evaluator)
        assert options is not None
        assert (options.name, options.inline, options.max_concurrency) == ("other", True, 3)

    def test_an_unmarked_function_has_no_options(self) -> None:
        assert options_of(len) is None
        assert options_of(None) is None

    def test_wrong_options(self) -> None:
        for name in ("", "two words", "trailing-", "1st", "a.b"):
            with pytest.raises(ValueError, match="cannot be called by a program"):
                service(name=name)
        for number in (0, -1, True):
            with pytest.raises(ValueError, match="max_concurrency must be 1 or more"):
                service(max_concurrency=number)

    def test_what_cannot_be_marked(self) -> None:
        def pieces() -> Any:
            yield 1

        with pytest.raises(TypeError, match="pieces is a generator function"):
            service(pieces)
        with pytest.raises(TypeError, match="Path is a class; mark a function"):
            service(Path)
        with pytest.raises(TypeError, match="must be a function or another callable, not str"):
            service("evaluator")  # type: ignore[call-overload]
        with pytest.raises(TypeError, match="cannot be marked; write a function around it"):
            service(len)


class TestServicesOf:
    def test_marked_functions_in_order_each_once(self) -> None:
        module = types.ModuleType("module")

        @service
        def zebra() -> None: ...

        @service(name="the-ant")
        def ant() -> None: ...

        partial = service(functools.partial(zebra))
        vars(module).update(zebra=zebra, alias=zebra, ant=ant, helper=lambda: None, given=partial, number=5)
        pool = WorkerThreads()
        found = services_of(module, threads=pool)
        assert {name: bound.function for name, bound in found.items()} == {
            "zebra": zebra,
            "the-ant": ant,
            "given": partial,
        }
        assert [bound.name for bound in found.values()] == ["zebra", "the-ant", "given"]

    def test_two_functions_of_one_name(self) -> None:
        module = types.ModuleType("module")

        @service
        def ant() -> None: ...

        @service(name="ant")
        def other() -> None: ...

        vars(module).update(ant=ant, other=other)
        with pytest.raises(CheckError, match="two functions in module are services of the name `ant`") as caught:
            services_of(module)
        assert caught.value.code == "P207"


class TestAsService:
    def test_services_stay_and_callables_become_services(self) -> None:
        command = CommandService("cat")
        assert as_service(command) is command
        made = as_service(str.upper, name="shout")
        assert isinstance(made, FunctionService)
        assert made.name == "shout"

    def test_anything_else_is_p202(self) -> None:
        for thing in (5, "critic", None):
            with pytest.raises(CheckError, match="must be a function or another callable") as caught:
                as_service(thing, name="slot")
            assert (caught.value.code, caught.value.service) == ("P202", "slot")


class TestLoading:
    def test_a_file_with_the_modules_beside_it(self, here: Path) -> None:
        folder = here / "some folder"
        folder.mkdir()
        (folder / "beside.py").write_text("WORD = 'beside'\n")
        (folder / "later.py").write_text("WORD = 'later'\n")
        (folder / "my services.py").write_text(
            "from __future__ import annotations\n"
            "import dataclasses\n"
            "import beside\n"
            "import prose_lang.services as prose\n"
            "@dataclasses.dataclass\n"
            "class Draft:\n"
            "    text: str\n"
            "@prose.service\n"
            "def evaluator(draft: Draft) -> str:\n"
            "    import later\n"
            "    return beside.WORD + later.WORD\n"
        )
        found = load_services_file("some folder/my services.py")
        assert list(found) == ["evaluator"]
        assert [p.type.text for p in found["evaluator"].signature.parameters] == ["object"]
        assert found["evaluator"].function(None) == "besidelater"
        assert sys.path[0] != str(folder)
        assert sys.path[-1] == str(folder)

    def test_two_files_of_one_name_do_not_meet(self, here: Path) -> None:
        for name in ("a", "b"):
            (here / name).mkdir()
            (here / name / "services.py").write_text(
                f"from prose_lang.services import service\n@service\ndef {name}(): return '{name}'\n"
            )
        first, second = load_services_file("a/services.py"), load_services_file("b/services.py")
        assert [first["a"].function(), second["b"].function()] == ["a", "b"]

    def test_a_module_of_the_current_folder(self, here: Path) -> None:
        (here / "judges_here.py").write_text(
            "from prose_lang.services import service\n@service\nasync def judge(condition): ...\n"
        )
        assert list(load_services_file("judges_here")) == ["judge"]

    @pytest.mark.parametrize("path", ["missing.py", "no/such/file"])
    def test_a_missing_file(self, here: Path, path: str) -> None:
        with pytest.raises(SourceError, match="does not exist") as caught:
            load_services_file(path)
        assert caught.value.code == "P103"

    def test_a_folder_and_a_file_of_another_kind(self, here: Path) -> None:
        (here / "folder.py").mkdir()
        (here / "notes").mkdir()
        (here / "notes" / "notes.txt").write_text("")
        for path, said in (("folder.py", "is a folder"), ("notes/notes.txt", "its name does not end in .py")):
            with pytest.raises(SourceError, match=said) as caught:
                load_services_file(path)
            assert caught.value.code == "P103"

    def test_a_missing_module_with_the_nearest_file(self, here: Path) -> None:
        (here / "judges.py").write_text("")
        with pytest.raises(CheckError, match="there is no Python module `judgse`") as caught:
            load_services_file("judgse")
        assert (caught.value.code, caught.value.hint) == ("P109", "did you mean `judges`?")

    def test_nothing_marked(self, here: Path) -> None:
        (here / "empty.py").write_text("def evaluator(): ...\n")
        with pytest.raises(CheckError, match=r"empty\.py has no services") as caught:
            load_services_file("empty.py")
        assert caught.value.code == "P109"

    @pytest.mark.parametrize(
        ("text", "said", "line"),
        [
            ("x = 1\n\nimport no_such_thing_here\n", "ModuleNotFoundError: No module named 'no_such_thing_here'", 3),
            ("def f():\n    return 1 / 0\n\nf()\n", "ZeroDivisionError: division by zero", 2),
            ("x = 1\nif x\n    pass\n", "SyntaxError: expected ':'", 2),
            ("import sys\nsys.exit(3)\n", "SystemExit: 3", 2),
            ("import json\njson.loads('{')\n", "JSONDecodeError: Expecting property name enclosed in double quotes", 2),
        ],
    )
    def test_a_failing_import_names_the_line(self, here: Path, text: str, said: str, line: int) -> None:
        (here / "broken.py").write_text(text)
        for name in ("broken.py", "broken"):
            with pytest.raises(SourceError) as caught:
                load_services_file(name)
            diagnostic = caught.value.as_diagnostic()
            assert diagnostic.code == "P103"
            assert diagnostic.message.startswith(f"importing {name} failed: ")
            assert said in diagnostic.message
            assert diagnostic.source is not None
            assert diagnostic.source.name == str(here / "broken.py")
            assert diagnostic.line == line
        assert not [name for name in sys.modules if name.startswith("prose_services_broken")]

    def test_an_import_that_fails_in_a_module_beside_it(self, here: Path) -> None:
        (here / "beside.py").write_text("raise ValueError('beside')\n")
        (here / "services.py").write_text("import os\nimport beside\n")
        with pytest.raises(SourceError, match="ValueError: beside") as caught:
            load_services_file("services.py")
        assert caught.value.as_diagnostic().line == 2

    def test_an_error_of_this_package_keeps_its_own_words(self, here: Path) -> None:
        (here / "services.py").write_text("from prose_lang.services import ref\nref('py:judges')\n")
        with pytest.raises(CheckError, match="is not a Python reference") as caught:
            load_services_file("services.py")
        assert caught.value.code == "P109"
