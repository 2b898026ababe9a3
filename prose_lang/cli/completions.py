"""`prose completions`: the script that makes a shell complete commands, options, library names and codes."""

from __future__ import annotations

import click

from prose_lang.cli.terminal import Terminal


@click.command(short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the completion script of a shell.

    Put its output where your shell looks for completions, or evaluate it when the shell starts:
    eval "$(prose completions bash)".

    \b
    Examples:
      $ prose completions bash
      $ prose completions zsh
      $ prose completions fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "the shells that may be named are those that click knows"
    root = ctx.find_root()
    # Not `source()`, which starts a bash to look at its version: the script may be meant for another machine.
    completion = kind(root.command, {}, "prose", "_PROSE_COMPLETE")
    ctx.ensure_object(Terminal).write(completion.source_template % completion.source_vars())
    return 0
