"""Parts of model services: which model is chosen, keys, settings files, schemas, contracts made in Python."""

from __future__ import annotations

import dataclasses
import enum
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import attrs
import pydantic
import pytest
from models_fakes import Fake

import prose_lang as prose
from prose_lang import CheckError, Engine, ModelSettings, Provider, RunError
from prose_lang.documents.model import Item
from prose_lang.documents.types import parse_type
from prose_lang.services.models.annotated import answer_schema, schema_of
from prose_lang.services.models.choice import choose
from prose_lang.services.models.keys import NO_KEY, Keys
from prose_lang.services.models.prices import Tariffs
from prose_lang.services.models.reading import read_settings, settings_in
from prose_lang.services.models.schema import faults, is_closed, of_item
from prose_lang.settings import read_table
from prose_lang.text import Source, Span

SETTINGS = ModelSettings(default="openai/default", aliases={"fast": "openai/small", "sonnet": "anthropic/s"})

# --- which model (L9 of §9, L32) -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "entry", "binding", "found"),
    [
        ("fast", "sonnet", "openai/b", "openai/small"),
        (None, "sonnet", "openai/b", "anthropic/s"),
        (None, None, "openai/b", "openai/b"),
        (None, None, "fast", "openai/small"),
        (None, None, None, "openai/default"),
        ("openai/b", None, "openai/b", "openai/b"),  # the user bound that very model
        ("anthropic/s", None, None, "anthropic/s"),  # and maps a name to this one
    ],
)
def test_the_call_goes_before_the_entry_the_binding_and_the_default(
    call: str | None, entry: str | None, binding: str | None, found: str
) -> None:
    assert choose(SETTINGS, "s", call=call, entry=entry, binding=binding) == found


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("opus", "no model is configured for `opus`"),
        ("openai/dear", "the program asks for the model `openai/dear` by name, and whoever runs it decides which"),
    ],
)
def test_what_a_file_asks_for_and_nobody_allows(call: str, message: str) -> None:
    with pytest.raises(RunError) as caught:
        choose(SETTINGS, "s", call=call, entry=None, binding="openai/b")
    assert caught.value.code == "P410"
    assert caught.value.message.startswith(message)


def test_a_model_that_a_file_names_may_be_allowed() -> None:
    settings = attrs.evolve(SETTINGS, allow_models=True)
    assert choose(settings, "s", call="openai/dear", entry=None, binding=None) == "openai/dear"


def test_the_call_s_model_in_a_program() -> None:
    fake = Fake()
    engine = Engine(completion=fake, models=SETTINGS, services=[prose.model_service("w", model="openai/b")])
    assert engine.loads("call w\n  model: fast\ncall w\n  model: sonnet\ncall w").run().usage.calls == 3
    assert [request.model for request in fake.requests] == ["openai/small", "anthropic/s", "openai/b"]
    outcome = engine.outcome(engine.loads("let a = 1\ncall w\n  model: opus"), {})
    assert outcome.error is not None
    assert (outcome.error.code, outcome.error.as_diagnostic().line) == ("P410", 2)


# --- keys ------------------------------------------------------------------------------------------------------------


def key(settings: ModelSettings, environ: dict[str, str], missing: tuple[str, ...] = ("OPENAI_API_KEY",)) -> Any:
    return Keys(settings, environ).key("openai/m", lambda model: missing)


def of_provider(**facts: Any) -> ModelSettings:
    return ModelSettings(providers={"openai": Provider(**facts)})


def test_keys_are_of_the_environment() -> None:
    assert key(ModelSettings(), {}, missing=()) is None  # litellm finds it there
    assert key(of_provider(key="MINE"), {"MINE": "abc"}) == "abc"
    assert key(of_provider(base_url="http://127.0.0.1:1"), {}) == NO_KEY
    for settings, name in ((ModelSettings(), "OPENAI_API_KEY"), (of_provider(key="MINE"), "MINE")):
        with pytest.raises(RunError) as caught:
            key(settings, {})
        assert (caught.value.code, caught.value.message) == (
            "P410",
            f"there is no key for `openai/m`: {name} is not set",
        )


