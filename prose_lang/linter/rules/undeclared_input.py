"""The rule `undeclared-input`."""

from __future__ import annotations

from prose_lang.linter.rule import Told


class UndeclaredInput(Told):
    """
    ## What it does

    The body of a pattern reads a name that nothing declares, so that it becomes an optional input.

    ## Why

    Published patterns do this, and it works: the caller may give the name, and it is null when he does not (L15). But
    nobody who reads the contract knows of it, and a misspelt name looks just the same. The finding stands at the first
    place that reads the name.

    ## Example

    <!-- slots: writer -->
    ```prose
    let draft = call writer
      topic: topic
    return { result: draft }
    ```

    ## Use instead

    The same program, below a section Requires with the item - `topic`: string -- what is written about

    <!-- slots: writer; inputs: topic -->
    ```prose
    let draft = call writer
      topic: topic
    return { result: draft }
    ```
    """

    name = "undeclared-input"
