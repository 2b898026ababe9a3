"""The rule `placeholder-text`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prose_lang.linter.rule import Finding, Rule
from prose_lang.linter.subject import Subject
from prose_lang.syntax import nodes as n
from prose_lang.syntax.visiting import walk

#: What a text that stands for a quantity says: `number of attempted delegates`, `the total count of rounds`.
_QUANTITY = re.compile(
    r"(?:the )?(?:(?:total|final|overall|current|actual|average|mean|exact) )?"
    r"(?:number|count|amount|sum|total|average|mean|percentage|length|size) (?:of|for) [a-z][a-z_ -]*[a-z]"
)
#: What a text that stands for one of several values says; told only of a key that the text speaks of itself.
_THING = re.compile(r"(?:the )?(?:[a-z]+ )?(?:list|array|name|index|reason|id) (?:of|for) [a-z][a-z_ -]*[a-z]")
_MARKED = re.compile(r"<[a-z][a-z0-9 _-]*>|TODO|TBD|FIXME|\.\.\.|…")
#: Keys whose values are words for people.
_WORDY = re.compile(
    r"(?:.*_)?(?:title|heading|label|description|text|prompt|message|summary|note|notes|question|caption|unit|hint|kind"
    r"|type|metric|dimension|legend|about)"
)
_PART = re.compile(r"[a-z]+")


class PlaceholderText(Rule):
    """
    ## What it does

    A returned object holds a text that describes a value, such as `"number of attempts"`, where the value should be.

    ## Why

    Upstream asks a model to play the machine, and a model may fill such a text in. This machine does not: a literal is
    a literal (L6), and whoever calls the pattern gets the description. Told of quantities, of texts in the manner of
    `"<result>"` or `"TODO"`, and of `"list of …"` and the like under a key that the text speaks of; never of keys such
    as `title`, `label` or `message`.

    ## Example

    <!-- slots: target; config: most=3 -->
    ```prose
    repeat most as attempt:
      let answer = call target
        attempt: attempt
      if answer.ok == true:
        return { result: answer, attempts: "number of attempts" }
    return { result: null, attempts: most }
    ```

    ## Use instead

    <!-- slots: target; config: most=3 -->
    ```prose
    repeat most as attempt:
      let answer = call target
        attempt: attempt
      if answer.ok == true:
        return { result: answer, attempts: attempt }
    return { result: null, attempts: most }
    ```
    """

    name = "placeholder-text"

    def find(self, subject: Subject) -> Iterator[Finding]:
        for node in subject.nodes:
            if not isinstance(node, n.Return) or not isinstance(node.value, n.ObjectLiteral):
                continue
            for inner in walk(node.value):
                if isinstance(inner, n.ObjectEntry) and isinstance(inner.value, n.Literal):
                    text = inner.value.value
                    if isinstance(text, str) and stands_for_a_value(inner.key, text):
                        yield self.at(
                            subject,
                            inner.value,
                            f"`{inner.key}` is this text itself, not what the text describes",
                            "return the value: a loop's counter (`as i`), `LIST.length`, or a variable",
                        )


def stands_for_a_value(key: str, text: str) -> bool:
    """Whether a text under a key reads like the description of a computed value.

    >>> stands_for_a_value("attempts", "number of attempts"), stands_for_a_value("title", "number of attempts")
    (True, False)
    >>> stands_for_a_value("errors", "list of all errors"), stands_for_a_value("kind", "list of errors")
    (True, False)
    """
    if _MARKED.fullmatch(text):
        return True
    if _WORDY.fullmatch(key.lower()):
        return False
    if _QUANTITY.fullmatch(text):
        return True
    return bool(_THING.fullmatch(text)) and not _stems(key.lower()).isdisjoint(_stems(text))


def _stems(text: str) -> set[str]:
    """The first letters of the longer words, which an inflection hardly changes."""
    return {word[:5].removesuffix("s") for word in _PART.findall(text) if len(word) > 3}
