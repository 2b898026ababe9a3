"""Python callables as services: binding, inputs, typed inputs, sync and async."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import pathlib
import threading
import typing
import uuid
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import attrs
import pytest

from prose_lang.diagnostics import ServiceError
from prose_lang.documents.model import ANY
from prose_lang.runtime.effects import Call, Modifiers
from prose_lang.services import FunctionService, WorkerThreads, service
from prose_lang.services.annotations import declared_type, needs_structure
from prose_lang.testing.clock import run_virtual
from prose_lang.values import GrowingList, ServiceRef

if typing.TYPE_CHECKING:
    from nowhere import Unknown


def call(function: Any, /, inputs: dict[str, Any] | None = None, **options: Any) -> Any:
    bound = function if isinstance(function, FunctionService) else FunctionService(function, **options)

    async def main() -> Any:
        return await bound.invoke(Call(None, None, (), bound, inputs or {}, Modifiers()))  # type: ignore[arg-type]

    return run_virtual(main())


@attrs.frozen
class Draft:
    text: str
    score: int = 0


@dataclasses.dataclass
class Review:
    draft: Draft
    tags: list[str]


class Tone(enum.Enum):
    WARM = "warm"
    COOL = "cool"


class Pair(NamedTuple):
    left: int
    right: str


class Options(TypedDict):
    depth: int


class TestSignature:
    def test_parameters_with_and_without_defaults(self) -> None:
        async def evaluator(task_brief: str, result, rounds: int = 3) -> dict: ...

        signature = FunctionService(evaluator).signature
        assert [(p.name, p.required, p.pass_null, p.type.text) for p in signature.parameters] == [
            ("task_brief", True, True, "string"),
            ("result", True, True, "any"),
            ("rounds", False, False, "integer"),
        ]
        assert signature.open is False
        assert signature.outputs is None
        assert signature.positional is True

    def test_keywords_make_it_open(self) -> None:
        def anything(first: str, *rest: str, **others: Any) -> None: ...

        signature = FunctionService(anything).signature
        assert signature.open is True
        assert signature.names == ("first",)

    def test_what_a_partial_binds_is_not_required(self) -> None:
        def score(text: str, model: str) -> None: ...

        signature = FunctionService(functools.partial(score, model="m")).signature
        assert [(p.name, p.required) for p in signature.parameters] == [("text", True), ("model", False)]

    def test_a_bound_method_has_no_self(self) -> None:
        class Judge:
            def holds(self, condition: str) -> bool:
                return True

        bound = FunctionService(Judge().holds)
        assert bound.name == "holds"
        assert bound.signature.names == ("condition",)

    def test_an_annotation_that_cannot_be_resolved_means_nothing_and_spoils_no_other(self) -> None:
        def uses(a: Unknown, b: int) -> None: ...

        assert [p.type.text for p in FunctionService(uses).signature.parameters] == ["any", "integer"]

    def test_names(self) -> None:
        class Judge:
            def __call__(self) -> None: ...

        assert FunctionService(functools.partial(len), name="x").name == "x"
        assert FunctionService(functools.partial(functools.partial(len))).name == "len"
        assert FunctionService(Judge()).name == "Judge"
        assert FunctionService(functools.partial(Judge.__call__, None)).name == "__call__"


class TestRefused:
    def test_generators(self) -> None:
        def pieces() -> Any:
            yield 1

        async def later() -> Any:
            yield 1

        class Object:
            def __call__(self) -> Any:
                yield 1

        for function in (pieces, later, Object(), functools.partial(pieces)):
            with pytest.raises(TypeError, match="is a generator function; a service returns its result"):
                FunctionService(function)

    def test_what_cannot_be_called(self) -> None:
        with pytest.raises(TypeError, match="a service must be a function or another callable, not int"):
            FunctionService(5)  # type: ignore[arg-type]

    def test_a_callable_without_a_known_signature(self) -> None:
        with pytest.raises(TypeError, match=r"the parameters of .* cannot be found out; write a function around it"):
            FunctionService(type)


@pytest.mark.parametrize(
    ("annotation", "text"),
    [
        (str, "string"),
        (int, "integer"),
        (float, "number"),
        (bool, "boolean"),
        (Any, "any"),
        (object, "any"),
        (inspect.Parameter, "any"),
        (list, "any[]"),
        (list[str], "string[]"),
        (list[list[str]], "any[]"),
        (list[str | int], "string[] | integer[]"),
        (Sequence[float], "number[]"),
        (tuple[int, ...], "integer[]"),
        (tuple[int, str], "any[]"),
        (set[str], "string[]"),
        (dict[str, int], "object"),
        (Mapping[str, Any], "object"),
        (Options, "object"),
        (Draft, "object"),
        (Review, "object"),
        (list[Draft], "object[]"),
        (Pair, "any"),
        (str | None, "string"),
        (typing.Optional[int], "integer"),  # noqa: UP045
        (str | list[str], "string | string[]"),
        (int | Any, "any"),
        (Literal["a", 'b"c'], '"a" | "b\\"c"'),
        (Literal[1, 2, None], "integer"),
        (Tone, '"warm" | "cool"'),
        (Annotated[int, "metres"], "integer"),
        (typing.NewType("Metres", float), "number"),
        (typing.TypeVar("T"), "any"),
        (typing.TypeVar("S", bound=str), "string"),
        (datetime.datetime, "string"),
        (pathlib.Path, "string"),
        (decimal.Decimal, "number"),
        (typing.Callable[[int], str], "any"),
        (None, "any"),
    ],
)
def test_the_type_of_an_annotation(annotation: Any, text: str) -> None:
    assert declared_type(annotation).text == text
    assert (declared_type(annotation) == ANY) == (text == "any")


@pytest.mark.parametrize(
    ("annotation", "needed"),
    [
        (str, False),
        (dict[str, Any], False),
        (list[str] | None, False),
        (Options, False),
        (Literal["a"], False),
        (inspect.Parameter, False),
        (asyncio.Future[Draft], False),
        (typing.Callable[[Draft], str], False),
        (Draft, True),
        (list[Draft] | None, True),
        (dict[str, Review], True),
        (tuple[str, ...], True),
        (set, True),
        (Tone, True),
        (Pair, True),
        (datetime.date, True),
        (Annotated[Draft, "x"], True),
    ],
)
def test_which_annotations_ask_for_a_rebuilt_value(annotation: Any, needed: bool) -> None:
    assert needs_structure(annotation) is needed


class TestInputs:
    def test_null_is_none_without_a_default_and_absent_with_one(self) -> None:
        async def worker(brief: str, feedback: Any, rounds: int = 3) -> Any:
            return [brief, feedback, rounds]

        assert call(worker, {"brief": "b", "feedback": None, "rounds": None}) == ["b", None, 3]
        assert call(worker, {"brief": "b"}) == ["b", None, 3]

    def test_zero_false_and_empty_are_sent(self) -> None:
        async def worker(a: Any = 1, b: Any = 1, c: Any = 1, d: Any = 1) -> Any:
            return [a, b, c, d]

        assert call(worker, {"a": 0, "b": False, "c": "", "d": []}) == [0, False, "", []]

    def test_what_the_function_does_not_take_is_left_out(self) -> None:
        async def judge(condition: str) -> str:
            return condition

        assert call(judge, {"condition": "c", "values": {}, "options": []}) == "c"

    def test_an_open_function_gets_the_rest(self) -> None:
        async def anything(first: str, **others: Any) -> Any:
            return [first, others]

        assert call(anything, {"quality-bar": [1], "first": "f", "gone": None}) == ["f", {"quality-bar": [1]}]

    def test_positional_only_parameters_and_their_defaults(self) -> None:
        async def ordered(a: int, b: int = 2, /, c: int = 3, *, d: int = 4) -> Any:
            return [a, b, c, d]

        assert call(ordered, {"a": 1, "d": 5}) == [1, 2, 3, 5]
        assert call(ordered, {"b": 9}) == [None, 9, 3, 4]

    def test_containers_are_copies_and_references_are_names(self) -> None:
        nested = {"list": [1], "service": ServiceRef("critic", object())}
        growing = GrowingList([{"a": 1}])

        async def spoil(nested: dict[str, Any], growing: list[Any], who: str) -> Any:
            kinds = [type(growing), type(who), type(nested["service"])]
            nested["list"].append(2)
            growing[0]["a"] = 2
            growing.append(3)
            return kinds

        inputs = {"nested": nested, "growing": growing, "who": ServiceRef("w", object())}
        assert call(spoil, inputs) == [list, str, str]
        assert nested["list"] == [1]
        assert growing == [{"a": 1}]

    def test_the_async_path_gives_the_functions_own_coroutine(self) -> None:
        async def plain(text: str) -> str:
            return text

        bound = FunctionService(plain)
        made = bound.invoke(Call(None, None, (), bound, {"text": "x"}))  # type: ignore[arg-type]
        assert inspect.iscoroutine(made)
        assert made.cr_code is plain.__code__
        made.close()

    def test_errors_propagate_as_they_are(self) -> None:
        def fails() -> None:
            raise KeyError("x")

        async def fails_later() -> None:
            raise KeyError("x")

        for function, options in ((fails, {}), (fails, {"inline": True}), (fails_later, {})):
            with pytest.raises(KeyError, match="x"):
                call(function, **options)


class TestKindsOfCallables:
    def test_async_in_all_its_guises(self) -> None:
        class Object:
            async def __call__(self, text: str) -> str:
                return f"object {text}"

            async def method(self, text: str) -> str:
                return f"method {text}"

        async def bound(how: str, text: str) -> str:
            return f"{how} {text}"

        for function in (Object(), Object().method, functools.partial(bound, "partial"), functools.partial(Object())):
            made = FunctionService(function).invoke(Call(None, None, (), None, {"text": "x"}))  # type: ignore[arg-type]
            assert inspect.iscoroutine(made)
            made.close()
            assert call(function, {"text": "x"}).endswith(" x")

    def test_a_plain_function_that_gives_a_coroutine(self) -> None:
        async def inner(text: str) -> str:
            return text.upper()

        assert call(lambda text: inner(text), {"text": "x"}) == "X"
        assert call(lambda text: inner(text), {"text": "x"}, inline=True) == "X"

    def test_a_decorated_function_keeps_its_parameters(self) -> None:
        def decorate(function: Any) -> Any:
            @functools.wraps(function)
            async def wrapper(*args: Any, **keywords: Any) -> Any:
                return [await function(*args, **keywords)]

            return wrapper

        @decorate
        async def worker(draft: Draft) -> str:
            return draft.text

        assert FunctionService(worker).signature.names == ("draft",)
        assert call(worker, {"draft": {"text": "t"}}) == ["t"]

    def test_a_class_makes_an_instance(self) -> None:
        assert call(Draft, {"text": "t", "score": 2}) == Draft("t", 2)

    def test_sync_runs_in_a_thread_with_the_context_and_inline_does_not(self) -> None:
        variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable")

        def where() -> Any:
            return [threading.current_thread() is threading.main_thread(), variable.get("unset")]

        token = variable.set("seen")
        try:
            assert call(where) == [False, "seen"]
            assert call(where, inline=True) == [True, "seen"]
        finally:
            variable.reset(token)

    def test_the_options_of_the_mark_and_of_the_binding(self) -> None:
        @service(name="other", inline=True, max_concurrency=2)
        def marked() -> bool:
            return threading.current_thread() is threading.main_thread()

        bound = FunctionService(marked)
        assert (bound.name, bound.max_concurrency, call(bound)) == ("other", 2, True)
        bound = FunctionService(marked, name="mine", inline=False, max_concurrency=5, threads=WorkerThreads())
        assert (bound.name, bound.max_concurrency, call(bound)) == ("mine", 5, False)


class TestTypedInputs:
    def test_classes_and_collections_are_built(self) -> None:
        seen: list[Any] = []

        async def worker(
            draft: Draft,
            review: Review,
            more: list[Draft],
            maybe: Draft | None,
            tone: Tone,
            day: datetime.date,
            at: datetime.time,
            wait: datetime.timedelta,
            price: decimal.Decimal,
            key: uuid.UUID,
            path: pathlib.PurePath,
            pair: Pair,
            also: Pair,
            names: tuple[str, ...],
        ) -> None:
            seen.extend([draft, review, more, maybe, tone, day, at, wait, price, key, path, pair, also, names])

        call(
            worker,
            {
                "draft": {"text": "t", "score": 1.0},
                "review": {"draft": {"text": "u"}, "tags": ["a"]},
                "more": [{"text": "v"}],
                "tone": "cool",
                "day": "2024-02-29",
                "at": "10:30",
                "wait": 90,
                "price": 1.5,
                "key": "6ba7b810-9dad-11d1-80b4-00c04fd430c8",
                "path": "a/b",
                "pair": [1, "r"],
                "also": {"left": 1, "right": "r"},
                "names": ["x", "y"],
            },
        )
        assert seen == [
            Draft("t", 1),
            Review(Draft("u"), ["a"]),
            [Draft("v")],
            None,
            Tone.COOL,
            datetime.date(2024, 2, 29),
            datetime.time(10, 30),
            datetime.timedelta(seconds=90),
            decimal.Decimal("1.5"),
            uuid.UUID("6ba7b810-9dad-11d1-80b4-00c04fd430c8"),
            pathlib.PurePath("a/b"),
            Pair(1, "r"),
            Pair(1, "r"),
            ("x", "y"),
        ]

    @pytest.mark.parametrize(
        ("annotation", "value", "said"),
        [
            (Draft, {}, "a required part is missing at text"),
            (Draft, "text", "it must be an object, not a string"),
            (Draft, {"text": 5}, "expected str, got number at text"),
            (Draft, {"text": "t", "score": "5"}, "expected int, got string at score"),
            (Draft, {"text": "t", "score": 2.5}, "expected int, got number at score"),
            (Draft, {"text": "t", "score": True}, "expected int, got boolean at score"),
            (list[Draft], {"text": "t"}, "it must be a list, not an object"),
            (list[Draft], [{"text": "t"}, {}], "a required part is missing at [1].text"),
            (Review, {"draft": 5, "tags": []}, "it cannot be made into Draft at draft"),
            (tuple[str, ...], "abc", "it must be a list, not a string"),
            (Tone, "hot", "'hot' is not a valid Tone"),
            (decimal.Decimal, "many", "expected a decimal number, got string"),
        ],
    )
    def test_what_does_not_fit_is_p404_and_names_the_input(self, annotation: Any, value: Any, said: str) -> None:
        async def worker(given: Any) -> None: ...

        worker.__annotations__["given"] = annotation
        with pytest.raises(ServiceError) as caught:
            call(worker, {"given": value})
        assert caught.value.code == "P404"
        assert caught.value.service == "worker"
        assert caught.value.message == f"`worker` cannot take `given`: {said}"

    def test_pydantic_models(self) -> None:
        pydantic = pytest.importorskip("pydantic")

        class Model(pydantic.BaseModel):  # type: ignore[misc, name-defined]
            text: str
            score: int = 0

        async def worker(given: Any) -> Any:
            return given

        worker.__annotations__["given"] = list[Model]
        assert call(worker, {"given": [{"text": "t"}]}) == [Model(text="t")]
        with pytest.raises(ServiceError, match=r"text: Field required at \[0\]"):
            call(worker, {"given": [{}]})
