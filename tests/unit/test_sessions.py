"""Sessions (L29) beyond the corpus: what stands in for them, and conversations that outlive a run."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from models_fakes import Fake

from prose_lang import Cassette, Engine, Outcome, Script, TextDelta
from prose_lang.diagnostics import RunError
from prose_lang.diagnostics.redact import Redactor
from prose_lang.engine import conversations
from prose_lang.engine.conversations import ConversationFiles
from prose_lang.runtime.conversations import Key, Turn

KEY = Key("project", "poet")
TURN = Turn("Hi", {"a": 1}, "Hello", "r1", "delegation/0.session")


def program(persist: str, *statements: str) -> str:
    said = "\n".join(f"{word}: poet\n  prompt: {text}" for word, text in map(str.split, statements))
    return f"agent poet:\n  persist: {persist}\n{said}\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is the working directory, and a user's data folder beside it."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return root


def run(text: str, **options: Any) -> Outcome:
    engine = Engine(**(options or {"script": Script.from_data({"session": {"always": "ok"}})}))
    return engine.outcome(engine.loads(text), {})


def sent(outcome: Outcome) -> list[dict[str, Any]]:
    return [call.inputs for call in outcome.trace.calls]


# --- what does them --------------------------------------------------------------------------------------------------


def test_a_function_gets_what_it_declares() -> None:
    seen = []

    def poet(prompt: str, conversation: list[Any] | None = None, role: str | None = None) -> str:
        seen.append((prompt, conversation, role))
        return prompt.upper()

    def session(context: Any = None) -> str:
        seen.append(context)
        return "all"

    text = (
        'agent poet:\n  prompt: "You rhyme"\n  persist: true\nsession: poet\n  prompt: "a"\n  context: 1\n'
        'resume: poet\n  prompt: "b"\nreturn session "c"\n  context: { d: 2 }\n'
    )
    assert run(text, services=[poet, session]).value == "all"
    assert seen == [
        ("a", None, "You rhyme"),
        ("b", [{"prompt": "a", "context": 1, "answer": "A"}], "You rhyme"),
        {"d": 2},
    ]


def test_a_function_gets_none_for_what_no_session_sends() -> None:
    def poet(topic: str | None) -> str:
        return f"{topic}"

    assert run('agent poet:\n  model: fast\nreturn session: poet\n  prompt: "a"\n', services=[poet]).value == "None"


def test_built_in_services_and_entries_stand_in_for_no_agent() -> None:
    fake = Fake("by the model")
    text = 'agent readability:\n  prompt: "You read"\nreturn session: readability\n  prompt: "a"\n'
    assert run(text, completion=fake, model="openai/m").value == "by the model"


@pytest.mark.parametrize(
    ("text", "spent"),
    [
        ('call first\nsession "x"\n', False),
        ('agent poet:\n  prompt: "p"\ncall first\nsession: poet\n', False),
        ("agent poet:\n  model: openai/own\ncall first\nsession: poet\n", True),
    ],
)
def test_a_missing_key_is_told_before_anything_is_spent(
    monkeypatch: pytest.MonkeyPatch, text: str, spent: bool
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    called = []

    def first() -> str:
        called.append(1)
        return "x"

    text = text.replace("openai/own", '"openai/m"')
    outcome = run(text, services=[first], model="openai/m")
    assert outcome.error is not None
    assert (outcome.error.code, bool(called)) == ("P410", spent)
    assert "OPENAI_API_KEY" in outcome.error.message + (outcome.error.hint or "")


# --- conversations that are kept -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("persist", "file"),
    [
        ("project", "project/.prose/agents/poet.json"),
        ("team", "project/.prose/agents/team/poet.json"),
        ("user", "data/prose/agents/poet.json"),
    ],
)
def test_the_next_run_goes_on(project: Path, persist: str, file: str) -> None:
    first = run(program(persist, 'session "One"', 'resume "Two"'))
    second = run(program(persist, 'resume "Three"'))
    assert [len(inputs.get("conversation", ())) for inputs in sent(first) + sent(second)] == [0, 1, 2]
    assert not second.trace.warnings
    path = project.parent / file
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert {name: kept[name] for name in ("version", "agent", "scope", "revision")} == {
        "version": 1, "agent": "poet", "scope": persist, "revision": 3,
    }  # fmt: skip
    assert [turn["prompt"] for turn in kept["turns"]] == ["One", "Two", "Three"]
    assert [turn["run"] for turn in kept["turns"]] == [first.run_id, first.run_id, second.run_id]
    assert [other.name for other in path.parent.iterdir() if other.is_file()] == ["poet.json"]
    assert os.stat(path).st_mode & 0o077 == 0 or os.name == "nt"


def test_session_takes_the_place_of_what_was_kept(project: Path) -> None:
    run(program("project", 'session "One"', 'resume "Two"'))
    run(program("project", 'session "Three"'))
    assert [one["prompt"] for one in sent(run(program("project", 'resume "Four"')))[0]["conversation"]] == ["Three"]


def test_a_conversation_of_the_run_is_gone_with_it(project: Path) -> None:
    run(program("true", 'session "One"'))
    again = run(program("true", 'resume "Two"'))
    assert (sent(again), [one.code for one in again.trace.warnings]) == ([{"prompt": "Two"}], ["P303"])
    assert list(project.iterdir()) == []


def test_the_project_of_a_file_is_where_it_lies(project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    (other / "src").mkdir(parents=True)
    (other / "prose.toml").write_text("")
    file = other / "src" / "a.prose.md"
    body = program("project", 'session "One"')
    file.write_text(f"---\nname: a\nkind: pattern\n---\n\n### Delegation\n\n```prose\n{body}```\n")
    engine = Engine(script=Script.from_data({"session": ["ok"]}))
    assert engine.load(file).run().value == "ok"
    assert (other / ".prose" / "agents" / "poet.json").is_file()
    assert list(project.iterdir()) == []


def test_what_was_said_before_a_run_failed_is_kept(project: Path) -> None:
    text = program("project", 'session "One"') + 'parallel:\n  resume: poet\n    prompt: "Two"\n  throw "no"\n'
    assert run(text).status == "failed"
    assert [one["prompt"] for one in sent(run(program("project", 'resume "Three"')))[0]["conversation"]] == ["One"]


def test_secrets_are_not_written(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WRITER_API_KEY", "sk-marker-987654")
    text = program("project") + 'session: poet\n  prompt: "use sk-marker-987654"\n  context: ["sk-marker-987654"]\n'
    script = Script.from_data({"session": ["you said sk-marker-987654"]})
    assert run(text, script=script).value == "you said sk-marker-987654"
    written = (project / ".prose/agents/poet.json").read_text()
    assert "marker" not in written
    assert written.count("[redacted]") == 3


def test_two_runs_at_once_do_not_lose_each_others_words(project: Path) -> None:
    run(program("project", 'session "One"'))
    met = threading.Barrier(2, timeout=20)

    def session(prompt: str) -> str:
        met.wait()
        return prompt

    found: list[Outcome] = []

    def go(text: str) -> None:
        found.append(run(program("project", f'resume "{text}"'), services=[session]))

    threads = [threading.Thread(target=go, args=(text,)) for text in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcome.error.code if outcome.error else "ok" for outcome in found) == ["P503", "ok"]
    kept = json.loads((project / ".prose/agents/poet.json").read_text())
    (won,) = [outcome.value for outcome in found if outcome.error is None]
    assert [turn["prompt"] for turn in kept["turns"]] == ["One", won]


# --- files that are not as they were written -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is not the JSON that was written there"),
        (b"\xff\xfe\x00", "is not the JSON that was written there"),
        (b"[" * 100_000, "is not the JSON that was written there"),
        (b"[]", "is of version None, and this program reads version 1"),
        (b'{"version": 2}', "is of version 2, and this program reads version 1"),
        (b'{"version": 1, "agent": "Poet"}', "belongs to the agent `Poet`"),
        (b'{"version": 1, "agent": "poet", "revision": 1, "turns": [1]}', "is not the JSON that was written there"),
        (b'{"version": 1, "agent": "poet", "revision": 1, "turns": [{"answer": "x"}]}',
         "is not the JSON that was written there"),
    ],
    ids=lambda part: part[:30].decode("latin-1") if isinstance(part, bytes) else "",
)  # fmt: skip
def test_a_damaged_file_is_told_before_anything_is_spent_and_stays(project: Path, data: bytes, why: str) -> None:
    path = project / ".prose/agents/poet.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    for word in ("session", "resume"):
        outcome = run(program("project", f'{word} "One"'))
        assert outcome.error is not None
        assert (outcome.error.code, outcome.status, len(outcome.trace.calls)) == ("P501", "failed", 0)
        assert outcome.error.message == f"the conversation of `poet` is kept in `.prose/agents/poet.json`, which {why}"
        assert outcome.error.as_diagnostic().line == 3
    assert path.read_bytes() == data


def test_a_huge_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "LARGEST", 10)
    path = project / ".prose/agents/poet.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(b" " * 11)
    outcome = run(program("project", 'resume "One"'))
    assert outcome.error is not None
    assert outcome.error.message.endswith("which has more than 10 bytes")


def test_a_link_leads_no_run_out_of_its_project(project: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / ".prose").symlink_to(outside)
    outcome = run(program("project", 'session "One"'))
    assert outcome.error is not None
    assert (outcome.error.code, list(outside.iterdir())) == ("P501", [])
    assert outcome.error.message.endswith("which leads out of the project")


def test_a_folder_in_the_way(project: Path) -> None:
    (project / ".prose").write_text("a file")
    outcome = run(program("project", 'session "One"'))
    assert outcome.error is not None
    assert outcome.error.code == "P501"


def test_a_write_that_fails_leaves_the_file_as_it_was(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ConversationFiles(lambda: project, lambda: Redactor([]))
    assert files.load(KEY) is None
    files.save(KEY, (TURN,))

    def full(*parts: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(RunError, match="cannot be written: no space left on device"):
            files.save(KEY, (TURN, TURN))
    assert ConversationFiles(lambda: project, lambda: Redactor([])).load(KEY) == (TURN,)
    assert [path.name for path in files.path(KEY).parent.iterdir()] == ["poet.json"]


# --- beside tests, previews and cassettes ----------------------------------------------------------------------------


def test_a_preview_reads_conversations_and_writes_none(project: Path) -> None:
    from click.testing import CliRunner

    from prose_lang.cli.main import cli

    file = project / "a.prose.md"
    file.write_text(program("project", 'resume "On"'), "utf-8")
    first = Engine(completion=Fake("Hello"), model="openai/x")
    assert first.run(first.load(file), {}).value == "Hello"
    kept = project / ".prose" / "agents" / "poet.json"
    before = kept.read_bytes()
    shown = CliRunner().invoke(cli, ["show", "--prompt", str(file)])
    assert shown.exit_code == 0, shown.output
    assert "--- assistant\nHello\n" in shown.stdout
    assert kept.read_bytes() == before


def test_scenarios_begin_without_conversations_and_leave_none(project: Path) -> None:
    from prose_lang.testing import collect, run_scenario

    body = program("project", 'resume "On"')
    (project / "talk.prose.md").write_text(
        f"---\nname: talk\nkind: function\n---\n\n### Execution\n\n```prose\n{body}\n```\n", "utf-8"
    )
    (project / "talk.test.prose.md").write_text(
        "---\nname: t\nkind: test\nsubject: talk\n---\n\n### Services\n\n```yaml\npoet: [Hello]\n```\n\n"
        '### Expects\n\n- `result`: equals "Hello"\n',
        "utf-8",
    )
    [scenario] = collect(project / "talk.test.prose.md").scenarios
    for _ in range(2):
        found = run_scenario(scenario)
        assert found.verdict.value == "passed", found
        assert found.outcome is not None
        assert [call.inputs for call in found.outcome.trace.calls] == [{"prompt": "On"}]
    assert not (project / ".prose").exists()


def test_a_cassette_replays_a_conversation_and_what_was_heard_of_it(tmp_path: Path) -> None:
    class Streaming(Fake):
        async def stream(self, request: Any, seconds: float, tell: Any) -> Any:
            reply = await self.complete(request, seconds)
            tell(reply.text[:2])
            tell(reply.text[2:])
            return reply

    text = program("true", 'session "One"', 'resume "Two"')
    heard: list[str] = []

    def listen(event: Any) -> None:
        if isinstance(event, TextDelta):
            heard.append(event.text)

    def ran(completion: Any, mode: Any, stream: bool = True) -> tuple[Any, list[str]]:
        heard.clear()
        cassette = Cassette(tmp_path / "talk.jsonl", mode)
        engine = Engine(model="openai/x", completion=completion, cassette=cassette, observers=[listen], stream=stream)
        return engine.run(engine.loads(text), {}).value, list(heard)

    fake = Streaming("First", "Second")
    assert ran(fake, "record") == ("Second", ["Fi", "rst", "Se", "cond"])
    assert [message.text for message in fake.requests[1].messages][-3:] == ["One", "First", "Two"]
    assert ran(None, "replay") == ("Second", ["First", "Second"])
    assert ran(None, "replay", stream=False) == ("Second", [])
    (tmp_path / "talk.jsonl").unlink()
    assert ran(Fake("First", "Second"), "record") == ("Second", [])
