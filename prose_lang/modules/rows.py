"""Many rows: one run of a module for each, so many at once, results in order, errors in their places."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Mapping, Sized
from typing import TYPE_CHECKING, Any

from prose_lang.diagnostics import CheckError, ProseError
from prose_lang.modules.errors import refused

if TYPE_CHECKING:
    from prose_lang.modules.module import Module

Told = Callable[[int, int | None, int], None]


async def run_rows(
    module: Module, rows: Iterable[Mapping[str, Any]], concurrency: int, progress: bool | Told | None
) -> list[Any]:
    """The predictions of a module for rows of inputs; see `Module.map`.

    Rows are taken from their source as they are begun, so that it may be a generator of any length. An error of the
    source, or of `progress`, is raised as it is, and the rows under way are cancelled.
    """
    if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
        raise refused(f"`concurrency` is a whole number from 1, not {concurrency!r}")
    if isinstance(rows, Mapping):
        raise refused("`rows` is a list of rows, not a single one")
    total = len(rows) if isinstance(rows, Sized) else None
    tell = _told(progress)
    results: list[Any] = []
    source = enumerate(rows)
    done = failed = 0

    async def work() -> None:
        nonlocal done, failed
        for index, row in source:
            results.append(None)
            results[index] = found = await _one(module, index, row)
            done += 1
            failed += isinstance(found, ProseError)
            tell(done, total, failed)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, total) if total is not None else concurrency):
                group.create_task(work())
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None
    return results


async def _one(module: Module, index: int, row: Any) -> Any:
    if not isinstance(row, Mapping) or not all(isinstance(key, str) for key in row):
        return CheckError("P211", f"row {index} is a {type(row).__name__}, not an object of named inputs")
    try:
        return await module.acall(**row)
    except ProseError as error:
        return error


def _told(progress: bool | Told | None) -> Told:
    if callable(progress):
        return progress
    if progress or (progress is None and sys.stderr.isatty()):
        return _line
    return lambda done, total, failed: None


def _line(done: int, total: int | None, failed: int) -> None:
    """One line on standard error that is written over and over; the last row ends it."""
    of = f" of {total:,}" if total is not None else ""
    text = f"\r{done:,}{of} rows done" + (f", {failed:,} failed" if failed else "")
    sys.stderr.write(text + ("\n" if done == total else ""))
    sys.stderr.flush()
