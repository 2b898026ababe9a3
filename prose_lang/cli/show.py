"""`prose show`: what a pattern takes, returns and promises, or how many calls it makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from prose_lang.cli.options import complete_source, json_option
from prose_lang.cli.terminal import Terminal

if TYPE_CHECKING:
    from prose_lang.engine import Pattern
    from prose_lang.report.bounds import CallBounds


@click.command(short_help="Show what a pattern takes, returns and promises, or how many calls it makes.")
@click.argument("source", metavar="NAME|PATH", shell_complete=complete_source)
@click.argument("names", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--source", "as_source", is_flag=True, help="Print the file itself.")
@click.option("--calls", is_flag=True, help="Say how many calls a run makes, at least and at most.")
@click.option("--prompt", is_flag=True, help="Print what a run with these names would send to models.")
@click.option("--services", multiple=True, metavar="FILE", help="With --calls or --prompt: as of `prose run`.")
@click.option("--script", metavar="FILE", help="With --calls or --prompt: as of `prose run`.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    source: str,
    names: tuple[str, ...],
    as_source: bool,
    calls: bool,
    prompt: bool,
    services: tuple[str, ...],
    script: str | None,
    as_json: bool,
) -> int:
    """Show what a pattern takes, returns and promises, how many calls it makes, or what it would send to models.

    NAME|PATH is a library name, a path, PATH#ENTRY for an inline entry, or - for standard input.

    --calls says how many calls a run makes at least and at most, in terms of config keys and inputs. NAME=VALUE (also
    NAME:=JSON, NAME=@FILE) says for which values of these the numbers are worked out. The least holds for runs that
    end with a value, the most for every run.

    With --prompt and the names of a run its requests to models are printed word for word, and none is sent. Answers
    are not known then: a stand-in holds their place in later requests.

    \b
    Examples:
      $ prose show refine
      $ prose show refine --json
      $ prose show stdlib:refine --source
      $ prose show refine --calls
      $ prose show refine --calls max_rounds=5
      $ prose show worker-critic --prompt task_brief="Write a haiku." criteria="It is about rain."

    Exit status: 0 shown, 2 if it cannot be read, or with errors where calls are counted.
    """
    terminal = ctx.ensure_object(Terminal)
    if calls + as_source + prompt > 1:
        raise click.UsageError("--calls, --prompt and --source exclude each other", ctx)
    if not (calls or prompt) and (names or services or script):
        raise click.UsageError("values, --services and --script belong to --calls or --prompt", ctx)
    if calls:
        _show_calls(source, names, services, script, terminal, as_json=as_json)
        return 0
    from prose_lang.cli.describing import describe, description_lines
    from prose_lang.cli.reading import Reader
    from prose_lang.diagnostics.visible import visible
    from prose_lang.engine import Engine

    if prompt:
        from prose_lang.cli.prompting import previewed, request_lines

        requests = previewed(source, names, Reader(), terminal, script, services)
        if as_json:
            terminal.write_json([request.as_json() for request in requests])
        else:
            terminal.write("\n".join(request_lines(requests, terminal)))
        return 0
    pattern = Reader().pattern(Engine(), source)
    if as_source:
        text = pattern.document.source.text.removeprefix("\ufeff")
        if terminal.out.isatty():
            text = "\n".join(map(visible, text.splitlines()))
        terminal.write(text)
    elif as_json:
        terminal.write_json({**describe(pattern), **_run_data(pattern)})
    else:
        lines = [*description_lines(describe(pattern), terminal), *_run_lines(pattern, source, terminal)]
        terminal.write("\n".join(lines))
    return 0


def _run_of(pattern: Pattern) -> tuple[CallBounds, list[str]] | None:
    """The bounds of a run's calls and the outline of its flow; None where there is no body, or a faulty one."""
    from prose_lang.diagnostics import CheckError
    from prose_lang.report.bounds import call_bounds
    from prose_lang.report.flow_builder import flow_of
    from prose_lang.report.outline import outline_of

    if pattern.entry.body is None:
        return None
    try:
        return call_bounds(pattern.engine, pattern), outline_of(flow_of(pattern.engine, pattern))
    except CheckError:  # `prose check` tells what is wrong; a description is of use all the same
        return None


def _run_data(pattern: Pattern) -> dict[str, Any]:
    from prose_lang.cli.bounding import as_json

    found = _run_of(pattern)
    if found is None:
        return {"calls": None, "flow": None}
    bounds, flow = found
    calls = as_json(pattern, bounds, {})
    return {"calls": {key: calls[key] for key in calls if key not in ("name", "file", "given")}, "flow": flow}


def _run_lines(pattern: Pattern, source: str, terminal: Terminal) -> Iterator[str]:
    from prose_lang.cli.bounding import TITLE, row_lines
    from prose_lang.diagnostics.visible import visible

    found = _run_of(pattern)
    if found is None:
        return
    bounds, flow = found
    yield ""
    yield terminal.paint("1", TITLE, terminal.out)
    yield from row_lines(bounds, {})
    yield ""
    yield terminal.paint("1", "Flow", terminal.out)
    yield from (f"  {visible(line)}" for line in flow)
    if source != "-":
        yield ""
        yield visible(
            f"`prose graph {source}` draws all of it, `prose show {source} --calls` says more of the numbers."
        )


def _show_calls(
    source: str,
    names: tuple[str, ...],
    services: tuple[str, ...],
    script: str | None,
    terminal: Terminal,
    *,
    as_json: bool,
) -> None:
    from prose_lang.cli import bounding
    from prose_lang.cli.engines import engine_for_looking
    from prose_lang.cli.names import read_names
    from prose_lang.cli.reading import Reader
    from prose_lang.report.bounds import call_bounds

    reader = Reader()
    with terminal.only_results():
        engine = engine_for_looking(services, script, reader)
        pattern = reader.pattern(engine, source)
        given = read_names(names, (), None, reader)
        bounds = call_bounds(engine, pattern)
        values = bounding.values_for(engine.program(pattern), given)
        if as_json:
            terminal.write_json(bounding.as_json(pattern, bounds, values))
        else:
            terminal.write("\n".join(bounding.bound_lines(pattern, bounds, values, terminal)))
