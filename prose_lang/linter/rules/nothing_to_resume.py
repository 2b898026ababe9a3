"""The rule `nothing-to-resume`."""

from __future__ import annotations

from prose_lang.linter.rule import Told


class NothingToResume(Told):
    """
    ## What it does

    `resume` continues the conversation of an agent that keeps none.

    ## Why

    Only an agent with `persist` keeps its conversation (L29); without it `resume` begins anew, and what was said before
    is not known.

    ## Example

    ```prose
    agent reader:
      model: "fast"
    session: reader
      prompt: "Read it."
    return resume: reader
      prompt: "What did it say?"
    ```

    ## Use instead

    ```prose
    agent reader:
      model: "fast"
      persist: true
    session: reader
      prompt: "Read it."
    return resume: reader
      prompt: "What did it say?"
    ```
    """

    name = "nothing-to-resume"
