"""The rule `missing-service`."""

from __future__ import annotations

from prose_lang.linter.rule import Told


class MissingService(Told):
    """
    ## What it does

    Services lists a name that nothing provides: no entry of the file, no file beside it or in the project's `src/`,
    nothing installed, nothing in the library, and no service that was given.

    ## Why

    The list says what the entry may call (L2). Where its body calls the name, that is the error P202; a name that only
    the list has is found by whoever runs it with a model. Often a file was renamed, or forgotten.

    ## Example

    ```markdown
    ---
    name: report
    kind: system
    ---

    ### Services

    - `writer`
    - `editor`

    ### Requires

    - `topic`: what it is about

    ## writer

    ### Requires

    - `topic`: what it is about
    ```

    ## Use instead

    ```markdown
    ---
    name: report
    kind: system
    ---

    ### Services

    - `writer`

    ### Requires

    - `topic`: what it is about

    ## writer

    ### Requires

    - `topic`: what it is about
    ```
    """

    name = "missing-service"
