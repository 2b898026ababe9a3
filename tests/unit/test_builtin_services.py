"""`plain` and `readability` at work: whole texts, the loop of `refine`, and what must hold for any text."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from prose_lang.services.builtin.brief import text_of
from prose_lang.services.builtin.plain import plain
from prose_lang.services.builtin.readability import readability
from prose_lang.services.builtin.tables import all_rules


def refined(brief: str, rounds: int = 6) -> tuple[str, list[float]]:
    """The result of the `refine` loop and the scores of the original and of each round that changed something."""
    scores = [readability(brief, text_of(brief))["score"]]
    current: str | None = None
    suggestions: list[str] | None = None
    for _ in range(rounds):
        result = plain(brief, current, scores[-1], suggestions)
        if result == current:
            break
        verdict = readability(brief, result)
        scores.append(verdict["score"])
        current, suggestions = result, verdict["suggestions"]
    assert current is not None
    return current, scores


def one_line(text: str) -> str:
    return " ".join(text.split())


# --- golden texts

MEMO = one_line(
    """
Rewrite in plain English: It should be noted that, pursuant to the provisions of the Workplace Safety Act of
1998, all employees are required to participate in an annual training program in order to ensure that they are
cognizant of the the procedures that must be followed in the event of an emergency. Due to the fact that a
significant number of individuals failed to submit the requisite documentation prior to the deadline of March
31, 2024, the Department has made a decision to extend the period of time during which certificates may be
submitted, and supervisors shall notify their personnel of this modification at the earliest opportunity. In the
event that an employee is unable to attend the training on the scheduled date, the employee is required to
notify his or her supervisor in a timely manner, and the supervisor will make arrangements for an additional
session; failure to comply with this requirement may constitute grounds for disciplinary action. For the purpose
of facilitating attendance, sessions will be offered on a weekly basis at numerous locations, which are listed
at https://www.example.gov/training?year=2024. Questions with regard to this memorandum should be directed to
Dr. Smith, Room 3.14, at extension 555-0199.
"""
)
MEMO_PLAIN = one_line(
    """
Under the Workplace Safety Act of 1998, all employees must take part in an annual training program to make sure
that they know the procedures that must be followed in case of an emergency. Because many people failed to send
the needed documentation before the deadline of March 31, 2024, the Department has decided to extend the time
during which certificates may be sent. Supervisors shall tell their staff of this change as soon as possible. If
an employee cannot attend the training on the scheduled date, the employee must tell his or her supervisor
promptly, and the supervisor will arrange for an extra session. Failure to follow this requirement may be
grounds for disciplinary action. To ease attendance, sessions will be offered weekly at many locations, which
are listed at https://www.example.gov/training?year=2024. Questions about this memorandum should be directed to
Dr. Smith, Room 3.14, at extension 555-0199.
"""
)

LETTER = one_line(
    """
Parents are advised that the school is desirous of establishing a volunteer program, the primary purpose of
which is to provide assistance to pupils who are experiencing difficulties with reading. Volunteers would be
expected to attend on a weekly basis for a minimum of one hour, and they would be required to undergo a
background check prior to commencement. It is anticipated that the program will have a positive effect on the
attainment of pupils, and previous experience of working with children is not a requirement. In the event that
you have an interest in participating, kindly complete the attached form and return it to the office at your
earliest convenience. The school is cognizant of the fact that parents have numerous commitments and would like
to express its appreciation for your ongoing support.
"""
)
LETTER_PLAIN = one_line(
    """
Parents are advised that the school is desirous of setting up a volunteer program, the main purpose of which is
to help pupils who are experiencing difficulties with reading. Volunteers would be expected to attend weekly for
at least one hour. They would be required to undergo a background check before commencement. It is expected that
the program will help the attainment of pupils. Previous experience of working with children is not a
requirement. If you have an interest in participating, please complete the attached form and return it to the
office as soon as you can. The school knows that parents have many commitments and would like to express its
appreciation for your ongoing support.
"""
)

README = """\
# Utilization of the cache

