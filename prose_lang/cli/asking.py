"""`--ask`: missing names are asked for, where there is a person at a terminal to answer."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import click

from prose_lang.diagnostics.visible import visible
from prose_lang.engine import Given
from prose_lang.semantics import Program


def ask(program: Program, given: Mapping[str, Given]) -> dict[str, Given]:
    """Ask for the required names that are not given; for none where standard input is not a terminal.

    An answer is a text like one on the command line, but it is not an argument: it names services that are known,
    and runs no commands.
    """
    if not sys.stdin.isatty():
        return {}
    answers: dict[str, Given] = {}
    for base in program.bases:
        item = base.item
        required = (base.slot is not None and not base.slot.optional) or (
            base.kind == "input" and item is not None and not item.optional and not item.has_default
        )
        if required and base.name not in given:
            about = base.slot.description if base.slot is not None else item.description if item is not None else ""
            question = f"{base.name} ({' '.join(about.split())})" if about else base.name
            answers[base.name] = Given(click.prompt(visible(question), err=True), text=True)
    return answers