def test_keys_may_be_in_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ring:
        @staticmethod
        def get_password(service: str, name: str) -> str | None:
            return {"OPENAI_API_KEY": "from-the-ring"}.get(name) if service == "prose" else None

    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    monkeypatch.setattr("importlib.import_module", lambda name: Ring)
    keys = Keys(ModelSettings(), {})
    told: list[str] = []
    keys.told = told.append
    assert keys.key("openai/m", lambda model: ("OPENAI_API_KEY",)) == "from-the-ring"
    assert (told, keys.secrets) == (["from-the-ring"], {"from-the-ring"})


@pytest.mark.parametrize("named", [None, "OPENAI_API_KEY"])
def test_a_file_cannot_send_a_key_to_another_host(named: str | None) -> None:
    environ, missing = {"OPENAI_API_KEY": "abc"}, () if named is None else ("OPENAI_API_KEY",)
    settings = of_provider(base_url="https://elsewhere.example/v1", key=named, from_file=True)
    with pytest.raises(RunError) as caught:
        key(settings, environ, missing)
    assert caught.value.code == "P410"
    assert caught.value.hint == "if you trust it: PROSE_ALLOW_HOSTS=elsewhere.example"
    assert key(attrs.evolve(settings, allow_hosts=frozenset({"elsewhere.example"})), environ, missing) in (None, "abc")
    assert key(of_provider(base_url="http://localhost:1", key=named, from_file=True), environ, missing) in (None, "abc")
    assert key(of_provider(base_url="https://elsewhere.example", key=named), environ, missing) in (None, "abc")


def test_prices_are_configured_or_of_the_table_and_else_unknown() -> None:
    tariffs = Tariffs(ModelSettings(prices={"x/y": prose.Price(1, 2)}))
    assert tariffs.of("x/y").price == prose.Price(1, 2)
    known = tariffs.of("openai/gpt-4o")
    assert known.price is not None
    assert (known.price.input, known.most_out) == (pytest.approx(2.5), 16384)
    assert tariffs.of("openai/never-heard-of").price is None
    stepped = prose.Price(1, 2, steps=((200_000, 2, 4),))
    assert (stepped.cost(200_000, 0), stepped.cost(200_001, 10)) == (0.2, pytest.approx((400_002 + 40) / 1e6))
    gemini = tariffs.of("gemini/gemini-2.5-pro").price
    assert gemini is not None
    assert [step[0] for step in gemini.steps] == [200_000]
    assert gemini.steps[0][1] > gemini.input
    assert tariffs.of("elsewhere/gpt-4o").price is None, "another provider's price"
    assert Tariffs(of_provider(base_url="http://h")).of("openai/gpt-4o").price is None, "another server's price"


# --- settings files --------------------------------------------------------------------------------------------------

GOOD = """
[tool.prose.models]
default = "fast"
seconds = 30
retries = 0

[tool.prose.models.aliases]
fast = "openai/small"

[tool.prose.models.providers.openai]
base_url = "http://127.0.0.1:8080/v1"
key = "MY_KEY"
requests_per_minute = 60

[tool.prose.models.prices."openai/small"]
input = 0.5
output = 1

[tool.prose.models.parameters."openai/small"]
temperature = 0
"""


