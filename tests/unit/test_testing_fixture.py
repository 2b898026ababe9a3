"""The object behind the fixture `prose`: loading, binding, calls, left-over replies."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import prose_lang
from prose_lang.testing.clock import run_virtual
from prose_lang.testing.coverage import Coverage
from prose_lang.testing.fixture import Prose

PATTERN = """---
name: shout
kind: pattern
---

### Slots

- `writer`

### Requires

- Pattern instance receives:
    topic: string

### Delegation

```prose
let text = call writer
  topic: topic
return text
```

## helper

### Delegation

```prose
return "helped"
```
"""


@pytest.fixture
def at(tmp_path: Path) -> Prose:
    (tmp_path / "shout.prose.md").write_text(PATTERN, encoding="utf-8")
    return Prose(tmp_path)


# --- what is run -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["shout", "shout.prose.md", "./shout.prose.md", Path("shout.prose.md")])
def test_a_path_starts_at_the_folder(at: Prose, reference: Any) -> None:
    assert at.run(reference, script={"writer": ["hi"]}, topic="tea").value == "hi"


def test_an_absolute_path_an_entry_and_a_loaded_pattern(at: Prose) -> None:
    assert at.run(at.folder / "shout.prose.md", writer=lambda topic: topic, topic="tea").value == "tea"
    assert at.run("shout#helper").value == "helped"
    assert at.run("shout.prose.md#helper").value == "helped"
    assert at.run(prose_lang.loads("return 1")).value == 1


def test_a_loaded_pattern_keeps_the_services_of_its_engine(at: Prose) -> None:
    async def fetch() -> str:
        return "fetched"

    loaded = prose_lang.Engine(services=[fetch]).loads("let a = call fetch\nlet b = call other\nreturn [a, b]")
    assert at.run(loaded, script={"other": [2]}).value == ["fetched", 2]
    assert at.run(loaded, script={"other": [2], "fetch": [1]}).value == [1, 2]


def test_a_file_beside_the_test_goes_before_the_library_and_the_working_folder_does_not_matter(
    at: Prose, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert at.load("refine").document.source.name == "stdlib:refine"
    (tmp_path / "refine.prose.md").write_text(PATTERN, encoding="utf-8")
    assert at.load("refine").name == "shout"
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "refine").mkdir(parents=True)
    monkeypatch.chdir(elsewhere)
    assert at.load("refine").name == "shout"
    assert Prose(elsewhere).load("refine").name == "refine"
    assert at.load("stdlib:refine").name == "refine"


def test_what_is_not_there_is_told(at: Prose) -> None:
    with pytest.raises(prose_lang.SourceError, match=r"there is no file `.*shuot\.prose\.md`") as caught:
        at.run("shuot.prose.md")
    assert caught.value.hint == "did you mean `shout.prose.md`?"
    with pytest.raises(prose_lang.SourceError, match="the library has no pattern `refin`"):
        at.run("refin")
    with pytest.raises(TypeError, match="a pattern is a path, a name or a loaded pattern, not int"):
        at.run(3)  # type: ignore[arg-type]


# --- what it is given ------------------------------------------------------------------------------------------------


def test_a_slot_that_is_not_given_is_the_service_of_its_name(at: Prose) -> None:
    assert at.run("shout", services={"writer": lambda topic: topic * 2}, topic="a").value == "aa"
    assert Prose(at.folder, {"writer": lambda topic: topic * 3}).run("shout", topic="a").value == "aaa"
    assert at.run("shout", script={"other": ["hi"]}, writer="other", topic="a").value == "hi"


def test_a_function_for_a_slot_is_called_by_the_name_of_the_slot(at: Prose) -> None:
    at.run("shout", writer=lambda topic: topic, topic="tea")
    assert at.calls("writer") == [{"topic": "tea"}]


def test_a_script_may_be_one_that_was_read(at: Prose) -> None:
    script = prose_lang.read_script(prose_lang.Source("s.yaml", "writer: [one]"))
    assert [at.run("shout", script=script, topic="a").value for _ in range(2)] == ["one", "one"]


def test_names_that_are_options_stand_in_names(at: Prose) -> None:
    pattern = prose_lang.loads("let a = script\nlet b = limits\nreturn [a, b]")
    assert at.run(pattern, {"script": 1, "limits": 2}).value == [1, 2]
    assert at.run(pattern, {"script": 1}).value == [1, None]
    with pytest.raises(TypeError, match="`topic` is given twice"):
        at.run("shout", {"topic": "a"}, topic="b")


def test_a_service_has_one_meaning(at: Prose) -> None:
    with pytest.raises(ValueError, match="`writer` is both in `script` and in `services`"):
        at.run("shout", script={"writer": ["x"]}, services={"writer": lambda: 1}, topic="a")


def test_a_faulty_script_is_told(at: Prose) -> None:
    with pytest.raises(prose_lang.CheckError, match="`writer` must be a list of replies"):
        at.run("shout", script={"writer": "x"}, topic="a")


def test_the_judge_of_the_script_and_another_one(at: Prose) -> None:
    body = prose_lang.loads('let n = 1\nif **n sounds right**:\n  return "yes"\nreturn "no"')
    assert at.run(body, script={"judge": [{"holds": True, "reason": "so"}]}).value == "yes"
    assert at.run(body, judge=lambda **asked: {"holds": False, "reason": "so"}).value == "no"
    assert at.run(body, conditions={"n sounds right": lambda values: values["n"] == 1}).value == "yes"
    with pytest.raises(prose_lang.RunError) as caught:
        at.run(body)
    assert caught.value.code == "P403"


def test_limits_and_strictness_are_those_of_the_engine(at: Prose) -> None:
    with pytest.raises(prose_lang.LimitError):
        at.run(
            "shout", script={"writer": [{"returns": "x", "delay": 2}]}, limits=prose_lang.Limits(seconds=1), topic="a"
        )
    body = prose_lang.loads("let a = null\nreturn a.b")
    assert at.run(body).value is None
    with pytest.raises(prose_lang.RunError) as caught:
        at.run(body, strict=True)
    assert caught.value.code == "P303"


# --- time ------------------------------------------------------------------------------------------------------------


def test_an_hour_takes_no_time(at: Prose) -> None:
    at.run("shout", script={"writer": [{"returns": "x", "delay": 3600}]}, topic="a")
    assert at.outcomes[0].trace.calls[0].seconds == 3600


def test_inside_a_loop_run_names_arun_and_arun_runs_there(at: Prose) -> None:
    async def main() -> float:
        with pytest.raises(RuntimeError, match=r"await `prose\.arun` instead"):
            at.run("shout", script={"writer": ["x"]}, topic="a")
        outcome = await at.arun("shout", script={"writer": [{"returns": "x", "delay": 60}]}, topic="a")
        assert outcome.value == "x"
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 60
    assert len(at.outcomes) == 1


# --- what happened ---------------------------------------------------------------------------------------------------


def test_calls_are_those_of_all_runs_in_order(at: Prose) -> None:
    for topic in ("tea", "soup"):
        at.run("shout", script={"writer": ["x"], "idle": []}, topic=topic)
    assert at.calls("writer") == [{"topic": "tea"}, {"topic": "soup"}]
    assert at.calls("idle") == []
    assert [outcome.status for outcome in at.outcomes] == ["ok", "ok"]


def test_calls_of_a_service_that_nobody_knows_are_a_mistake(at: Prose) -> None:
    with pytest.raises(LookupError, match="no run had a service `writer`; there were none"):
        at.calls("writer")
    at.run("shout", script={"writer": ["x"]}, topic="tea")
    with pytest.raises(LookupError, match=r"no run had a service `writr`; did you mean `writer`\?"):
        at.calls("writr")
    with pytest.raises(LookupError, match="no run had a service `zzzzzzzz`; there were writer"):
        at.calls("zzzzzzzz")


def test_an_error_is_raised_with_its_place_and_its_outcome(at: Prose) -> None:
    with pytest.raises(prose_lang.ServiceError) as caught:
        at.run("shout", script={"writer": [{"raises": "no tea"}]}, topic="tea")
    assert caught.value.outcome.status == "failed"
    assert at.outcomes == (caught.value.outcome,)
    assert at.calls("writer") == [{"topic": "tea"}]
    (note,) = caught.value.__notes__
    assert note.startswith("error[P406] service-failed: no tea\n")
    assert "shout.prose.md:18:12\n" in note


def test_replies_that_are_left_over(at: Prose) -> None:
    script = {"writer": ["x", "y"], "critic": [1, 2], "always": {"always": 1}}
    at.run("shout", script=script, topic="tea")
    at.run("shout", script={"writer": ["x", "y"]}, topic="tea")
    assert at.unused == {"writer": 2, "critic": 2}
    text = "scripted replies were left over: `writer`: 2 replies, `critic`: 2 replies"
    assert at.unused_text() == f"{text} (prose.allow_unused() lets them be)"
    at.allow_unused("critic")
    assert at.unused == {"writer": 2}
    at.allow_unused()
    assert (at.unused, at.unused_text()) == ({}, None)


def test_its_runs_can_be_measured(at: Prose) -> None:
    measured = Prose(at.folder, coverage=Coverage())
    measured.run("shout", script={"writer": ["x"]}, topic="tea")
    assert measured.coverage is not None
    (file,) = measured.coverage.report().files
    assert [(entry.name, entry.tally.covered) for entry in file.entries] == [("shout", 2), ("helper", 0)]
