"""`prose show`: what a pattern takes, returns and promises."""

from __future__ import annotations

import click

from prose_lang.cli.options import complete_source, json_option
from prose_lang.cli.terminal import Terminal


@click.command(short_help="Show what a pattern takes, returns and promises.")
@click.argument("source", metavar="NAME|PATH", shell_complete=complete_source)
@click.argument("names", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--source", "as_source", is_flag=True, help="Print the file itself.")
@click.option("--prompt", is_flag=True, help="Print what a run with these names would send to models.")
@click.option("--services", multiple=True, metavar="FILE", help="With --prompt: as of `prose run`.")
@click.option("--script", metavar="FILE", help="With --prompt: as of `prose run`.")
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    source: str,
    names: tuple[str, ...],
    as_source: bool,
    prompt: bool,
    services: tuple[str, ...],
    script: str | None,
    as_json: bool,
) -> int:
    """Show what a pattern takes, returns and promises.

    NAME|PATH is a library name, a path, PATH#ENTRY for an inline entry, or - for standard input.

    With --prompt and the names of a run its requests to models are printed word for word, and none is sent. Answers
    are not known then: a stand-in holds their place in later requests.

    \b
    Examples:
      $ prose show refine
      $ prose show refine --json
      $ prose show stdlib:refine --source
      $ prose show worker-critic --prompt task_brief="Write a haiku." criteria="It is about rain."
    """
    if names and not prompt:
        raise click.UsageError("names are only taken with --prompt", ctx)
    from prose_lang.cli.describing import describe, description_lines
    from prose_lang.cli.reading import Reader
    from prose_lang.diagnostics.visible import visible
    from prose_lang.engine import Engine

    terminal = ctx.ensure_object(Terminal)
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
        terminal.write_json(describe(pattern))
    else:
        terminal.write("\n".join(description_lines(describe(pattern), terminal)))
    return 0
