"""The rule `unknown-config-key`."""

from __future__ import annotations

from prose_lang.linter.rule import Told


class UnknownConfigKey(Told):
    """
    ## What it does

    The body reads `config.KEY`, and Config declares no such key.

    ## Why

    Nobody can set a key that is not declared, so it is null in every run (L13, L17). Mostly it is misspelt, or has been
    renamed in one of the two places. Each key is told once, where it is first read.

    ## Example

    <!-- slots: writer; config: max_rounds=3 -->
    ```prose
    let draft = null
    repeat config.max_rounds:
      draft = call writer
        draft: draft
        rounds: config.max_round
    return draft
    ```

    ## Use instead

    <!-- slots: writer; config: max_rounds=3 -->
    ```prose
    let draft = null
    repeat config.max_rounds:
      draft = call writer
        draft: draft
        rounds: config.max_rounds
    return draft
    ```
    """

    name = "unknown-config-key"
