"""The rule `unbounded-loop`."""

from __future__ import annotations

from prose_lang.linter.rule import Told


class UnboundedLoop(Told):
    """
    ## What it does

    A `loop` has no `max`.

    ## Why

    How often it runs depends on answers that nobody can foresee, and every pass may cost calls. Such a loop is stopped
    at the runtime's ceiling with an error, P306, and what it had worked out is lost (L21); reaching `max` is a normal
    end.

    ## Example

    <!-- slots: writer -->
    ```prose
    let draft = call writer
    loop until draft.score >= 0.8:
      draft = call writer
        draft: draft
    return draft
    ```

    ## Use instead

    <!-- slots: writer -->
    ```prose
    let draft = call writer
    loop until draft.score >= 0.8 (max: 5):
      draft = call writer
        draft: draft
    return draft
    ```
    """

    name = "unbounded-loop"
