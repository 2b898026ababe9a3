"""`prose run`: what it prints in each form, its exit statuses, and what it refuses before anything runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from prose_lang.cli.main import cli

REFINE = """\
---
name: polish
kind: pattern
---

### Slots

- `writer`
- `critic`

### Config

- `max_rounds` (integer, default: 3): most rounds
- `threshold` (number, default: 0.8): the bar

### Requires

- `topic`: string -- what it is about

### Delegation

```prose
let draft = null
let score = 0
repeat max_rounds as round:
  draft = call writer
    topic: topic
    draft: draft
  let verdict = call critic
    draft: draft
  score = verdict.score
  if score meets threshold:
    return { result: draft, score: score, rounds_used: round }
return { result: draft, score: score, rounds_used: max_rounds }
```
"""

SCRIPT = """\
w: [first draft, second draft]
c: [{score: 0.4, notes: [longer]}, {score: 0.85}]
slow: {always: {returns: late, delay: 30}}
broken: {always: {raises: {name: rate-limited, message: too many}}}
person: {always: {ask: "which one?"}}
"""

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("polish.prose.md").write_text(REFINE)
    Path("script.yaml").write_text(SCRIPT)

    def run(*args: str, stdin: str | bytes | None = None, env: dict[str, str] | None = None) -> Result:
        return CliRunner().invoke(cli, ["run", *args], input=stdin, env=env or {})

    return run


GIVEN = ("polish.prose.md", "--script", "script.yaml", "writer=w", "critic=c", "topic=rain")


def untimed(text: str) -> str:
    return re.sub(r"\d+\.\d\d s", "T s", text)


def test_a_result_for_a_person(run: Run) -> None:
    result = run(*GIVEN)
    assert (result.exit_code, result.stdout) == (0, "second draft\n\nscore: 0.85\nrounds_used: 2\n")
    assert untimed(result.stderr) == (
        "round 1  writer (w)  “first draft”  (T s)\n"
        "         critic (c)  score 0.4, notes: 1 item  (T s)\n"
        "round 2  writer (w)  “second draft”  (T s)\n"
        "         critic (c)  score 0.85  (T s)\n"
        "stopped: score meets threshold (0.85 >= 0.8)\n"
        "4 calls, T s\n"
    )


def test_the_bar_that_was_not_reached_is_named(run: Run) -> None:
    result = run(*GIVEN, "threshold=0.9", "max_rounds:=2")
    assert "not met: score meets threshold (0.85 >= 0.9)\n" in result.stderr


def test_quiet_and_verbose(run: Run) -> None:
    quiet = run(*GIVEN, "-q")
    assert (quiet.stdout, quiet.stderr) == ("second draft\n\nscore: 0.85\nrounds_used: 2\n", "")
    assert untimed(run(*GIVEN, "-v").stderr) == (
        "round 1  writer (w)  “first draft”  (T s)\n"
        "round 1  critic (c)  score 0.4, notes: 1 item  (T s)\n"
        "round 1  score meets threshold: no (phrase: 0.4 >= 0.8)\n"
        "round 2  writer (w)  “second draft”  (T s)\n"
        "round 2  critic (c)  score 0.85  (T s)\n"
        "round 2  score meets threshold: yes (phrase: 0.85 >= 0.8)\n"
        "stopped: score meets threshold (0.85 >= 0.8)\n"
        "4 calls, T s\n"
    )


def test_json_is_one_object_and_nothing_else(run: Run) -> None:
    result = run(*GIVEN, "--json", "--no-record")
    outcome = json.loads(result.stdout)
    assert (result.exit_code, result.stderr, result.stdout.count("\n")) == (0, "", 1)
    assert list(outcome) == [
        "run_id", "status", "value", "error", "diagnostics", "calls", "decisions", "warnings", "usage",
    ]  # fmt: skip
    assert (outcome["status"], outcome["value"]["result"], outcome["error"]) == ("ok", "second draft", None)
    assert [call["service"] for call in outcome["calls"]] == ["w", "c", "w", "c"]


def test_json_lines_tell_every_event(run: Run) -> None:
    result = run(*GIVEN, "--output", "jsonl")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    rounds = ["call_started", "call_finished", "call_started", "call_finished", "decision"]
    assert [event["event"] for event in events] == [*rounds, *rounds, "end"]
    assert events[0] == {
        "event": "call_started", "number": 1, "kind": "call",
        "address": "delegation/2.repeat[1]/0.call:writer", "service": "w", "inputs": {"topic": "rain"},
    }  # fmt: skip
    assert events[1]["value"] == "first draft"
    assert (events[4]["text"], events[4]["holds"], events[4]["values"]) == (
        "score meets threshold", False, {"score": 0.4, "threshold": 0.8},
    )  # fmt: skip
    assert events[-1]["value"]["score"] == 0.85


@pytest.mark.parametrize(
    ("args", "code", "status", "error"),
    [
        (("writer=broken",), 1, "failed", "P406"),
        (("writer=nobody",), 2, "invalid", "P202"),
        (("max_round=1",), 2, "invalid", "P210"),
        (("max_rounds=many",), 2, "invalid", "P211"),
        (("--max-calls", "1"), 3, "limited", "P405"),
        (("writer=slow", "--timeout", "0.05"), 3, "limited", "P405"),
        (("writer=person",), 4, "waiting", "P411"),
    ],
)
def test_exit_statuses(run: Run, args: tuple[str, ...], code: int, status: str, error: str) -> None:
    given = [word for word in GIVEN if word.split("=")[0] not in {arg.split("=")[0] for arg in args}]
    human, machine = run(*given, *args), run(*given, *args, "--json")
    outcome = json.loads(machine.stdout)
    assert (human.exit_code, machine.exit_code, machine.stderr) == (code, code, "")
    assert (outcome["status"], outcome["error"]["code"]) == (status, error)
    assert human.stdout == ""
    assert f"error[{error}]" in human.stderr


def test_a_failure_shows_what_had_been_done_and_then_the_error(run: Run) -> None:
    given = [word.replace("critic=c", "critic=broken") for word in GIVEN]
    lines = untimed(run(*given).stderr).splitlines()
    assert lines[:5] == [
        "round 1  writer (w)       “first draft”  (T s)",
        "         critic (broken)  failed: too many  (T s)",
        "2 calls, T s",
        "",
        "error[P406] rate-limited: too many",
    ]


def test_everything_missing_is_told_at_once(run: Run) -> None:
    result = run("polish.prose.md", "--json")
    outcome = json.loads(result.stdout)
    assert (result.exit_code, outcome["status"]) == (2, "invalid")
    assert [item["message"] for item in outcome["diagnostics"]] == [
        "the slot `writer` is not bound", "the slot `critic` is not bound", "the input `topic` is missing",
    ]  # fmt: skip


def test_the_hint_of_a_slot_names_a_service_that_is_at_hand(run: Run) -> None:
    Path("script.yaml").write_text("writer: [a draft]\n")
    told = run("polish.prose.md", "--script", "script.yaml", "critic=nobody").stderr
    assert "help: bind it to the service of its name: writer=writer" in told
    assert "there is no service `nobody`" in told
    assert "help: names are registered (--services) or scripted (--script)" in told
    assert "help: bind it to a service: writer=…" in run("polish.prose.md").stderr


def test_names_from_everywhere(run: Run) -> None:
    Path("in.json").write_text('{"writer": "w", "max_rounds": 1}')
    Path("topic.txt").write_text("rain")
    result = run(
        "polish.prose.md", "--script", "script.yaml", "--inputs", "in.json", "threshold:=0.1", "topic=@topic.txt",
        "--json", "--", "--critic", "c",
    )  # fmt: skip
    outcome = json.loads(result.stdout)
    assert outcome["value"] == {"result": "first draft", "score": 0.4, "rounds_used": 1}
    assert outcome["calls"][0]["inputs"] == {"topic": "rain"}


def test_the_inputs_may_come_from_standard_input(run: Run) -> None:
    names = {"writer": "w", "critic": "c", "topic": "rain"}
    result = run("polish.prose.md", "--script", "script.yaml", "--inputs", "-", "-q", stdin=json.dumps(names))
    assert result.stdout.startswith("second draft\n")


def test_the_pattern_may_come_from_standard_input(run: Run) -> None:
    result = run("-", "who=world", "-q", stdin='return "Hello " + who')
    assert (result.stdout, result.exit_code) == ("Hello world\n", 0)
    assert "  --> <stdin>:1:8\n" in run("-", stdin="return (1").stderr


def test_data_names_no_programs(run: Run) -> None:
    Path("in.json").write_text('{"writer": "cmd:true"}')
    Path("ref.txt").write_text("py:os:getcwd")
    result = run("polish.prose.md", "--inputs", "in.json", "critic=@ref.txt", "topic=x", "--json")
    messages = [item["message"] for item in json.loads(result.stdout)["diagnostics"]]
    assert messages == [
        f"`{slot}`: `{ref}` is only accepted as a literal command-line argument or as `prose.ref(...)` in Python"
        for slot, ref in (("writer", "cmd:true"), ("critic", "py:os:getcwd"))
    ]


def test_services_of_a_file_and_what_they_print(run: Run) -> None:
    Path("mine.py").write_text(
        "import prose_lang as prose\n"
        "print('loading')\n"
        "@prose.service(inline=True)\n"
        "def writer(topic, draft=None):\n"
        "    print('writing')\n"
        "    return topic.upper()\n"
        "@prose.service(name='strict-critic', inline=True)\n"
        "async def critic(draft): return {'score': 1}\n"
    )
    result = run(
        "polish.prose.md", "--services", "mine.py", "writer=writer", "critic=strict-critic", "topic=rain", "-q"
    )
    assert (result.stdout, result.stderr) == ("RAIN\n\nscore: 1\nrounds_used: 1\n", "loading\nwriting\n")


def test_two_files_with_one_name(run: Run) -> None:
    for name in ("a.py", "b.py"):
        Path(name).write_text("import prose_lang as p\n@p.service\ndef same(x): return x\n")
    result = run("polish.prose.md", "--services", "a.py", "--services", "b.py")
    assert (result.exit_code, result.stderr) == (
        2, "error[P207] declared-twice: both a.py and b.py have a service of the name `same`\n",
    )  # fmt: skip


def test_a_failing_service_shows_its_traceback_only_when_asked(run: Run) -> None:
    Path("mine.py").write_text(
        "import prose_lang as prose\n@prose.service(inline=True)\ndef writer(topic): raise ValueError('boom')\n"
    )
    args = (
        "polish.prose.md",
        "--services",
        "mine.py",
        "--script",
        "script.yaml",
        "writer=writer",
        "critic=c",
        "topic=x",
    )
    assert "Traceback" not in run(*args, "-v").stderr
    told = run(*args, "-vv")
    assert told.stderr.count("Traceback (most recent call last)") == 1
    assert "ValueError: boom" in told.stderr
    assert "error[P406] service-failed: boom\n" in told.stderr


def test_warnings_are_told_and_strict_makes_them_errors(run: Run) -> None:
    body = 'let x = { a: 1 }\nlet y = x.b\nreturn "done"\n'
    result = run("-", stdin=body)
    assert (result.exit_code, result.stdout) == (0, "done\n")
    assert result.stderr.startswith("warning[P303] <stdin>:2: there is no `b`")
    strict = run("-", "--strict", "--json", stdin=body)
    assert (strict.exit_code, json.loads(strict.stdout)["error"]["code"]) == (1, "P303")


def test_a_null_result_prints_nothing(run: Run) -> None:
    result = run("-", stdin="let x = null\nreturn x\n")
    assert (result.exit_code, result.stdout, untimed(result.stderr)) == (0, "", "0 calls, T s\nthe result is null\n")


def test_the_judge(run: Run) -> None:
    Path("judge.yaml").write_text('j: [{holds: true, reason: "it does"}]')
    body = 'let text = "x"\nif text reads well:\n  return "yes"\nreturn "no"\n'
    judged = run("-", "--script", "judge.yaml", "--judge", "j", "--json", stdin=body)
    assert json.loads(judged.stdout)["value"] == "yes"
    alone = run("-", "--script", "judge.yaml", "--no-judge", "--json", stdin=body)
    assert (alone.exit_code, json.loads(alone.stdout)["error"]["code"]) == (1, "P403")


def test_many_calls_are_not_all_listed(run: Run) -> None:
    Path("many.yaml").write_text("w: {always: ok}")
    result = run("-", "--script", "many.yaml", stdin="repeat 100 as i:\n  call w\n    i: i\nreturn 1\n")
    lines = result.stderr.splitlines()
    assert len(lines) == 42
    assert lines[0].startswith("round 1    w  “ok”")
    assert lines[20] == "… 60 more calls; --json has them all"
    assert lines[21].startswith("round 81   w  “ok”")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("refine", "--zzz"), "no such option '--zzz'"),
        (("refine", "--no-record", "--store", "x"), "--store and --no-record exclude each other"),
        (("refine", "--judge", "j", "--no-judge"), "--judge and --no-judge exclude each other"),
        (("refine", "--max-calls", "0"), "invalid value for '--max-calls': '0' is not a whole number from 1"),
        (("refine", "--timeout", "-1"), "invalid value for '--timeout': '-1' is not a number of seconds above 0"),
        (("refine", "--concurrency", "x"), "invalid value for '--concurrency': 'x' is not a whole number from 1"),
        (("refine", "word"), "`word` is not NAME=VALUE, NAME:=JSON or NAME=@FILE"),
        ((), "missing argument 'SOURCE'"),
    ],
)
def test_wrong_use_is_told_in_the_form_that_was_asked_for(run: Run, args: tuple[str, ...], message: str) -> None:
    human, machine, lines = run(*args), run(*args, "--json"), run(*args, "--output=jsonl")
    assert (human.exit_code, machine.exit_code, lines.exit_code) == (2, 2, 2)
    assert (human.stdout, human.stderr.splitlines()[0]) == ("", f"error: {message}")
    outcome = json.loads(machine.stdout)
    assert (outcome["status"], outcome["error"]["name"], outcome["error"]["message"]) == ("invalid", "usage", message)
    assert json.loads(lines.stdout) == {"event": "end", **outcome}
    assert machine.stderr == lines.stderr == ""


def test_an_unknown_option_may_have_been_meant_as_a_name(run: Run) -> None:
    assert "   = help: for a name of the pattern write topic=VALUE\n" in run("refine", "--topic", "x").stderr


def test_limits_may_be_lifted(run: Run) -> None:
    assert run(*GIVEN, "--max-calls", "none", "--concurrency", "2", "--timeout", "60").exit_code == 0


def test_a_default_model_is_a_model_or_an_alias(run: Run) -> None:
    outcome = json.loads(run(*GIVEN, "--model", "fsat", "--json").stdout)
    assert (outcome["status"], outcome["error"]["code"]) == ("invalid", "P410")
    assert outcome["error"]["message"] == "no model is configured for `fsat`"
    Path("prose.toml").write_text('[models.aliases]\nfast = "a/b"\n')
    assert "did you mean `fast`" in run(*GIVEN, "--model", "fsat").stderr
    assert run(*GIVEN, "--model", "fast").exit_code == 0
    assert run(*GIVEN, "--model", "a/b").exit_code == 0


def test_missing_sources(run: Run) -> None:
    for args in (("nowhere.prose.md",), ("polish.prose.md", "--script", "none.yaml"), ("stdlib:nothing",)):
        result = run(*args)
        assert (result.exit_code, result.stderr.startswith("error[P103] source-unreadable: ")) == (2, True)


@pytest.mark.parametrize("form", ["human", "json", "jsonl"])
def test_secrets_of_the_environment_are_never_shown(run: Run, form: str) -> None:
    secret = "sk-0123456789abcdef"
    Path("leak.yaml").write_text(f'w: [{{always: false, returns: {{text: "the key is {secret}", {secret}: 1}}}}]')
    result = run(
        "-", "--script", "leak.yaml", "-v", "--output", form, stdin="return call w\n", env={"OPENAI_API_KEY": secret}
    )
    assert result.exit_code == 0
    assert secret not in result.output
    assert "the key is [redacted]" in result.stdout


def test_colours_only_where_they_are_wanted(run: Run) -> None:
    assert "\x1b" not in run(*GIVEN).output
    forced = run(*GIVEN, env={"FORCE_COLOR": "1"})
    assert "\x1b[36mround 1\x1b[0m" in forced.stderr
    assert "\x1b" not in run(*GIVEN, env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).output


def test_a_bug_is_no_traceback(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **named: Any) -> None:
        raise RuntimeError("what nobody foresaw")

    monkeypatch.setattr("prose_lang.cli.running._run", broken)
    human, machine = run("refine"), run("refine", "--json")
    assert (human.exit_code, human.stdout) == (1, "")
    assert human.stderr.startswith("internal error: RuntimeError: what nobody foresaw\nthis is a bug in prose, ")
    assert "Traceback" not in human.stderr
    assert (machine.exit_code, machine.stderr) == (1, "")
    assert json.loads(machine.stdout)["error"]["name"] == "internal-error"
    assert "Traceback (most recent call last)" in run("refine", "-vv").stderr


def test_a_bug_in_any_command_can_be_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("prose_lang.resources.library_names", lambda: 1 / 0)
    result = CliRunner().invoke(cli, ["-vv", "list"])
    assert (result.exit_code, "ZeroDivisionError" in result.stderr.splitlines()[-1]) == (1, True)
    assert CliRunner().invoke(cli, ["list"]).stderr.endswith("`prose -vv …` shows where it happened\n")
