"""The rule `ignored-fence`."""

from __future__ import annotations

from prose_lang.linter.rule import Told


class IgnoredFence(Told):
    """
    ## What it does

    A block that starts with ```` ```prosescript ```` stands in Delegation or Execution.

    ## Why

    Only a `prose` block is a body. A `prosescript` block is documentation: it is kept and never run (L6).

    ## Example

    ````markdown
    ---
    name: greet
    kind: function
    ---

    ### Execution

    ```prosescript
    return "hello"
    ```
    ````

    ## Use instead

    ````markdown
    ---
    name: greet
    kind: function
    ---

    ### Execution

    ```prose
    return "hello"
    ```
    ````
    """

    name = "ignored-fence"
