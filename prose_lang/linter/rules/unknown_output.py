"""The rule `unknown-output`."""

from __future__ import annotations

from prose_lang.linter.rule import Told


class UnknownOutput(Told):
    """
    ## What it does

    `let { name } = call f` takes something apart that `f` does not list among its outputs.

    ## Why

    A function gives what it declares; when the field is not there the run ends in P404 (L33). A service that returns
    more than it declares would pass, so this is no error yet.

    ## Example

    ````markdown
    ---
    name: report
    kind: pattern
    ---

    ### Delegation

    ```prose
    let { text, source } = call reader
    return { text: text, source: source }
    ```

    ## reader

    ### Returns

    - `text`: what it says
    - `sources`: where it says so
    ````

    ## Use instead

    ````markdown
    ---
    name: report
    kind: pattern
    ---

    ### Delegation

    ```prose
    let { text, sources } = call reader
    return { text: text, source: sources }
    ```

    ## reader

    ### Returns

    - `text`: what it says
    - `sources`: where it says so
    ````
    """

    name = "unknown-output"