`fastcache` is a library that facilitates the implementation of caching in a wide variety of applications. In order to utilize it, you are required to install the package prior to importing it:

```bash
pip install fastcache  # in order to utilize it
```

- In order to initiate the cache, call `cache.start()` with a minimum of 2 workers.
- At this point in time, Redis 6.2 is the only backend that is supported, however, additional backends will be added in the near future.
- Set `utilize_disk=True` in order to retain entries; the majority of users do not require this.

| Option | Purpose |
|--------|---------|
| `ttl`  | In order to expire entries |

The cache has the ability to automatically remove entries that have expired, and it is able to report its memory consumption on a regular basis by means of the [metrics endpoint](https://example.com/in-order-to). See also the docs in /usr/share/doc/fastcache, e.g. the file utilize.md.

    cache.commence()  # prior to use
"""  # noqa: E501
README_PLAIN = """\
# Utilization of the cache

`fastcache` is a library that eases the implementation of caching in many applications. To use it, you must install the package before importing it:

```bash
pip install fastcache  # in order to utilize it
```

- To start the cache, call `cache.start()` with at least 2 workers.
- Now, Redis 6.2 is the only backend that is supported, however, extra backends will be added soon.
- Set `utilize_disk=True` to keep entries; most users do not require this.

| Option | Purpose |
|--------|---------|
| `ttl`  | In order to expire entries |

The cache can automatically remove entries that have expired. It can report its memory consumption regularly through the [metrics endpoint](https://example.com/in-order-to). See also the docs in /usr/share/doc/fastcache, e.g. the file utilize.md.

    cache.commence()  # prior to use
"""  # noqa: E501


def test_a_policy_memo_becomes_plain_in_three_rounds() -> None:
    assert refined(MEMO) == (MEMO_PLAIN, [0.221, 0.456, 0.622, 0.857])
    assert readability(MEMO, MEMO_PLAIN)["details"]["kept"] == 1.0


def test_a_letter_in_a_quoted_brief_becomes_plain() -> None:
    brief = f'Could you please make the following text easier to read?\n\n"""\n{LETTER}\n"""\n'
    assert refined(brief) == (LETTER_PLAIN, [0.473, 0.738, 0.837, 0.943])


def test_a_readme_keeps_its_code_tables_links_and_headings() -> None:
    assert refined(README) == (README_PLAIN, [0.558, 0.917, 1.0, 1.0])


def test_each_round_does_one_kind_of_thing() -> None:
    text = (
        "In order to apply, the applicant must ascertain the fee and must send the form to the office of the city, and"
        " the office will then terminate the old permit without any delay."
    )
    first = plain(text)
    assert first == text.replace("In order to apply", "To apply")
    second = plain(text, first)
    assert second == (
        "To apply, the applicant must ascertain the fee and must send the form to the office of the city."
        " The office will then terminate the old permit without any delay."
    )
    third = plain(text, second)
    assert third == second.replace("ascertain", "find out").replace("terminate", "end")
    assert plain(text, third) == third


@pytest.mark.parametrize(
    "suggestions",
    [
        'Say "find out" instead of "ascertain".',
        ["Shorter words, please: ascertain is too long."],
        {"issues": [{"text": "ascertained", "why": "long"}]},
        ("“ascertaining” is stiff",),
    ],
)
def test_what_suggestions_name_is_replaced_at_once(suggestions: object) -> None:
    text = (
        "The applicant must ascertain the fee and must send the form to the office of the city, and the office will"
        " then terminate the old permit without any delay."
    )
    assert plain("", text) == text.replace("city, and the", "city. The")
    assert plain("", text, 0.2, suggestions) == plain("", text).replace("ascertain", "find out")


@pytest.mark.parametrize("suggestions", [None, 3, [], [None, 1.5], {"a": {"b": 2}}, "…", '"…"', [[[[[[[["use"]]]]]]]]])
def test_any_suggestions_are_taken(suggestions: object) -> None:
    assert plain("", "We met.", 0.5, suggestions) == "We met."


# --- single rules


@pytest.mark.parametrize(
    ("before", "after"),
    [
        # phrases, their case and their articles
        ("In order to win, we utilize it.", "To win, we use it."),
        ("IN ORDER TO WIN, we ran.", "TO WIN, we ran."),
        ("We saw a utilization of an initial fee.", "We saw a use of a first fee."),
        ("She paid due to the fact that she was able to pay.", "She paid because she was able to pay."),
        ("He is able to pay, and they will not be able to pay.", "He can pay, and they cannot pay."),
        ("We go in\norder to win.", "We go to\nwin."),
        ("Most of the the fees are due.", "Most of the fees are due."),
        ("He had had enough, and I know that that is so.", "He had had enough, and I know that that is so."),
        # fillers
        ("It should be noted that the fee is due.", "The fee is due."),
        ("The fee, needless to say, is due; it is a very old and basically fair fee.", None),
        ("Please note that A is due and that B is not.", "Please note that A is due and that B is not."),
        ("He wants to be honest with us.", "He wants to be honest with us."),
        ("It is not very good, but it is a very old one.", "It is not very good, but it is an old one."),
        # who must
        ("The user is required to pay.", "The user must pay."),
        ("Applicants who wish to stay are required to pay.", "Applicants who want to stay must pay."),
        ("The permit is required to park here.", "The permit is required to park here."),
        ("A permit for the user is required to park.", "A permit for the user is required to park."),
        # verbs, nouns and participles
        ("The results demonstrated that it was demonstrated.", "The results showed that it was shown."),
        ("We obtained a copy; the copy was obtained by us.", "We got a copy; the copy was obtained by us."),
        ("The purchase was made; we must purchase it.", "The purchase was made; we must buy it."),
        ("His attempt to leave and their attempts to stay.", "His attempt to leave and their attempts to stay."),
        ("They are in need of help and had an impact on us.", "They need help and affected us."),
        ("We made a decision to conduct a review of the plan.", "We decided to review the plan."),
        ("We met for the purpose of evaluating the plan.", "We met to evaluate the plan."),
        ("He is responsible for the protection of the data.", "He is responsible for protecting the data."),
        # amounts
        ("The majority of users like the majority of the tools.", "Most users like most of the tools."),
        ("It rose in the amount of water, not in the amount of $5.", "It rose in the amount of water, not of $5."),
        # words that must stay in their place
        ("You are solely responsible, and it is solely for you.",
         "You are solely responsible, and it is only for you."),
        ("It is an approximately equal share of approximately 50 of them.",
         "It is an approximately equal share of about 50 of them."),
        ("Therefore, it is therefore clear.", "So, it is therefore clear."),
        ("It is more comprehensive than a comprehensive list.", "It is more comprehensive than a full list."),
        # names, quotations, code
        ("The Department of Commence and Mr. Terminate met.", "The Department of Commence and Mr. Terminate met."),
        ("Facilitate Inc. is a firm in the city.", "Facilitate Inc. is a firm in the city."),
        ('We say "in order to" and ‘utilize’ and `utilize`.', 'We say "in order to" and ‘utilize’ and `utilize`.'),
        ("See [how to utilize it](https://e.org/utilize) in utilize.md.",
         "See [how to use it](https://e.org/utilize) in utilize.md."),
        ("The individuals' data is for the individuals.", "The individuals' data is for the people."),
    ],
)  # fmt: skip
def test_rules_in_their_places(before: str, after: str | None) -> None:
    result, _ = refined(before)
    assert result == (after or "The fee, needless to say, is due; it is an old and fair fee.")


@pytest.mark.parametrize(
    "text",
    [
        "Der Antragsteller ist verpflichtet, die Unterlagen in order to test einzureichen, und zwar vor der Frist.",
        "Le demandeur est tenu de soumettre les documents requis avant la fin du délai, sauf accord.",
        "We will send you a letter when your permit is ready. Bring it to our office. The fee is $25.",
        "def utilize(x):\n    return commence(x)\n",
        "> It should be noted that this is quoted.\n\n# In order to head\n",
        "",
        " \n\t",
        "42",
    ],
)
def test_what_is_not_ours_to_change_stays(text: str) -> None:
    assert plain(text) == text


def test_one_word() -> None:
    assert plain("Utilize") == "Use"
    assert refined("Utilize") == ("Use", [0.0, 1.0])


def test_a_blank_result_starts_again_from_the_brief() -> None:
    assert plain("Rewrite in plain English: In order to go.", "  ") == "To go."


# --- scores


def test_an_unchanged_text_is_judged_on_readability_alone() -> None:
    text = "We will send you a letter when your permit is ready. Bring it to our office."
    verdict = readability(text, text)
    assert verdict["score"] == 1.0
    assert verdict["suggestions"] == []
    details = verdict["details"]
    assert {key: details[key] for key in ("words", "sentences", "kept", "length", "wordy", "english")} == {
        "words": 16,
        "sentences": 2,
        "kept": 1.0,
        "length": 1.0,
        "wordy": 0.0,
        "english": True,
    }


@pytest.mark.parametrize("result", ["", " \n", "The cat sat on the mat. It was a good day.", "Employees must train."])
def test_an_empty_or_unrelated_result_scores_nothing(result: str) -> None:
    verdict = readability(MEMO, result)
    assert verdict["score"] == 0.0
    assert verdict["suggestions"]


def test_dropping_or_padding_costs() -> None:
    whole = readability(MEMO, MEMO_PLAIN)["score"]
    sentences = MEMO_PLAIN.split(". ")
    for at in range(len(sentences)):
        without = ". ".join(sentences[:at] + sentences[at + 1 :])
        assert readability(MEMO, without)["details"]["kept"] < 1.0
    half = readability(MEMO, ". ".join(sentences[: len(sentences) // 2]) + ".")["score"]
    assert half < 0.6 * whole
    assert readability(MEMO, MEMO_PLAIN + " You are. We go." * 150)["score"] == 0.0


def test_a_lost_negation_a_lost_number_and_a_lost_code_block_are_losses() -> None:
    verdict = readability("You must not send the form by mail.", "You must send the form by mail.")
    assert verdict["suggestions"] == ['Put back what was lost: "not".']
    assert verdict["score"] < 0.8
    assert readability("Pay $25 by June 3.", "Pay by June 3.")["details"]["lost"] == ["$25"]
    assert readability("Run this:\n\n```\nmake it\n```\n", "Run this.")["details"]["lost"] == ["```", "make it", "```"]


def test_a_word_and_its_plain_form_are_the_same() -> None:
    verdict = readability(
        "The applicants utilized the form in order to make a decision about additional assistance.",
        "The applicant used the form to decide on extra help.",
    )
    assert verdict["details"]["lost"] == []


def test_suggestions_name_what_is_wrong() -> None:
    text = (
        "In order to apply, and in order to pay, you can call the the office of the city or of the county or of the"
        " state in which you live or work or study at this time. The form was approved. Basically, it is fine."
    )
    assert readability(text, text)["suggestions"] == [
        'Say "to" instead of "in order to" (2 times).',
        'Say "now" instead of "at this time".',
        'Drop "basically".',
        'Write "the" once instead of "the the".',
        'Split the sentence of 37 words that begins "In order to apply, and …".',
        '"was approved" is passive: say who does it, if that matters.',
    ]
    assert readability("We must ascertain it.", "We must ascertain it.")["suggestions"] == [
        'Say "find out" instead of "ascertain".'
    ]


def test_other_languages_are_scored_but_said_to_be_unknown() -> None:
    text = "Der Antragsteller ist verpflichtet, die Unterlagen vor der Frist bei der Behörde einzureichen."
    verdict = readability(text, text)
    assert verdict["details"]["english"] is False
    assert verdict["suggestions"][0] == "This does not look like English; the rules know English only."


def test_code_alone_is_neither_better_nor_worse() -> None:
    assert readability("```\nx = 1\n```", "```\nx = 1\n```")["score"] == 1.0
    assert readability("```\nx = 1\n```", "")["score"] == 0.0


@pytest.mark.parametrize(
    ("service", "inputs", "message"),
    [
        (plain, {"task_brief": None}, "plain: `task_brief` must be a text, not NoneType"),
        (plain, {"task_brief": "x", "current_result": {"a": 1}}, "plain: `current_result` must be a text, not dict"),
        (readability, {"task_brief": 1, "result": "x"}, "readability: `task_brief` must be a text, not int"),
        (readability, {"task_brief": "x", "result": ["x"]}, "readability: `result` must be a text, not list"),
    ],
)
def test_other_kinds_are_refused(service: Any, inputs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        service(**inputs)


# --- any text

PHRASES = sorted({rule.phrase for seconds in all_rules().values() for listed in seconds.values() for rule in listed})
PIECES = (
    "the the|a|an|and|, and|, which is|. |; |, |! |that|and that|We|you must|the user|users|are|is|not|to|very|Very"
    '|50|3.14|https://a.b/c?d=e|`in order to`|in quotes "in order to"|(|)|**|\n|\n\n|  |- |# |> |```\n|Dr.|e.g.|etc.'
    "|it|who wish|has|have|x_y|NASA|Utilize|UTILIZE|—|’s|'|:|…|?|basically,"
).split("|")
FRAGMENTS = st.sampled_from(PHRASES) | st.sampled_from(PIECES) | st.text(max_size=4)
TEXTS = st.lists(FRAGMENTS, max_size=30).map(" ".join) | st.lists(FRAGMENTS, max_size=30).map("".join) | st.text()
SETTINGS = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)


@SETTINGS
@given(TEXTS)
def test_any_text_reaches_a_fixpoint_and_keeps_what_must_be_kept(text: str) -> None:
    current = plain(text)
    for _ in range(12):
        following = plain("", current)
        if following == current:
            break
        current = following
    assert plain("", current) == current
    original = text_of(text)
    for kept in (r"\d+(?:\.\d+)?", r"https://a\.b/c\?d=e", r"`in order to`", r"\n\n"):
        assert re.findall(kept, current) == re.findall(kept, original)
    doubled_spaces = r"\S {2,}(?=\S)"
    assert len(re.findall(doubled_spaces, current)) <= len(re.findall(doubled_spaces, original))


@SETTINGS
@given(TEXTS, TEXTS)
def test_any_two_texts_have_a_score(brief: str, result: str) -> None:
    verdict = readability(brief, result)
    assert 0.0 <= verdict["score"] <= 1.0
    assert 0.0 <= verdict["details"]["kept"] <= 1.0
    assert all(isinstance(suggestion, str) and suggestion for suggestion in verdict["suggestions"])
    assert verdict == readability(brief, result)


@pytest.mark.parametrize(
    "piece", ["a", "a.", "`", '"', "<", "{", "[", "](", "the ", "very ", "/a", "a-", "that ", "„a"]
)
def test_long_texts_without_shape_do_no_harm(piece: str) -> None:
    text = piece * (6000 // len(piece))
    result = plain(text)
    assert 0.0 <= readability(text, result)["score"] <= 1.0


def test_a_long_document_keeps_its_shape() -> None:
    text = "\n\n".join([MEMO.split(": ", 1)[1], README, LETTER] * 7)
    result, _ = refined(text, 8)
    assert len(text) > 20_000
    assert result.count("\n\n") == text.count("\n\n")
    assert result.count("555-0199") == 7
    assert result.count("pip install fastcache  # in order to utilize it") == 7
    assert plain("", result) == result