def test_settings_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(GOOD)
    (tmp_path / "deep").mkdir()
    found = settings_in(tmp_path / "deep")
    assert (found.default, found.seconds, found.retries) == ("fast", 30, 0)
    assert found.providers["openai"] == Provider("http://127.0.0.1:8080/v1", "MY_KEY", 60, None, from_file=True)
    assert (found.prices["openai/small"], found.parameters["openai/small"]) == (prose.Price(0.5, 1), {"temperature": 0})
    assert settings_in(Path("/")) == ModelSettings()


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[models]\ndefalt = 'x'", 2, "there is no setting `defalt`"),
        ("[models]\ndefault = 3", 2, "`default` is a text"),
        ("[models]\nseconds = 0", 2, "`seconds` is a number above 0"),
        ("[models]\nretries = -1", 2, "`retries` is a whole number from 0"),
        ("[models.aliases]\nfast = 'small'", 2, "the alias `fast` is a model"),
        ("[models.providers]\nopenai = 3", 2, "`openai` under `providers` is a table"),
        (
            "[models.providers.openai]\nbase_url = 'ftp://x'",
            2,
            "`base_url` of `openai` is an http or https address without a password",
        ),
        (
            "[models.providers.openai]\nbase_url = 'http://u:p@h'",
            2,
            "`base_url` of `openai` is an http or https address without a password",
        ),
        ("[models]\ndefault = 'fsat'\n[models.aliases]\nfast = 'a/b'", 2, "`default` is an alias or PROVIDER/MODEL"),
        ("[models.providers.openai]\nrequests_per_minute = 0", 2, "`requests_per_minute` is a whole number from 1"),
        ("[models.prices.'a/b']\ninput = 1", 1, "the price of `a/b` has `input` and `output`"),
        ("[models.prices.'a/b']\ninput = -1\noutput = 1", 2, "`input` is a number from 0"),
        ("[models.parameters.'a/b']\nheat = 1", 2, "there is no setting `heat`"),
        ("[models.parameters.'a/b']\nmax_tokens = 'x'", 2, "`max_tokens` is a whole number from 1"),
    ],
)
def test_faults_of_settings_have_their_places(text: str, line: int, message: str) -> None:
    table = read_table(Source("prose.toml", text), ("models",))
    assert table is not None
    with pytest.raises(CheckError) as caught:
        read_settings(table)
    assert [(item.line, item.message) for item in caught.value.diagnostics] == [(line, message)]


def test_a_key_in_a_file_is_refused_and_not_repeated() -> None:
    table = read_table(Source("prose.toml", "[models.providers.openai]\nkey = 'sk-abcdef-123456'"), ("models",))
    assert table is not None
    with pytest.raises(CheckError) as caught:
        read_settings(table)
    assert caught.value.message.startswith("`key` of `openai` is the name of an environment variable")
    assert "sk-abcdef" not in caught.value.message


# --- schemas ---------------------------------------------------------------------------------------------------------


def item(type_text: str, description: str = "", **facts: Any) -> Item:
    declared = parse_type(type_text)
    assert declared is not None
    return Item("x", Span(0, 0), declared, description, False, **facts)


@pytest.mark.parametrize(
    ("declared", "schema"),
    [
        (item("number", minimum=0, maximum=1), {"type": "number", "minimum": 0, "maximum": 1}),
        (item("number", "0..1"), {"type": "number", "minimum": 0, "maximum": 1, "description": "0..1"}),
        (item("integer", "between 1 and 10 points"),
         {"type": "integer", "minimum": 1, "maximum": 10, "description": "between 1 and 10 points"}),
        (item("string", "1 to 3 words"), {"type": "string", "description": "1 to 3 words"}),
        (item("string", one_of=("a", "b")), {"enum": ["a", "b"]}),
        (item('"a" | "b"'), {"type": "string", "enum": ["a", "b"]}),
        (item("string | number[]"),
         {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}}]}),
        (item("Report"), {}), (item("any"), {}), (item("object"), {"type": "object"}),
    ],
)  # fmt: skip
def test_the_schema_of_a_declared_output(declared: Item, schema: dict[str, Any]) -> None:
    assert of_item(declared) == schema


@attrs.define
class Point:
    x: int
    y: Annotated[float, "how high"]


@dataclasses.dataclass
class Line:
    points: list[Point]
    label: str | None


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Card(TypedDict):
    colour: Colour


class Verdict(pydantic.BaseModel):
    verdict: Literal["accept", "reject"]
    score: float = pydantic.Field(ge=0, le=1)
    line: list[int] = []


POINT = {
    "type": "object", "properties": {"x": {"type": "integer"}, "y": {"type": "number", "description": "how high"}},
    "required": ["x", "y"], "additionalProperties": False,
}  # fmt: skip


def test_the_schema_of_python_types() -> None:
    assert schema_of(Point) == POINT
    assert schema_of(Line)["properties"] == {
        "points": {"type": "array", "items": POINT}, "label": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }  # fmt: skip
    assert schema_of(Card)["properties"]["colour"] == {"type": "string", "enum": ["red", "blue"]}
    assert schema_of(dict[str, int]) == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert schema_of(Verdict)["properties"]["score"]["maximum"] == 1
    assert (is_closed(schema_of(Line)), is_closed(schema_of(dict[str, int]))) == (True, False)
    assert answer_schema(str) is None
    with pytest.raises(TypeError, match="Path has no JSON schema"):
        schema_of(Path)


