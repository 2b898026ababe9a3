"""`prose show --prompt`: the requests that a run would send, word for word. Nothing is sent.

The run is made with a completion that answers by itself. What a model would have said is not known, so that later
requests hold a stand-in in its place, which says so; everything else in them is what would be sent.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from prose_lang.cli.engines import model_settings, script_of_file, services_of_files
from prose_lang.cli.names import read_names
from prose_lang.diagnostics.visible import visible
from prose_lang.engine import Engine, Given
from prose_lang.handlers import Limits
from prose_lang.services import ref
from prose_lang.services.models.choice import mapped
from prose_lang.services.models.completion import Reply
from prose_lang.services.models.request import Request

if TYPE_CHECKING:
    from prose_lang.cli.reading import Reader
    from prose_lang.cli.terminal import Terminal

#: The model of requests where none is configured.
NO_MODEL = "PROVIDER/MODEL"
#: Requests that are shown, and made.
MOST = 50


class Preview:
    """A completion that keeps the requests and answers with stand-ins."""

    live = False  # it sends nothing, and so may answer where no model may be asked

    def __init__(self) -> None:
        self.requests: dict[str, Request] = {}

    async def complete(self, request: Request, seconds: float) -> Reply:
        self.requests.setdefault(request.digest, request)
        if request.schema is None:
            return Reply(f"(the answer to request {len(self.requests)})")
        return Reply(json.dumps(stand_in(request.schema)))


def previewed(
    source: str, words: Iterable[str], reader: Reader, terminal: Terminal, script: str | None, services: Iterable[str]
) -> list[Request]:
    """The requests of a run, each once. Slots that nothing is bound to are bound to the default model. Raises
    ProseError.
    """
    import attrs

    settings = model_settings(terminal)
    model = mapped(settings, settings.default or NO_MODEL)
    settings = attrs.evolve(settings, default=model)
    preview = Preview()
    engine = Engine(
        services=services_of_files(services),
        script=script_of_file(script, reader),
        models=settings,
        completion=preview,
        judge=ref(f"model:{model}"),
        limits=Limits(calls=MOST, known_cost=None),
    )
    pattern = reader.pattern(engine, source)
    given = read_names(list(words), (), None, reader)
    for slot in pattern.entry.slots:
        if slot.name not in given and not slot.optional:
            given[slot.name] = Given(ref(f"model:{model}"))
    outcome = engine.outcome(pattern, given, memory=engine.memory(pattern, keep=False))
    if outcome.error is not None and not preview.requests:
        raise outcome.error
    return list(preview.requests.values())


def request_lines(requests: Iterable[Request], terminal: Terminal) -> list[str]:
    """The requests as text. Their messages are shown as they are, but for what would act on a terminal."""
    lines: list[str] = []
    for number, request in enumerate(requests, 1):
        parameters = ", ".join(f"{name}={json.dumps(value)}" for name, value in request.parameters.items())
        title = f"request {number}: {visible(request.model)}{f' ({visible(parameters)})' if parameters else ''}"
        lines += [*([""] if lines else []), terminal.paint("1", title, terminal.out)]
        for message in request.messages:
            lines += ["", terminal.paint("36", f"--- {message.role}", terminal.out)]
            text = message.text
            lines += map(visible, text.split("\n")) if terminal.out.isatty() else text.split("\n")
    return lines


def stand_in(schema: Mapping[str, Any]) -> Any:
    """The plainest value that fits a schema.

    >>> stand_in({"type": "object", "properties": {"score": {"type": "number", "minimum": 0}}})
    {'score': 0}
    """
    if "enum" in schema:
        return schema["enum"][0]
    if "const" in schema:
        return schema["const"]
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return stand_in(schema[word][0])
    match schema.get("type"):
        case "object":
            return {name: stand_in(part) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [stand_in(schema.get("items", {}))]
        case "number" | "integer":
            return schema.get("minimum", 0)
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return "(an answer)"
