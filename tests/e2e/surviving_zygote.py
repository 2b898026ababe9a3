"""A process that has everything imported and forks a child for each session of runs, which is killed without warning.

    python tests/e2e/surviving_zygote.py

Reads one JSON object a line: a session. Writes `{"folder": …, "signal": …, "code": …}` when its process has ended. A
child starts from nothing but the modules: its engine, its store and its threads are its own. So a session costs some
milliseconds and not the half second of a new interpreter.

A session is killed in one of three ways:

    after   from outside, so many seconds after it was begun
    lines   by itself, once its services have written so many lines
    steps   by itself, at a call or return inside the journal: of a Python function, or of what SQLite and the system do
            for it. So it dies between two statements of a transaction, before a commit, or between it and its notice
"""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from surviving_programs import BY_NAME, Task
from surviving_services import Lines, Watched, services

import prose_lang as prose
from prose_lang.engine.outcome import Outcome
from prose_lang.journal import sqlite
from prose_lang.testing.clock import run_virtual


def die() -> None:
    """End as if the power had gone from this process: nothing is flushed, closed or told."""
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()


def die_at_step(number: int) -> None:
    """Die at the so many-th call or return inside the journal, in whichever thread it is."""
    package = os.path.dirname(os.path.abspath(prose.__file__))
    inside = tuple(os.path.join(package, *part) for part in (("journal", ""), ("handlers", "journal"),
                                                              ("engine", "record"), ("engine", "resum")))  # fmt: skip
    known: dict[Any, bool] = {}
    left = number

    def step(frame: Any, event: str, argument: Any) -> None:
        nonlocal left
        code = frame.f_code
        counts = known.get(code)
        if counts is None:
            counts = known[code] = code.co_filename.startswith(inside)
        if counts:
            left -= 1
            if left <= 0:
                die()

    threading.setprofile(step)
    sys.setprofile(step)


def engine_of(lines: Lines, store: Path | None) -> tuple[prose.Engine, dict[str, Watched]]:
    known = services(lines)
    return prose.Engine(services=known, judge="judge", store=store, limits=prose.Limits(calls=None)), known


def pattern_of(task: Task, engine: prose.Engine, folder: Path) -> Any:
    """The pattern of a task, as it is loaded the first time."""
    if task.text.startswith("stdlib:"):
        return engine.load(task.text)
    if not task.kind.file:
        return engine.loads(task.text, task.tag)
    path = folder / task.tag / "program.prose.md"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "pyproject.toml").touch()  # the root of a project: conversations are kept here
        made = path.with_suffix(".tmp")
        made.write_text(f"---\nname: program\nkind: pattern\n---\n### Delegation\n```prose\n{task.text}```\n")
        os.replace(made, path)  # who is killed here leaves a whole file or none
    return engine.load(path)


def names_of(task: Task, known: dict[str, Watched]) -> dict[str, Any]:
    """What a task is given."""
    names = dict(task.kind.given)
    if names:
        names["task_brief"] = task.tag
    return names | {name: known[name] for name in task.kind.functions}


def told(outcome: Outcome) -> dict[str, Any]:
    """What a run came to, without what may differ from one run of a program to the next."""
    return {
        "status": outcome.status,
        "value": outcome.value,
        "error": None if outcome.error is None else [outcome.error.code, outcome.error.message],
        "calls": [[call.address, call.service, call.inputs, call.modifiers, call.value,
                   call.error and [call.error["code"], call.error["message"]]] for call in outcome.trace.calls],
        "attempts": {call.address: call.attempts for call in outcome.trace.calls},
        "decisions": [[item.address, item.text, item.layer, item.holds, item.reason]
                      for item in outcome.trace.decisions],
        "warnings": sorted([item.code, item.line, item.message] for item in outcome.trace.warnings),
        "unrecorded": getattr(outcome.unrecorded, "message", None),
    }  # fmt: skip


