"""`prose graph`: how a pattern flows, as Mermaid, DOT or SVG."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from prose_lang.cli.options import complete_source, talk_options
from prose_lang.cli.terminal import Terminal

if TYPE_CHECKING:
    from prose_lang.report.flow import Flow


@click.command(short_help="Draw how a pattern flows.")
@click.argument("source", metavar="NAME|PATH", shell_complete=complete_source)
@click.option(
    "--format", "form", type=click.Choice(["mermaid", "dot", "svg"]), default=None,
    help="What is written: mermaid, unless the name of the output file ends in .dot or .svg.",
)  # fmt: skip
@click.option("--output", "-o", metavar="FILE", help="Write to a file instead of standard output.")
@click.option("--nested", is_flag=True, help="Draw the entries and instances too that the pattern calls.")
@click.option("--services", multiple=True, metavar="FILE", help="Python file or module with @service functions.")
@click.option("--script", metavar="FILE", help="Scripted services; their names are known then.")
@talk_options
@click.pass_context
def command(
    ctx: click.Context,
    source: str,
    form: str | None,
    output: str | None,
    nested: bool,
    services: tuple[str, ...],
    script: str | None,
) -> int:
    """Draw how a pattern flows: its calls with the slots they go to, loops, branches, and decisions with what decides
    them. A decision for which a judge may be asked is drawn with a broken line, for it costs a call.

    NAME|PATH is a library name, a path, PATH#ENTRY for an inline entry, or - for standard input.

    \b
    Examples:
      $ prose graph refine
      $ prose graph refine --format dot
      $ prose graph refine -o refine.svg && head -n 1 refine.svg
      $ echo 'return call plain(text)' | prose graph --format svg -

    Exit status: 0 drawn, 2 with errors in the pattern, or where the file cannot be written.
    """
    from prose_lang.cli.engines import engine_for_looking
    from prose_lang.cli.reading import Reader
    from prose_lang.cli.writing import write_result
    from prose_lang.report.flow_builder import flow_of

    terminal = ctx.ensure_object(Terminal)
    reader = Reader()
    with terminal.only_results():
        engine = engine_for_looking(services, script, reader)
        flow = flow_of(engine, reader.pattern(engine, source), nested=nested)
        text = _written(flow, form or _form_of(output))
        write_result(output or "-", terminal.redactor.text(text), terminal)
    return 0


def _form_of(output: str | None) -> str:
    """The form that the name of a file asks for."""
    name = (output or "").lower()
    if name.endswith(".svg"):
        return "svg"
    return "dot" if name.endswith((".dot", ".gv")) else "mermaid"


def _written(flow: Flow, form: str) -> str:
    match form:
        case "dot":
            from prose_lang.report.dot import to_dot

            return to_dot(flow)
        case "svg":
            from prose_lang.report.svg import to_svg

            return to_svg(flow)
        case _:
            from prose_lang.report.mermaid import to_mermaid

            return to_mermaid(flow)
