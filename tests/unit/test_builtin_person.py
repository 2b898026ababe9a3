"""The built-in service `person`: it stops a run and says what is needed (P411, exit status 4)."""

from __future__ import annotations

import asyncio
import json

import pytest
from click.testing import CliRunner

from prose_lang import Engine, WaitingError
from prose_lang.cli.main import cli
from prose_lang.services.builtin.person import person

WORDS = ["run", "human-gate", "proposer=plain", "person=person", "task_brief=Utilize it."]


def asked(**given: object) -> WaitingError:
    with pytest.raises(WaitingError) as caught:
        asyncio.run(person("Is it so?", **given))
    return caught.value


def test_it_tells_the_question_and_what_it_was_given() -> None:
    error = asked(proposal="Dear all", options=["yes", "no"])
    assert error.code == "P411"
    assert error.message == 'a person has to answer: Is it so?\nproposal: Dear all\noptions: ["yes", "no"]'


def test_what_is_long_is_cut_and_its_length_told() -> None:
    message = asked(proposal="x" * 5000).message
    assert message.endswith("x… (5,000 characters in all)")
    assert len(message) < 2100


@pytest.mark.parametrize("question", ["", "  ", 3, None])
def test_a_question_is_a_text(question: object) -> None:
    with pytest.raises(ValueError, match="`question` must be a text that asks something"):
        asyncio.run(person(question))  # type: ignore[arg-type]


def test_the_human_gate_waits_with_exit_status_4() -> None:
    result = CliRunner().invoke(cli, [*WORDS, "-q"])
    assert (result.exit_code, result.stdout) == (4, "")
    assert result.stderr.startswith("error[P411] person-needed: a person has to answer: May this be carried out?")
    assert "\n  proposal: Use it.\n" in result.stderr


def test_as_json() -> None:
    result = CliRunner().invoke(cli, [*WORDS, "--json"])
    found = json.loads(result.stdout)
    assert (result.exit_code, found["status"], found["value"]) == (4, "waiting", None)
    assert found["error"]["service"] == "person"
    assert [call.get("value") for call in found["calls"]] == ["Use it.", None]


def test_nothing_in_a_program_answers_for_the_person() -> None:
    text = 'try:\n  return call person\n    question: "Well?"\ncatch:\n  return "yes"\n'
    with pytest.raises(WaitingError, match=r"Well\?"):
        Engine().run(Engine().loads(text), {})


def test_a_service_of_ones_own_takes_its_name() -> None:
    engine = Engine(services={"person": lambda question, proposal: {"approved": True, "comment": "go"}})
    pattern = engine.load("stdlib:human-gate")
    outcome = engine.run(pattern, {"proposer": "plain", "person": "person", "task_brief": "Utilize it."})
    assert outcome.value == {"result": "Use it.", "approved": True, "proposal": "Use it.", "comment": "go"}
