"""`prose test`: scenarios of test files. Running and showing them is `scenarios.py`."""

from __future__ import annotations

import math
from typing import Any

import click

from prose_lang.cli.options import cassette_options, complete_source, talk_options
from prose_lang.cli.terminal import Terminal


class _Percent(click.FloatRange):
    """A percentage. `nan`, which is a number to Python and in no range, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a valid float range.", param, ctx)
        return number


@click.command(short_help="Run the scenarios of test files.")
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=complete_source)
@click.option("-k", "keyword", metavar="TEXT", help="Only scenarios with this text in their file or name.")
@click.option("-x", "first", is_flag=True, help="Stop at the first one that fails.")
@click.option("--strict", is_flag=True, help="Unused replies, warnings and what is not evaluated are failures.")
@click.option("--services", multiple=True, metavar="FILE", help="Python file or module with @service functions.")
@click.option("--judge", metavar="REF", help="Service that judges what nothing else decides.")
@cassette_options
@click.option("--update", is_flag=True, help="Record in the files what the scenarios gave where it differs.")
@click.option("--junit", metavar="FILE", help="Write the results as JUnit XML too.")
@click.option(
    "--coverage", is_flag=True, help="Show which statements and outcomes of conditions the scenarios reached."
)
@click.option(
    "--coverage-min", metavar="PERCENT", type=_Percent(0, 100), help="Fail if less is covered; implies --coverage."
)
@click.option("--coverage-report", metavar="FILE", help="Write the coverage in lcov's format; implies --coverage.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="What is printed.")
@click.option("--json", "as_json", is_flag=True, help="Same as --format json.")
@talk_options
@click.pass_context
def command(ctx: click.Context, /, paths: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Run the scenarios of test files.

    PATH is a file, a folder with all .test.prose.md files below it, - for standard input, or the name of a library
    pattern; without one it is this folder. Services answer what each scenario scripts, and waiting takes no time.
    What is expected in plain language and no rule decides is put to a judge; without one it is not evaluated, which
    is told and is not a success.

    With --cassette FILE services that a scenario does not script, models among them, answer from a recording; each
    scenario is a part of it. --cassette-mode record asks them, and makes it.

    Coverage counts the statements that began, and each way that a condition can fall: true and false, the options of
    a choice. A library pattern counts if it is the subject of a test.

    \b
    Examples:
      $ prose new second-opinion && prose test
      $ prose test -k "accepted at once" --strict
      $ prose test second-opinion.test.prose.md --coverage-min 90

    Exit status: 0 all passed, 1 something failed or too little was covered, 2 something is broken or there are no
    tests, 130 interrupted.
    """
    from prose_lang.cli.scenarios import Request, run_tests

    if options["update"] and "-" in paths:
        raise click.UsageError("standard input cannot be updated; give a file", ctx)
    if as_json:
        options["form"] = "json"
    return run_tests(Request(paths=paths or (".",), **options), ctx.ensure_object(Terminal))
