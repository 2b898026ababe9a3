"""Writing what a command gives to a file that the user named, or to standard output."""

from __future__ import annotations

from prose_lang.cli.terminal import Terminal
from prose_lang.diagnostics import SourceError
from prose_lang.diagnostics.visible import visible


def write_result(file: str, text: str, terminal: Terminal) -> None:
    """Write a text to a file, and say so; `-` is standard output. The text is without secrets already.

    Raises SourceError P103.
    """
    if file == "-":
        terminal.write(text.removesuffix("\n"))
        return
    try:
        with open(file, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError("P103", f"`{file}` cannot be written: {reason[:1].lower()}{reason[1:]}") from None
    if not terminal.quiet:
        terminal.say(f"wrote {visible(file)}")
