"""The group of all commands: imports a command's module when it is invoked, and no exception gets past it.

`prose --help` must be quick, so the one-line descriptions stand here and not in the modules. What the commands do,
and how they report what is wrong with a pattern, is theirs; here is what is wrong with the command line, a reader who
went away, Ctrl-C outside of a run, and the bug that nobody foresaw.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click

from prose_lang.cli.status import BROKEN_PIPE, EXIT, ended_before_it_began, machine_format
from prose_lang.cli.terminal import ReaderGone, Terminal

#: The commands in the order of the help (to use patterns, to write them, the rest), with their descriptions. The module
#: of `run` is `prose_lang.cli.run`.
COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "run": "Run a pattern on your services.",
        "resume": "Go on with a recorded run.",
        "answer": "Answer what a run waits for, and go on with it.",
        "replay": "Say whether a recorded run comes out of its record alone.",
        "runs": "List recorded runs, and take some away.",
        "trace": "Show a recorded run as a tree.",
        "list": "List the patterns of the library, or of files.",
        "show": "Show what a pattern takes, returns and promises, or how many calls it makes.",
        "graph": "Draw how a pattern flows.",
        "new": "Write a new pattern with its test.",
        "check": "Say what is wrong with patterns, and what decides their conditions.",
        "lint": "Say what is legal and hardly meant, and mend what can be mended.",
        "fmt": "Format patterns in the one style.",
        "test": "Run the scenarios of test files.",
        "judge-check": "Say how far a judge agrees with a table of cases.",
        "explain": "Explain a diagnostic code or a rule of the linter.",
        "ast": "Print the syntax tree of a pattern.",
        "models": "List models, and install one that needs no key.",
        "doctor": "Say what is installed and configured.",
        "completions": "Print the completion script of a shell.",
    }
)


class Commands(click.Group):
    """The group. `main` gives an exit status to every way in which a command can end."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"prose_lang.cli.{cmd_name.replace('-', '_')}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            raise click.UsageError(f"there is no command `{name}`{_meant(name)}", ctx)
        return super().resolve_command(ctx, args)

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command and exit with its status; `standalone_mode=False` returns the status instead."""
        arguments = list(sys.argv[1:] if args is None else args)
        terminal = extra.setdefault("obj", Terminal())
        try:
            found = super().main(arguments, prog_name or "prose", complete_var, standalone_mode=False, **extra)
            status = found if isinstance(found, int) else 0
        except (Exception, KeyboardInterrupt) as error:
            status = _ended(error, terminal, machine_format(arguments))
        if standalone_mode:
            sys.exit(status)
        return status


def _ended(error: BaseException, terminal: Terminal, machine: str | None) -> int:
    """Say why a command ended early, and give the exit status."""
    try:
        if isinstance(error, ReaderGone):
            raise error
        return _told(error, terminal, machine)
    except ReaderGone:
        _forget(terminal)
        return BROKEN_PIPE


def _told(error: BaseException, terminal: Terminal, machine: str | None) -> int:
    from prose_lang.diagnostics import ProseError

    if isinstance(error, (click.Abort, KeyboardInterrupt)):  # or the end of the input, at a prompt
        if machine is None:
            terminal.say("interrupted")
        else:
            _write(terminal, ended_before_it_began("interrupted", "interrupted", "before it began"), machine)
        return EXIT["interrupted"]
    if isinstance(error, ProseError):
        if machine is None:
            terminal.say(error.render(color=terminal.colors(terminal.err)))
        else:
            plain = ended_before_it_began("invalid", error.name, error.message)
            plain.update(error=error.as_json(), diagnostics=[item.as_json() for item in error.diagnostics])
            _write(terminal, plain, machine)
        return EXIT["invalid"]
    if isinstance(error, click.ClickException):
        message = " ".join(error.format_message().split())
        message = message[:1].lower() + message[1:].removesuffix(".")
        hint = getattr(error, "hint", None)
        if machine is None:
            terminal.say(_usage(error, message, hint, terminal))
        else:
            _write(terminal, ended_before_it_began("invalid", "usage", message, hint), machine)
        return EXIT["invalid"]
    return _bug(error, terminal, machine)


def _usage(error: click.ClickException, message: str, hint: str | None, terminal: Terminal) -> str:
    from prose_lang.diagnostics.visible import visible

    lines = [terminal.paint("1;31", "error") + terminal.paint("1", f": {visible(message)}")]
    if hint:
        lines.append(f"   {terminal.paint('1;34', '=')} {terminal.paint('1', 'help:')} {visible(hint)}")
    ctx = getattr(error, "ctx", None)
    if ctx is not None:
        lines.append(f"{' '.join(ctx.get_usage().split())}\n`{ctx.command_path} --help` says more.")
    return "\n".join(lines)


def _bug(error: BaseException, terminal: Terminal, machine: str | None) -> int:
    said = f"internal error: {type(error).__name__}: {error}"
    hint = "this is a bug in prose, not in your pattern; please report it with the output of `prose doctor`"
    if machine is None:
        from prose_lang.diagnostics.visible import visible

        terminal.say(f"{terminal.paint('1;31', visible(said))}\n{hint}")
    else:
        _write(terminal, ended_before_it_began("failed", "internal-error", said, hint), machine)
    if terminal.verbosity >= 2:
        import traceback

        terminal.say("".join(traceback.format_exception(error)))
    elif machine is None:
        terminal.say("`prose -vv …` shows where it happened")
    return EXIT["failed"]


def _write(terminal: Terminal, plain: dict[str, Any], machine: str) -> None:
    if machine == "jsonl":
        terminal.write_json({"event": "end", **plain}, one_line=True)
    else:
        terminal.write_json(plain)


def _meant(name: str) -> str:
    from prose_lang.text import nearest

    if name.endswith(".md") or os.path.exists(name):
        return f"; did you mean `prose run {name}`?"
    close = nearest(name, COMMANDS)
    if close:
        return f"; did you mean `{close[0]}`?"
    from prose_lang.resources import library_names

    return f"; did you mean `prose run {name}`?" if name in library_names() else ""


def _forget(terminal: Terminal) -> None:
    """Nobody reads any more: let what is still buffered go nowhere instead of failing again at exit."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, terminal.out.fileno())
        os.close(nowhere)
