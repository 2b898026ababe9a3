"""Scripts and the services that answer by them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from prose_lang.diagnostics import CheckError, ProseError, ServiceError, WaitingError
from prose_lang.runtime.effects import Call
from prose_lang.services import Script, ScriptedService, read_script, scripted_services
from prose_lang.testing.clock import run_virtual
from prose_lang.text import Source


def scripted(replies: Any, name: str = "critic") -> ScriptedService:
    return scripted_services(Script.from_data({name: replies}))[name].for_run()


def effect(service: ScriptedService, inputs: dict[str, Any] | None = None) -> Call:
    return Call(None, None, (), service, inputs or {})  # type: ignore[arg-type]


def answers(service: ScriptedService, *calls: dict[str, Any]) -> list[Any]:
    """What each call in turn gets: a value or an error."""

    async def main() -> list[Any]:
        got: list[Any] = []
        for inputs in calls:
            try:
                got.append(await service.invoke(effect(service, inputs)))
            except ProseError as error:
                got.append(error)
        return got

    return run_virtual(main())


class TestReplies:
    def test_values_in_order(self) -> None:
        values = ["first draft", 5, None, ["a"], {"verdict": "accept"}, {"returns": 1, "other": 2}, {"always": 1}, {}]
        assert answers(scripted(values), *[{}] * len(values)) == values

    def test_the_long_form_of_a_value(self) -> None:
        assert answers(scripted([{"returns": {"text": "x"}}, {"returns": None, "delay": 0}]), {}, {}) == [
            {"text": "x"},
            None,
        ]

    def test_errors(self) -> None:
        service = scripted(
            [
                {"raises": "rate limited"},
                {"raises": "rate-limited"},
                {"raises": {"name": "too-long", "message": "it is too long"}},
                {"raises": {"name": "too-long"}},
                {"raises": {"message": "just this"}},
            ]
        )
        errors = answers(service, {}, {}, {}, {}, {})
        assert {type(error) for error in errors} == {ServiceError}
        assert [(error.code, error.name, error.message, error.service) for error in errors] == [
            ("P406", "service-failed", "rate limited", "critic"),
            ("P406", "rate-limited", "rate-limited", "critic"),
            ("P406", "too-long", "it is too long", "critic"),
            ("P406", "too-long", "too-long", "critic"),
            ("P406", "service-failed", "just this", "critic"),
        ]

    def test_a_question_waits_for_a_person(self) -> None:
        (error,) = answers(scripted([{"ask": "Ship it?"}]), {})
        assert isinstance(error, WaitingError)
        assert (error.code, error.message, error.service) == ("P411", "Ship it?", "critic")

    def test_always(self) -> None:
        assert answers(scripted({"always": {"verdict": "accept"}}), {}, {}) == [{"verdict": "accept"}] * 2
        assert answers(scripted({"always": ["a"]}), {}, {}) == [["a"], ["a"]]
        service = scripted({"always": {"raises": "down"}})
        assert [error.message for error in answers(service, {}, {})] == ["down", "down"]

    def test_a_single_reply_that_lasts(self) -> None:
        service = scripted(["once", {"returns": "then", "always": True}, "never"])
        assert answers(service, {}, {}, {}) == ["once", "then", "then"]

    def test_delays_pass_on_the_loops_clock_and_do_not_change_the_order(self) -> None:
        service = scripted([{"returns": "slow", "delay": 90}, {"raises": "late", "delay": 1.5}, "now"])

        async def main() -> Any:
            loop = asyncio.get_running_loop()
            ended: list[tuple[float, Any]] = []

            async def one() -> None:
                try:
                    ended.append((0, await service.invoke(effect(service))))
                except ServiceError as error:
                    ended.append((0, error.message))
                ended[-1] = (loop.time(), ended[-1][1])

            await asyncio.gather(one(), one(), one())
            return ended

        assert run_virtual(main()) == [(0.0, "now"), (1.5, "late"), (90.0, "slow")]

    def test_a_reply_is_taken_when_the_call_starts(self) -> None:
        service = scripted(["a", "b"])

        async def main() -> list[Any]:
            first, second = service.invoke(effect(service)), service.invoke(effect(service))
            return [await second, await first]

        assert run_virtual(main()) == ["b", "a"]

    def test_usage(self) -> None:
        service = scripted(
            [
                {"returns": 1, "usage": {"tokens_in": 10, "tokens_out": 5, "cost": 0.25}},
                {"raises": "x", "usage": {"tokens_in": 3, "cost": None}},
                "none",
            ]
        )

        async def main() -> list[Any]:
            seen = []
            for _ in range(3):
                one = effect(service)
                await asyncio.gather(service.invoke(one), return_exceptions=True)
                seen.append(one.usage and one.usage.as_json())
            return seen

        assert run_virtual(main()) == [
            {"calls": 0, "tokens_in": 10, "tokens_out": 5, "cost": 0.25},
            {"calls": 0, "tokens_in": 3, "tokens_out": 0, "cost": None},
            None,
        ]


class TestWhen:
    def test_the_first_unused_reply_that_fits(self) -> None:
        service = scripted(
            [
                {"when": {"lang": "de"}, "returns": "Hallo"},
                {"when": {"lang": "de", "loud": True}, "returns": "HALLO"},
                "any",
                {"when": {"lang": "de"}, "returns": "Hallo again"},
            ]
        )
        calls = [{"lang": "fr"}, {"lang": "de", "loud": True}, {"lang": "de"}, {"lang": "de", "loud": True}]
        assert answers(service, *calls) == ["any", "Hallo", "Hallo again", "HALLO"]

    def test_kinds_do_not_mix_and_null_is_absent(self) -> None:
        service = scripted(
            [
                {"when": {"n": True}, "returns": "true"},
                {"when": {"n": 1}, "returns": "one"},
                {"when": {"n": None}, "returns": "absent"},
                {"when": {"n": {"a": [1]}}, "returns": "nested"},
            ]
        )
        assert answers(service, {"n": {"a": [1.0]}}, {}, {"n": 1.0}, {"n": True}) == ["nested", "absent", "one", "true"]

    def test_inside_always(self) -> None:
        service = scripted({"always": {"when": {"lang": "de"}, "returns": "Hallo"}})
        assert answers(service, {"lang": "de"}, {"lang": "de"}) == ["Hallo", "Hallo"]
        (error,) = answers(service, {"lang": "fr"})
        assert error.code == "P409"


class TestUsedUp:
    def test_it_names_the_service_and_the_call(self) -> None:
        got = answers(scripted(["only"]), {}, {"brief": "b"})
        assert got[0] == "only"
        assert (type(got[1]), got[1].code, got[1].service) == (ServiceError, "P409", "critic")
        assert got[1].message == '`critic`: no reply is left for call 2, with {"brief": "b"}'

    def test_it_says_when_replies_are_left_that_do_not_fit(self) -> None:
        (error,) = answers(scripted([{"when": {"a": 1}, "returns": 1}]), {"a": 2})
        assert error.message == '`critic`: no reply that fits is left for call 1, with {"a": 2}'

    def test_long_inputs_are_cut(self) -> None:
        (error,) = answers(scripted([]), {"text": "x" * 1000})
        assert error.message.endswith('with {"text": "' + "x" * 190 + "...")

    def test_many_replies_do_not_cost_quadratic_time(self) -> None:
        service = scripted(list(range(20_000)))
        assert answers(service, *[{}] * 20_000) == list(range(20_000))


class TestRuns:
    def test_each_run_starts_anew_and_counts_for_itself(self) -> None:
        script = Script.from_data({"critic": ["a", {"returns": "b", "delay": 1}, "c"], "judge": {"always": True}})
        services = scripted_services(script)
        first, second = services["critic"].for_run(), services["critic"].for_run()
        assert answers(first, {}, {}) == ["a", "b"]
        assert answers(second, {}) == ["a"]
        assert [reply.number for reply in first.unused()] == [3]
        assert [reply.value for reply in second.unused()] == ["b", "c"]
        assert len(services["critic"].unused()) == 3
        assert services["judge"].for_run().unused() == ()

    def test_it_is_an_open_service(self) -> None:
        service = scripted(["a"])
        assert (service.name, service.composite, service.signature.open) == ("critic", False, True)


class TestMalformed:
    @pytest.mark.parametrize(
        ("data", "faults"),
        [
            (["a"], [("P107", "a script is an object: the name of each service, and its replies")]),
            ({"critic": "text"}, [("P107", "`critic` must be a list of replies, or `{always: REPLY}`")]),
            (
                {"critic": {"always": 1, "delay": 2}},
                [("P107", "`critic` must be a list of replies, or `{always: REPLY}`")],
            ),
            (
                {"critic": [{"returns": 1, "raises": "x"}]},
                [("P107", "a reply cannot both `returns` and `raises`")],
            ),
            ({"critic": [{"ask": 5}]}, [("P211", "`ask` must be a question: a text")]),
            ({"critic": [{"raises": [5]}]}, [("P211", "`raises` must be a text, or `{name: ..., message: ...}`")]),
            (
                {"critic": [{"raises": {"nmae": "x", "message": "m"}}]},
                [("P107", "`raises` takes name, message, not `nmae`")],
            ),
            (
                {"critic": [{"raises": {}}]},
                [("P211", "`name` and `message` of an error must be texts, and one of them must be there")],
            ),
            ({"critic": [{"returns": 1, "delay": -1}]}, [("P211", "`delay` must be a number of seconds, 0 or more")]),
            ({"critic": [{"returns": 1, "delay": True}]}, [("P211", "`delay` must be a number of seconds, 0 or more")]),
            (
                {"critic": [{"returns": 1, "when": ["lang"]}]},
                [("P211", "`when` must be an object: the names of inputs and what they must be")],
            ),
            (
                {"critic": [{"returns": 1, "usage": {"tokens_in": 1.5, "cost": "x"}}]},
                [
                    ("P211", "`tokens_in` must be a whole number, 0 or more"),
                    ("P211", "`cost` must be a number, 0 or more"),
                ],
            ),
            (
                {"critic": [{"returns": 1, "usage": 5}]},
                [("P211", "`usage` must be an object of `tokens_in`, `tokens_out` and `cost`")],
            ),
            ({"critic": [{"returns": 1, "always": 1}]}, [("P211", "`always` of a single reply must be true or false")]),
            (
                {"a": 5, "b": {"always": {"ask": 1}}},
                [
                    ("P107", "`a` must be a list of replies, or `{always: REPLY}`"),
                    ("P211", "`ask` must be a question: a text"),
                ],
            ),
        ],
    )
    def test_all_faults_are_told_together(self, data: Any, faults: list[tuple[str, str]]) -> None:
        with pytest.raises(CheckError) as caught:
            Script.from_data(data)
        found = [(fault.code, fault.message.partition(" (at ")[0]) for fault in caught.value.diagnostics]
        assert found == faults

    def test_without_a_text_the_message_says_where(self) -> None:
        with pytest.raises(CheckError, match=r"0 or more \(at critic\[1\]\.usage\.cost\)"):
            Script.from_data({"critic": ["a", {"returns": 1, "usage": {"cost": -1}}]})

    def test_an_empty_script(self) -> None:
        assert Script.from_data(None).replies == {}
        assert Script.from_data({}).replies == {}


class TestReading:
    def test_the_text_of_the_documentation(self) -> None:
        script = read_script(
            Source(
                "demo.yaml",
                "refiner:                     # replies in order\n"
                "  - first draft              # any value\n"
                '  - returns: {text: "x"}\n'
                '  - raises: "rate limited"\n'
                "  - {when: {lang: de}, returns: Hallo}\n"
                "judge: [{holds: true, reason: scripted}]\n"
                "critic: {always: {verdict: accept}}\n",
            )
        )
        assert {
            name: [(reply.outcome, reply.value, dict(reply.when), reply.lasting) for reply in replies]
            for name, replies in script.replies.items()
        } == {
            "refiner": [
                ("returns", "first draft", {}, False),
                ("returns", {"text": "x"}, {}, False),
                ("raises", "rate limited", {}, False),
                ("returns", "Hallo", {"lang": "de"}, False),
            ],
            "judge": [("returns", {"holds": True, "reason": "scripted"}, {}, False)],
            "critic": [("returns", {"verdict": "accept"}, {}, True)],
        }
        assert script.source is not None
        places = [reply.span for reply in script.replies["refiner"]]
        assert [span and script.source.line_of(span.start) for span in places] == [2, 3, 4, 5]

    def test_all_faults_have_places(self) -> None:
        with pytest.raises(CheckError) as caught:
            read_script(
                Source(
                    "demo.yaml",
                    "refiner: text\n"
                    "critic:\n"
                    "  - {returns: 1, delay: soon}\n"
                    "  - returns: 1\n"
                    "    ask: 5\n"
                    "critic: []\n"
                    "judge: [{raises: {nmae: x, message: m}}]\n",
                )
            )
        assert [(fault.code, fault.line, fault.column, fault.message) for fault in caught.value.diagnostics] == [
            ("P107", 1, 10, "`refiner` must be a list of replies, or `{always: REPLY}`"),
            ("P211", 3, 25, "`delay` must be a number of seconds, 0 or more"),
            ("P107", 5, 10, "a reply cannot both `returns` and `ask`"),
            ("P107", 6, 1, "the key `critic` is repeated; it first stands on line 2"),
            ("P107", 7, 25, "`raises` takes name, message, not `nmae`"),
        ]

    def test_a_text_that_is_not_yaml(self) -> None:
        with pytest.raises(CheckError) as caught:
            read_script(Source("demo.yaml", "critic: [\n"))
        assert caught.value.code == "P107"

    def test_an_empty_text(self) -> None:
        assert read_script(Source("demo.yaml", "# nothing yet\n")).replies == {}

    def test_another_kind_of_text(self) -> None:
        with pytest.raises(CheckError, match="a script is an object") as caught:
            read_script(Source("demo.yaml", "- a\n"))
        assert caught.value.as_diagnostic().line == 1
