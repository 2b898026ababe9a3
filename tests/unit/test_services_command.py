"""Commands as services: what they get, what they answer, and that nothing of them is left behind."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from prose_lang.diagnostics import CheckError, ServiceError
from prose_lang.runtime.effects import NO_MODIFIERS, Call, Modifiers
from prose_lang.services import CommandService

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="process groups")

ECHO = "import sys; sys.stdout.write(sys.stdin.read())"


def python(program: str, *arguments: str) -> str:
    return shlex.join([sys.executable, "-c", program, *arguments])


def effect(service: CommandService, inputs: dict[str, Any], modifiers: Modifiers = NO_MODIFIERS) -> Call:
    return Call(None, None, (), service, inputs, modifiers)  # type: ignore[arg-type]


def answer(line: str, inputs: dict[str, Any] | None = None, **options: Any) -> Any:
    modifiers = options.pop("modifiers", NO_MODIFIERS)
    service = CommandService(line, **options)

    async def main() -> Any:
        return await service.invoke(effect(service, inputs or {}, modifiers))

    return asyncio.run(main())


def failure(line: str, inputs: dict[str, Any] | None = None, **options: Any) -> ServiceError:
    with pytest.raises(ServiceError) as caught:
        answer(line, inputs, **options)
    assert caught.value.service == f"cmd:{line}"
    return caught.value


async def until(holds: Callable[[], bool]) -> None:
    """Wait until another process has done something."""
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline, "it never happened"
        await asyncio.sleep(0.005)


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie that the system has not collected yet does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        return not Path("/proc/self").exists()
    return state != "Z"


class TestBinding:
    def test_the_name_is_the_reference(self) -> None:
        service = CommandService("cat -")
        assert (service.name, service.composite, service.signature.open) == ("cmd:cat -", False, True)
        assert CommandService("cat", name="rank").name == "rank"

    @pytest.mark.parametrize(
        ("line", "said"),
        [
            ("no-such-program-here --x", "there is no program `no-such-program-here`"),
            ("./missing", "there is no program `./missing`"),
            ("'cat", "is not a command line: No closing quotation"),
            ("", "names no command"),
            ("X=1 cat", "there is no program `X=1`"),
        ],
    )
    def test_a_line_that_cannot_run_is_p109_before_the_run(self, line: str, said: str) -> None:
        with pytest.raises(CheckError) as caught:
            CommandService(line)
        assert caught.value.code == "P109"
        assert said in caught.value.message

    def test_the_program_stays_the_same_when_the_folder_changes(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        script = tmp_path / "service.sh"
        script.write_text("#!/bin/sh\necho here\n")
        script.chmod(0o755)
        monkeypatch.chdir(tmp_path)
        service = CommandService("./service.sh")
        monkeypatch.chdir("/")

        async def main() -> Any:
            return await service.invoke(effect(service, {}))

        assert asyncio.run(main()) == "here"


class TestExchange:
    def test_inputs_and_modifiers_arrive_as_one_object(self) -> None:
        sent = answer(
            python(ECHO),
            {"text": "é", "n": 1, "absent": None, "model": "own"},
            modifiers=Modifiers(retry=3, timeout=5, prompt="be brief", model="other", context={"a": [1]}),
        )
        assert sent == {"text": "é", "n": 1, "model": "own", "prompt": "be brief", "context": {"a": [1]}}

    def test_no_shell_reads_the_line(self) -> None:
        program = "import sys, json; print(json.dumps(sys.argv[1:]))"
        assert answer(python(program, "$HOME", "*", "; echo x", "a b")) == ["$HOME", "*", "; echo x", "a b"]

    @pytest.mark.parametrize(
        ("printed", "value"),
        [
            ('{"score": 0.5}\n', {"score": 0.5}),
            ("42", 42),
            ('"quoted"', "quoted"),
            ("null", None),
            ("plain text\n", "plain text"),
            ("two\n\n", "two\n"),
            ("dos\r\n", "dos"),
            ("NaN", "NaN"),
            ('{"a": Infinity}', '{"a": Infinity}'),
            ("{'not': 'json'}", "{'not': 'json'}"),
            ("[" * 100_000, "[" * 100_000),
            ("", ""),
        ],
    )
    def test_the_answer_is_json_or_text(self, printed: str, value: Any, tmp_path: Path) -> None:
        (tmp_path / "printed").write_text(printed, newline="")
        assert answer(shlex.join(["cat", str(tmp_path / "printed")])) == value

    def test_no_key_is_passed_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-12345678")
        monkeypatch.setenv("A_PLAIN_SETTING", "kept")
        sent = answer(python("import os, json; print(json.dumps(dict(os.environ)))"))
        assert "OPENAI_API_KEY" not in sent
        assert sent["A_PLAIN_SETTING"] == "kept"

    def test_large_inputs_and_outputs_do_not_block_each_other(self) -> None:
        text = "x" * 50_000_000
        program = (
            "import sys\n"
            "sys.stdout.write('y' * 5_000_000); sys.stdout.flush()\n"
            "sys.stderr.write('z' * 5_000_000); sys.stderr.flush()\n"
            "sys.stdout.write(str(len(sys.stdin.read())))\n"
        )
        assert answer(python(program), {"text": text}) == "y" * 5_000_000 + str(len(json.dumps({"text": text})))

    @pytest.mark.parametrize("program", ["print('done')", "import os; os.close(0); print('done')"])
    def test_a_command_that_does_not_read_its_input(self, program: str) -> None:
        assert answer(python(program), {"text": "x" * 5_000_000}) == "done"

    def test_calls_at_the_same_time(self) -> None:
        service = CommandService(python(ECHO))

        async def main() -> Sequence[Any]:
            return await asyncio.gather(*[service.invoke(effect(service, {"n": n})) for n in range(8)])

        assert asyncio.run(main()) == [{"n": n} for n in range(8)]


class TestFailures:
    def test_another_exit_status(self) -> None:
        error = failure(python("import sys; sys.stderr.write('it broke\\n'); sys.exit(3)"))
        assert error.code == "P406"
        assert error.message.endswith("exited with status 3: it broke")

    def test_only_the_end_of_standard_error_is_shown(self) -> None:
        error = failure(python("import sys; sys.stderr.write('a' * 100_000 + 'b' * 2_000); sys.exit(1)"))
        assert error.message.endswith("exited with status 1: ..." + "b" * 2_000)

    def test_a_signal(self) -> None:
        error = failure(python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"))
        assert (error.code, error.message.rpartition("` ")[2]) == ("P406", "was ended by SIGSEGV")

    def test_too_large_an_answer_stops_the_command(self) -> None:
        program = "import sys\nwhile True: sys.stdout.write('x' * 65536)"
        error = failure(python(program))
        assert (error.code, error.message.rpartition("` ")[2]) == ("P404", "answered more than 10 MB")
        error = failure(python(program), most_output=100)
        assert error.message.endswith("answered more than 100 bytes")
        assert answer(python("print('x' * 99)"), most_output=100) == "x" * 99

    def test_bytes_that_are_no_text(self) -> None:
        error = failure(python("import os; os.write(1, b'\\xff\\xfe')"))
        assert (error.code, error.message.rpartition("` ")[2]) == ("P404", "answered bytes that are not UTF-8")

    def test_a_program_that_the_system_cannot_start(self, tmp_path: Path) -> None:
        script = tmp_path / "service"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        error = failure(str(script))
        assert error.code == "P406"
        assert "could not be started" in error.message


def pids_in(file: Path) -> list[int]:
    return [int(pid) for pid in file.read_text().split()]


def all_gone(pids: Sequence[int]) -> bool:
    """Whether these processes end; one that was killed closes its pipes a moment before it is dead."""
    deadline = time.monotonic() + 10
    while any(alive(pid) for pid in pids):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.001)
    return True


SPAWN = """
import os, signal, subprocess, sys, time
{before}
child = subprocess.Popen([sys.executable, "-c", {child!r}])
open({file!r} + ".new", "w").write(f"{{os.getpid()}} {{child.pid}}")
os.rename({file!r} + ".new", {file!r})
{after}
"""
WAIT = "import time; time.sleep(600)"
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); "


class TestNothingIsLeft:
    """No process is left behind. Children live in real time, so the grace they get is made short."""

    @pytest.fixture(autouse=True)
    def short_grace(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("prose_lang.services.process.GRACE", 0.1)

    def spawn(self, file: Path, *, before: str = "", after: str = "time.sleep(600)", child: str = WAIT) -> str:
        return python(SPAWN.format(before=before, after=after, child=child, file=str(file)))

    def cancelled(self, line: str, file: Path) -> tuple[float, list[int]]:
        """Start a call, cancel it once its processes run; the seconds the ending took, and their ids."""
        service = CommandService(line)

        async def main() -> tuple[float, list[int]]:
            task = asyncio.ensure_future(service.invoke(effect(service, {})))
            await until(file.exists)
            started = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return time.monotonic() - started, pids_in(file)

        return asyncio.run(main())

    def test_a_cancelled_command_and_its_children(self, tmp_path: Path) -> None:
        _, pids = self.cancelled(self.spawn(tmp_path / "pids"), tmp_path / "pids")
        assert all_gone(pids)

    def test_those_that_ignore_sigterm(self, tmp_path: Path) -> None:
        line = self.spawn(tmp_path / "pids", before=STUBBORN, child=STUBBORN + WAIT)
        seconds, pids = self.cancelled(line, tmp_path / "pids")
        assert seconds >= 0.1
        assert all_gone(pids)

    def test_a_command_may_tidy_up_when_it_is_told_to_end(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("prose_lang.services.process.GRACE", 10)
        tidy = (
            "def tidy(*_):\n"
            f"    open({str(tmp_path / 'tidied')!r}, 'w').close()\n"
            "    child.kill()\n"
            "    child.wait()\n"
            "    sys.exit(1)\n"
            "signal.signal(signal.SIGTERM, tidy)\n"
        )
        self.cancelled(self.spawn(tmp_path / "pids", before=tidy), tmp_path / "pids")
        assert (tmp_path / "tidied").exists()

    def test_a_second_cancellation_does_not_leave_it_running(self, tmp_path: Path) -> None:
        file = tmp_path / "pids"
        service = CommandService(self.spawn(file, before=STUBBORN, child=STUBBORN + WAIT))

        async def main() -> list[int]:
            task = asyncio.ensure_future(service.invoke(effect(service, {})))
            await until(file.exists)
            task.cancel()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return pids_in(file)

        assert all_gone(asyncio.run(main()))

    def test_cancelled_while_it_starts(self, tmp_path: Path) -> None:
        file = tmp_path / "pids"
        service = CommandService(self.spawn(file))

        async def main() -> None:
            task = asyncio.ensure_future(service.invoke(effect(service, {})))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

        asyncio.run(main())
        assert all_gone(pids_in(file) if file.exists() else [])

    def test_a_grandchild_in_the_background_does_not_hold_up_the_answer(self, tmp_path: Path) -> None:
        file = tmp_path / "pids"
        assert answer(self.spawn(file, after="print('done')")) == "done"
        assert all_gone(pids_in(file))

    def test_what_is_left_of_a_failed_command(self, tmp_path: Path) -> None:
        file = tmp_path / "pids"
        assert failure(self.spawn(file, after="sys.exit(4)")).message.endswith("exited with status 4")
        assert all_gone(pids_in(file))

    def test_no_open_files_and_no_zombies_are_left(self) -> None:
        if not Path("/proc/self/fd").exists():
            pytest.skip("no /proc")
        service = CommandService(python("print(1)"))

        async def main() -> tuple[int, int]:
            await service.invoke(effect(service, {}))
            before = len(os.listdir("/proc/self/fd"))
            for _ in range(5):
                await service.invoke(effect(service, {}))
            await asyncio.sleep(0)
            return before, len(os.listdir("/proc/self/fd"))

        before, after = asyncio.run(main())
        assert after == before
        # Servers of other tests may live; whoever has ended and was not waited for would be found here.
        with contextlib.suppress(ChildProcessError):
            assert os.waitpid(-1, os.WNOHANG) == (0, 0)