def undisturbed(task: Task, folder: Path) -> dict[str, Any]:
    """What a task comes to where nothing is recorded and nothing happens to it; its `lines` are how many it wrote."""
    lines = Lines()
    engine, known = engine_of(lines, None)
    outcome = run_virtual(engine.outcome_async(pattern_of(task, engine, folder), names_of(task, known)))
    return {**json.loads(json.dumps(told(outcome))), "lines": lines.count}


async def session(job: dict[str, Any], folder: Path, lines: Lines) -> dict[str, Any]:
    """Begin runs or go on with them, all at the same time, on one store."""
    engine, known = engine_of(lines, folder / "store")

    async def one(kind: str, seed: int, run: str | None) -> Outcome:
        task = Task(BY_NAME[kind], seed)
        if run is None:
            return await engine.outcome_async(pattern_of(task, engine, folder), names_of(task, known))
        return await engine.resuming.outcome_async(run, {name: known[name] for name in task.kind.functions})

    outcomes = await asyncio.gather(*(one(*run) for run in job["runs"]))
    # A run that had ended before is given back as its record tells it: so what all say is read from there.
    return {Task(BY_NAME[kind], seed).tag: {"run": outcome.run_id, **told(outcome)}
            for (kind, seed, _), outcome in zip(job["runs"], outcomes, strict=True)}  # fmt: skip


def child(job: dict[str, Any]) -> None:
    """One session, and the end of this process."""
    folder = Path(job["folder"])
    os.dup2(os.open(folder / "errors", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 2)
    kill: list[Any] = job["kill"] or ["never", 0]
    lines = Lines(folder, lambda: die() if kill[0] == "lines" and lines.count >= kill[1] else None)
    if kill[0] == "steps":
        die_at_step(kill[1])
    found = asyncio.run(session(job, folder, lines))
    sys.setprofile(None)
    made = folder / "outcomes.tmp"
    made.write_text(json.dumps(found))
    os.replace(made, folder / "outcomes")


class Zygote:
    """Forks, kills and buries."""

    def __init__(self) -> None:
        self.running: dict[int, str] = {}  # by process, the folder of its session
        self.due: list[tuple[float, int]] = []
        self.ears, self.mouth = os.pipe()
        os.set_blocking(self.mouth, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.mouth)

    def serve(self) -> None:
        pending = b""
        while True:
            wait = max(0.0, min(self.due)[0] - time.monotonic()) if self.due else None
            ready, _, _ = select.select([0, self.ears], [], [], wait)
            if self.ears in ready:
                os.read(self.ears, 4096)
            self.bury()
            self.kill()
            if 0 in ready:
                text = os.read(0, 65536)
                if not text:
                    break
                *whole, pending = (pending + text).split(b"\n")
                for line in whole:
                    self.fork(json.loads(line))
        for process in self.running:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def fork(self, job: dict[str, Any]) -> None:
        process = os.fork()
        if not process:
            code = 1
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                os.closerange(0, 2)
                child(job)
                code = 0
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                os._exit(code)
        self.running[process] = job["folder"]
        if job["kill"] and job["kill"][0] == "after":
            self.due.append((time.monotonic() + job["kill"][1], process))

    def kill(self) -> None:
        now = time.monotonic()
        for moment, process in [item for item in self.due if item[0] <= now]:
            self.due.remove((moment, process))
            if process in self.running:  # it is not buried yet, so the number is still its own
                os.kill(process, signal.SIGKILL)

    def bury(self) -> None:
        while self.running:
            process, status = os.waitpid(-1, os.WNOHANG)
            if not process:
                return
            folder = self.running.pop(process)
            signalled = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
            code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
            print(json.dumps({"folder": folder, "signal": signalled, "code": code}), flush=True)


def main() -> None:
    warm: Callable[[], Any] = lambda: undisturbed(Task(BY_NAME["sure-race"], 0), Path())  # noqa: E731
    warm()
    assert sqlite.SqliteStore  # what a session needs is imported before it is forked
    assert threading.active_count() == 1, "a fork would lose the others"
    Zygote().serve()


if __name__ == "__main__":
    main()
