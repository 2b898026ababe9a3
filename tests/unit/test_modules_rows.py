"""`map`: many rows, results in order, errors in their places."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Iterator
from typing import Any

import pytest

import prose_lang as prose
from prose_lang.modules import AttemptsError, pipeline, refine
from prose_lang.testing.clock import run_virtual


async def double(number: int) -> int:
    await asyncio.sleep(10 - number)
    if number == 3:
        raise ValueError("three")
    return 2 * number


def test_results_are_in_order_and_a_failed_row_is_its_error() -> None:
    made = refine(double, n=2)
    results = run_virtual(made.amap([{"number": number} for number in range(6)], concurrency=3))
    assert [one for one in results if not isinstance(one, Exception)] == [0, 2, 4, 8, 10]
    assert isinstance(results[3], AttemptsError)
    assert len(results[3].history) == 2


def test_the_order_of_attempts_of_all_rows_is_that_in_which_they_ended() -> None:
    made = refine(double, n=1)
    run_virtual(made.amap([{"number": 1}, {"number": 5}]))
    assert [attempt.prediction for attempt in made.attempts(all=True)] == [10, 2]


def test_so_many_rows_at_once_and_no_more() -> None:
    now = most = 0

    async def watched(number: int) -> int:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(1)
        now -= 1
        return number

    async def main() -> float:
        assert await pipeline([watched]).amap(({"number": n} for n in range(20)), concurrency=5) == list(range(20))
        return asyncio.get_running_loop().time()

    assert run_virtual(main()) == 4.0
    assert most == 5


def test_rows_are_taken_as_they_are_begun() -> None:
    begun = []

    def rows() -> Iterator[dict[str, int]]:
        for number in range(10):
            begun.append(number)
            yield {"number": number}

    async def watched(number: int) -> int:
        assert len(begun) <= number + 2
        return number

    assert pipeline([watched]).map(rows(), concurrency=2) == list(range(10))


def test_a_row_that_is_none_and_one_with_wrong_inputs_are_errors_in_place() -> None:
    made = pipeline([double])
    results = made.map([{"number": 10}, ["number"], {"numbr": 1}, {}, None, {1: 2}, {"number": 10}], concurrency=1)
    assert results[0] == results[6] == 20
    assert [one.code for one in results[1:6]] == ["P211", "P210", "P203", "P211", "P211"]
    assert results[1].message == "row 1 is a list, not an object of named inputs"


def test_progress_is_told() -> None:
    told: list[Any] = []
    made = refine(double, n=1)
    run_virtual(made.amap([{"number": n} for n in (2, 3, 4)], concurrency=1, progress=lambda *now: told.append(now)))
    assert told == [(1, 3, 0), (2, 3, 1), (3, 3, 1)]
    told.clear()
    run_virtual(made.amap(({"number": n} for n in (2,)), progress=lambda *now: told.append(now)))
    assert told == [(1, None, 0)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_shown_on_a_terminal_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    made = refine(double, n=1)
    rows = [{"number": 9}, {"number": 3}]
    for stream, progress, shown in (
        (Terminal(), None, "\r1 of 2 rows done\r2 of 2 rows done, 1 failed\n"),
        (io.StringIO(), None, ""),
        (Terminal(), False, ""),
        (io.StringIO(), True, "\r1 of 2 rows done\r2 of 2 rows done, 1 failed\n"),
    ):
        monkeypatch.setattr("sys.stderr", stream)
        run_virtual(made.amap(rows, progress=progress, concurrency=1))
        assert stream.getvalue() == shown


def test_no_rows() -> None:
    assert pipeline([double]).map([]) == []
    assert pipeline([double]).map(iter([])) == []


@pytest.mark.parametrize("concurrency", [0, -1, True, 1.5])
def test_concurrency_is_a_whole_number_from_one(concurrency: Any) -> None:
    with pytest.raises(prose.CheckError, match="`concurrency` is a whole number from 1"):
        pipeline([double]).map([], concurrency=concurrency)


def test_a_single_row_is_no_list_of_rows() -> None:
    with pytest.raises(prose.CheckError, match="is a list of rows"):
        pipeline([double]).map({"number": 1})  # type: ignore[arg-type]


def test_cancelling_ends_all_rows() -> None:
    ended = []

    async def slow(number: int) -> int:
        try:
            await asyncio.sleep(100)
        finally:
            ended.append(number)
        return number

    async def main() -> None:
        task = asyncio.create_task(pipeline([slow]).amap([{"number": n} for n in range(10)], concurrency=3))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run_virtual(main())
    assert sorted(ended) == [0, 1, 2]


def test_inside_a_running_loop_the_error_names_what_to_await() -> None:
    async def main() -> None:
        pipeline([double]).map([])

    with pytest.raises(RuntimeError, match="await `amap`"):
        asyncio.run(main())


def test_an_error_of_the_source_of_rows_is_raised_as_it_is_and_the_rows_under_way_are_cancelled() -> None:
    ended: list[str] = []

    async def slow(number: int) -> int:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")
        return number

    def rows() -> Iterator[dict[str, Any]]:
        yield {"number": 1}
        raise OSError("the file is gone")

    with pytest.raises(OSError, match="the file is gone"):
        run_virtual(refine(slow, n=1).amap(rows(), concurrency=2))
    assert ended in ([], ["cancelled"])  # the first row may not have begun by then


def test_an_error_of_progress_is_raised_as_it_is() -> None:
    def tell(done: int, total: int | None, failed: int) -> None:
        raise RuntimeError("no bar")

    with pytest.raises(RuntimeError, match="no bar"):
        run_virtual(refine(double, n=1).amap([{"number": 1}], progress=tell))
