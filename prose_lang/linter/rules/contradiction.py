"""The rule `contradiction`."""

from __future__ import annotations

from prose_lang.linter.rule import Told


class Contradiction(Told):
    """
    ## What it does

    An item under Requires or Parameters describes a config key, and names another default or another type than Config.

    ## Why

    The default in Config is the one that counts, and of two types either is accepted (L5, L17); so one of the two
    places tells the reader something that is not so.

    ## Example

    ```markdown
    ---
    name: retry
    kind: pattern
    ---

    ### Slots

    - `target`

    ### Config

    - `rounds` (integer, default: 3): how often at most

    ### Requires

    - `rounds`: number -- (optional, default 5) how often at most

    ### Delegation

    ~~~prose
    repeat rounds:
      call target
    ~~~
    ```

    ## Use instead

    ```markdown
    ---
    name: retry
    kind: pattern
    ---

    ### Slots

    - `target`

    ### Config

    - `rounds` (integer, default: 3): how often at most

    ### Delegation

    ~~~prose
    repeat rounds:
      call target
    ~~~
    ```
    """

    name = "contradiction"