@pytest.mark.parametrize(
    ("value", "kind", "found"),
    [
        ({"x": 1, "y": 2.5}, Point, []),
        ({"x": 1.5, "y": True}, Point, ["x is 1.5, which is not an integer", "y is true, which is not a number"]),
        ({"points": [{"x": 1, "y": 1}, {"x": 1}], "label": None}, Line, ["points[1] has no y"]),
        ({"points": {}, "label": "a"}, Line, ["points is {}, which is not a list"]),
        ({"points": [], "label": 3}, Line, ["label is 3, which is not a text"]),
        ({"verdict": "maybe", "score": 0}, Verdict, ['verdict is "maybe", which is none of "accept", "reject"']),
        ({"verdict": "accept", "score": 7}, Verdict, ["score is 7, more than the maximum of 1"]),
        ([1, "x"], list[int], ['entry 1 is "x", which is not an integer']),
        (None, int, ["the answer is null, which is not an integer"]),
    ],
)
def test_what_is_wrong_with_a_value(value: Any, kind: Any, found: list[str]) -> None:
    assert faults(value, schema_of(kind)) == found


# --- model services in Python ----------------------------------------------------------------------------------------


@prose.model_service(model="openai/m", parameters={"temperature": 0})
def critic(output: str, criteria: str = "is short") -> Verdict:
    """Judge the output."""
    raise AssertionError("never run")


def test_a_function_is_a_contract() -> None:
    fake = Fake('{"verdict": "accept", "score": 2}', '{"verdict": "accept", "score": 1, "line": [1]}')
    engine = Engine(completion=fake, services=[critic])
    assert engine.loads('return call critic\n  output: "x"').run().value == {
        "verdict": "accept",
        "score": 1,
        "line": [1],
    }
    first, second = fake.requests
    assert "Judge the output." in first.messages[0].text
    assert "=====[ criteria: text ]\nis short" in first.messages[1].text
    assert dict(first.parameters) == {"temperature": 0}
    assert second.messages[-1].text.startswith("This answer cannot be used: score is 2, more than the maximum of 1.")
    outcome = engine.outcome(engine.loads("return call critic"), {})
    assert outcome.error is not None
    assert outcome.error.code == "P203"


def test_classes_are_contracts() -> None:
    fake = Fake('{"x": 1, "y": 2}', '{"answer": "red"}')
    made = [
        prose.model_service("place", model="openai/m", takes=Card, gives=Point, about="Find the card."),
        prose.model_service("paint", model="openai/m", takes=Card, gives=Literal["red", "blue"]),
    ]
    engine = Engine(completion=fake, services=made)
    body = 'let a = call place\n  colour: "red"\nlet b = call paint\n  colour: "blue"\nreturn [a, b]'
    assert engine.loads(body).run().value == [{"x": 1, "y": 2}, "red"]
    assert "- `y`: how high" in fake.requests[0].messages[0].text


def test_a_definition_is_bound_to_a_slot_and_collected_from_a_file(tmp_path: Path) -> None:
    fake = Fake('{"verdict": "accept", "score": 1}')
    engine = Engine(completion=fake)
    outcome = engine.outcome(
        engine.load("worker-critic"),
        {"worker": lambda task_brief: "w", "critic": critic, "task_brief": "t", "criteria": "c"},
    )
    assert outcome.value == {"result": "w", "attempts": 1}
    assert [warning.code for warning in outcome.trace.warnings] == ["P210"]  # it takes no task_brief
    file = tmp_path / "mine.py"
    file.write_text("import prose_lang as prose\nhelper = prose.model_service('helper', model='openai/m')\n")
    from prose_lang.services import load_services_file

    assert list(load_services_file(str(file))) == ["helper"]


@pytest.mark.parametrize(
    ("arguments", "options"),
    [((), {"parameters": {"heat": 1}}), (("x",), {"gives": Path}), ((3,), {}), ((lambda a: a,), {})],
)
def test_definitions_that_are_none(arguments: tuple[Any, ...], options: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        prose.model_service(*arguments, **options)
