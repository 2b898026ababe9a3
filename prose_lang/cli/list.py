"""`prose list`: the patterns of the library, or those of files and folders, each with what it is for."""

from __future__ import annotations

import click

from prose_lang.cli.options import json_option
from prose_lang.cli.terminal import Terminal


@click.command(short_help="List the patterns of the library, or of files.")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path())
@json_option
@click.pass_context
def command(ctx: click.Context, paths: tuple[str, ...], as_json: bool) -> int:
    """List the patterns of the library, or what files and folders hold: patterns, functions, tests and the rest.

    PATH is a file, a folder (all .prose.md files in it and below it), or a library name.

    \b
    Examples:
      $ prose list
      $ prose list --json
      $ prose new second-opinion && prose list .
    """
    from prose_lang import resources
    from prose_lang.cli.checking import files_of
    from prose_lang.cli.describing import describe, first_sentence
    from prose_lang.cli.reading import Reader
    from prose_lang.diagnostics.visible import visible
    from prose_lang.engine import Engine

    terminal = ctx.ensure_object(Terminal)
    engine, reader = Engine(), Reader()
    if paths:
        patterns = [reader.pattern(engine, file) for path in paths for file in files_of(path)]
    else:
        patterns = [engine.load(f"stdlib:{name}") for name in resources.library_names()]
    described = [describe(pattern) for pattern in patterns]
    if as_json:
        keys = ("name", "kind", "file", "description")
        terminal.write_json(
            [
                {**{key: item[key] for key in keys}, "slots": [slot["name"] for slot in item["slots"]]}
                for item in described
            ]
        )
        return 0
    names = max((len(visible(item["name"])) for item in described), default=0)
    kinds = max((len(item["kind"]) for item in described), default=0) if paths else 0
    for item in described:
        name = terminal.paint("1", f"{visible(item['name']):<{names}}", terminal.out)
        kind = f"  {item['kind']:<{kinds}}" if paths else ""
        terminal.write(f"{name}{kind}  {first_sentence(item['description'] or item['title'])}".rstrip())
    return 0
