"""`prose list`: the patterns of the library, each with what it is for."""

from __future__ import annotations

import click

from prose_lang.cli.options import json_option
from prose_lang.cli.terminal import Terminal


@click.command(short_help="List the patterns of the library.")
@json_option
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> int:
    """List the patterns of the library.

    \b
    Examples:
      $ prose list
      $ prose list --json
    """
    from prose_lang import resources
    from prose_lang.cli.describing import describe, first_sentence
    from prose_lang.engine import Engine

    terminal = ctx.ensure_object(Terminal)
    engine = Engine()
    described = [describe(engine.load(f"stdlib:{name}")) for name in resources.library_names()]
    if as_json:
        terminal.write_json([{"name": item["name"], "description": item["description"],
                              "slots": [slot["name"] for slot in item["slots"]]} for item in described])  # fmt: skip
        return 0
    width = max((len(item["name"]) for item in described), default=0)
    for item in described:
        name = terminal.paint("1", f"{item['name']:<{width}}", terminal.out)
        terminal.write(f"{name}  {first_sentence(item['description'])}")
    return 0
