"""The parts the built-in services are made of: blocks, atoms, briefs, forms, syllables, clauses and the tables."""

from __future__ import annotations

import subprocess
import sys

import pytest

from prose_lang.services.builtin import BUILTIN_NAMES, builtin, expressions, hidden_verbs, phrases, words
from prose_lang.services.builtin.atoms import Atom, join_atoms, sentences, split_atoms
from prose_lang.services.builtin.blocks import split_blocks
from prose_lang.services.builtin.brief import text_of
from prose_lang.services.builtin.conditions import Surroundings, holds
from prose_lang.services.builtin.doubled import doubled_words
from prose_lang.services.builtin.edits import replace_all
from prose_lang.services.builtin.english import looks_english
from prose_lang.services.builtin.inflection import article, forms, plural
from prose_lang.services.builtin.meaning import stem
from prose_lang.services.builtin.rules import Rule
from prose_lang.services.builtin.splitting import split_long
from prose_lang.services.builtin.syllables import flesch, syllables
from prose_lang.services.builtin.tables import all_rules, phrase_rules, word_rules


def every_rule() -> list[Rule]:
    return [rule for seconds in all_rules().values() for listed in seconds.values() for rule in listed]


def atoms(text: str) -> list[Atom]:
    return split_atoms(text)[0]


# --- the package


def test_builtin_knows_its_names_and_no_others() -> None:
    assert BUILTIN_NAMES == ("plain", "readability", "person")
    for name in BUILTIN_NAMES:
        service = builtin(name)
        assert service is not None
        assert service.__name__ == name
    assert builtin("Plain") is None
    assert builtin("") is None


def test_importing_the_package_loads_neither_tables_nor_rules() -> None:
    program = (
        "import sys, prose_lang.services.builtin as b; before = set(sys.modules); b.builtin('plain');"
        "print(any(m.endswith(('phrases', '.rules')) and '.builtin.' in m for m in before),"
        " any(m.endswith('builtin.phrases') for m in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


# --- the tables


def test_the_tables_are_large_and_hold_no_entry_twice() -> None:
    def lines(*tables: str) -> list[str]:
        return [line for table in tables for line in table.strip().splitlines()]

    wordy = lines(
        phrases.CONNECTIVES,
        expressions.AMOUNTS,
        expressions.REDUNDANCIES,
        expressions.PREDICATES,
        expressions.FILLERS,
    )
    light = lines(hidden_verbs.LIGHT_VERBS, hidden_verbs.BE_PHRASES)
    long = lines(words.VERBS, words.ADJECTIVES, words.NOUNS, words.OTHER_WORDS)
    assert len(wordy) > 500
    assert len(light) > 150
    assert len(long) > 200
    for table in (wordy, light, long):
        entries = [line.split(" = ")[0] for line in table]
        assert sorted({entry for entry in entries if entries.count(entry) > 1}) == []


def test_every_condition_in_the_tables_is_known() -> None:
    around = Surroundings("", "", "", "", (), "", "", at_start=False, ends=False)
    for condition in {condition for rule in every_rule() for condition in rule.conditions}:
        holds(condition, around)
    with pytest.raises(AssertionError, match="unknown condition: sideways"):
        holds("sideways", around)


def test_no_plain_form_leads_back_to_its_phrase() -> None:
    for rule in every_rule():
        if rule.kept or not rule.plain:
            continue
        plain = atoms("They " + rule.plain.removesuffix(" (of)") + " x.")
        once = replace_all(plain)
        assert replace_all(once) == once, rule
        assert f" {rule.phrase} " not in join_atoms(once), rule


def test_rules_are_shared_and_tables_compiled_once() -> None:
    assert phrase_rules() is phrase_rules()
    assert word_rules() is word_rules()


# --- blocks


def test_blocks_lose_nothing_and_keep_what_is_not_prose() -> None:
    text = (
        "---\na: in order to\n---\n# Title\n\nOne\ntwo.\n\n```py\nx = 1\n```\n> quoted\n\n| a | b |\n|---|---|\n\n"
        "- [ ] item\n  goes on\n1. number\n(a) letter\n\n    code\n\n[x]: http://e\n$ run\nSetext\n======\n***\nend"
    )
    blocks = split_blocks(text)
    assert "".join(block.prefix + block.body + block.suffix for block in blocks) == text
    assert [block.body for block in blocks if block.prose] == [
        "One\ntwo.",
        "item\n  goes on",
        "number",
        "letter",
        "end",
    ]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_blocks_take_any_line_end(newline: str) -> None:
    text = newline.join(["One", "", "- two", "~~~", "x", "~~~~", "three", ""])
    blocks = split_blocks(text)
    assert "".join(block.prefix + block.body + block.suffix for block in blocks) == text
    assert [block.body for block in blocks if block.prose] == ["One", "two", "three"]


def test_text_indented_as_a_whole_is_not_code() -> None:
    assert [block.prose for block in split_blocks("    In order to go.\n    Go.")] == [True]
    assert [block.prose for block in split_blocks("Go:\n\n    in order to go")] == [True, False]


def test_unfenced_code_is_kept() -> None:
    code = "def f(x):\nreturn f(x, 1)\nfor i in range(10):\nx = 1;\nimport os\nif (a == b) {"
    assert [block.prose for block in split_blocks(code)] == [False]
    assert split_blocks("We call f(x) first.")[0].prose
    assert split_blocks("Add the item(s) to the list")[0].prose


# --- atoms


@pytest.mark.parametrize(
    "piece",
    [
        "`in order to`",
        "``a `b` c``",
        "https://e.org/a_(b)?x=1",
        "a.b+c@e-f.org",
        "/usr/share/doc",
        "and/or",
        "--dry-run",
        "#tag",
        "@name",
        "{placeholder}",
        "${HOME}",
        "snake_case",
        "camelCase",
        "module.function()",
        "<br/>",
        "[^1]",
    ],
)
def test_code_is_one_atom(piece: str) -> None:
    kinds = [(atom.kind, atom.text) for atom in atoms(f"See {piece} now.")]
    assert kinds == [("word", "See"), ("code", piece), ("word", "now"), ("mark", ".")]


def test_atoms_tell_kinds_apart_and_lose_nothing() -> None:
    text = 'Dr. Lee paid $1,250.50, e.g. for the "very\nbest" co-op\'s  3rd ‘tool’ – no?  '
    found, tail = split_atoms(text)
    assert join_atoms(found, tail) == text
    assert [atom.text for atom in found if atom.kind == "abbr"] == ["Dr.", "e.g."]
    assert [atom.text for atom in found if atom.kind == "number"] == ["$1,250.50", "3rd"]
    assert [atom.text for atom in found if atom.kind == "quote"] == ['"very\nbest"', "‘tool’"]
    assert "co-op's" in [atom.text for atom in found if atom.kind == "word"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("One. Two! Three? Four", 4),
        ("Dr. Lee met Mr. O'Neill, e.g. on Jan. 5 at 3.15 p.m. in St. Louis.", 1),
        ("It costs approx. five. We left at 5 p.m. The rest stayed.", 3),
        ('He said "Go." Then he left.', 2),
        ("Wait... what? (Yes.) See https://e.org. End", 4),
        ("J. P. Morgan paid.", 1),
    ],
)
def test_sentences(text: str, count: int) -> None:
    found = atoms(text)
    ranges = sentences(found)
    assert len(ranges) == count
    assert [at for start, end in ranges for at in range(start, end)] == list(range(len(found)))


# --- briefs


@pytest.mark.parametrize(
    ("brief", "text"),
    [
        ("Rewrite in plain English: TEXT here.", "TEXT here."),
        ("Rewrite the following text in plain English.\n\nTEXT: a.\n\nTEXT.", "TEXT: a.\n\nTEXT."),
        ("Please simplify this. TEXT.", "Please simplify this. TEXT."),
        ("Please make this clearer. TEXT.", "TEXT."),
        ("Simplify:\n```text\nTEXT\n```", "TEXT"),
        ("Could you please make the following text easier to read?\n\n'''\n  TEXT\n'''", "TEXT"),
        ("Rewrite in plain language: “TEXT”", "TEXT"),
        ('Rewrite in plain language: "TEXT" and "TEXT"', '"TEXT" and "TEXT"'),
        ("Simplify this README:\n\n# T\n\n```sh\nx\n```\n\nTEXT", "# T\n\n```sh\nx\n```\n\nTEXT"),
        ("Write a letter to the council: be brief.", "Write a letter to the council: be brief."),
        ("Make sure of the following: x.", "Make sure of the following: x."),
        ("Edit the following files: a, b.", "Edit the following files: a, b."),
        ("Rewrite in plain English:", "Rewrite in plain English:"),
        ("", ""),
    ],
)
def test_text_of(brief: str, text: str) -> None:
    assert text_of(brief) == text


# --- English


@pytest.mark.parametrize(
    ("verb", "expected"),
    [
        ("utilize", "utilize utilizes utilized utilized utilizing"),
        ("submit", "submit submits submitted submitted submitting"),
        ("modify", "modify modifies modified modified modifying"),
        ("show", "show shows showed shown showing"),
        ("take part in", "take part in|takes part in|took part in|taken part in|taking part in"),
        ("agree", "agree agrees agreed agreed agreeing"),
        ("plan", "plan plans planned planned planning"),
        ("be", "be is was been being"),
        ("stress", "stress stresses stressed stressed stressing"),
    ],
)
def test_forms(verb: str, expected: str) -> None:
    assert list(forms(verb)) == (expected.split("|") if "|" in expected else expected.split())


def test_articles_and_plurals() -> None:
    words = "apple fee hour house use unit union uninformed European one only SQL NASA umbrella usual"
    assert " ".join(article(word) for word in words.split()) == "an a an a a a a an a a an an an an a"
    assert [plural(noun) for noun in ("duty", "change", "tax", "person")] == ["duties", "changes", "taxes", "people"]


SYLLABLES = """
1 the use eye said days walked rules asked years queue clothes through whole
2 little table wanted houses create poem being science rhythm lion quiet simple handled isn't every issue beyond
3 utilize area idea created prism-like policy various period actual fluency reliance family department employee
4 january information situation experience initiate material especially notwithstanding facilitate convenience
5 organization university immediately utilization evaluation liability individual opportunity
6 responsibility individually
"""


@pytest.mark.parametrize("line", SYLLABLES.strip().splitlines())
def test_syllables(line: str) -> None:
    count, *listed = line.split()
    counted = {word: syllables(word) for word in listed}
    assert counted == dict.fromkeys(listed, int(count))


def test_flesch_of_nothing_is_zero() -> None:
    assert flesch(0, 0, 0) == 0.0
    assert round(flesch(6, 1, 6), 1) == 116.1


@pytest.mark.parametrize(
    ("text", "english"),
    [
        ("the form must be sent to the office before the end of the month", True),
        ("additional charges apply payment due upon receipt late fees accrue at the maximum rate", True),
        ("der antragsteller ist verpflichtet die unterlagen vor ablauf der frist in der behörde einzureichen", False),
        ("de aanvrager is verplicht om de documenten voor het einde van de termijn in te dienen of we had", False),
        ("le demandeur est tenu de soumettre les documents requis on me dit a la fin", False),
        ("lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor", False),
    ],
)
def test_looks_english(text: str, english: bool) -> None:
    assert looks_english(text.split()) is english


def test_stems_join_forms_of_a_word() -> None:
    for group in ("apply applies applied", "evaluate evaluation evaluating", "stop stops stopped", "fee fees"):
        assert len({stem(word) for word in group.split()}) == 1


def test_doubled_words() -> None:
    found = atoms(
        "the the that that had had The the very very New New files files no no in in and\nand 5 5 is is of, of"
    )
    places = doubled_words(found)
    assert [found[at].text for at in places] == ["the", "the", "files", "and"]


# --- splitting


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "We keep the form for a year, and you may ask for a copy.",
            "We keep the form for a year. You may ask for a copy.",
        ),
        (
            "The board has met twice this year, but the mayor has not signed the plan.",
            "The board has met twice this year. But the mayor has not signed the plan.",
        ),
        (
            "The fee is due today; however, nothing in this policy requires you to pay.",
            "The fee is due today. However, nothing in this policy requires you to pay.",
        ),
        (
            "You must sign the form and must send it to us by mail.",
            "You must sign the form. You must send it to us by mail.",
        ),
        (
            "The data is stored on two disks, which means that no file is lost.",
            "The data is stored on two disks. This means that no file is lost.",
        ),
        (
            "You must send the form to the local office, which is open every day.",
            "You must send the form to the local office, which is open every day.",
        ),
        (
            "The plan is good for us, however, it will cost the town too much.",
            "The plan is good for us. However, it will cost the town too much.",
        ),
    ],
)
def test_long_sentences_are_split_where_it_is_safe(before: str, after: str) -> None:
    assert join_atoms(split_long(atoms(before), 8)) == after


@pytest.mark.parametrize(
    "sentence",
    [
        "If you leave before the end, you will lose access, and we will delete your data.",
        "You may leave the plan if you write to us first, and we will pay you back.",
        "The agency said that the plan was late this year, and the mayor must now decide.",
        "We collect the data of users, we store the data in Europe, and we delete it all.",
        "The report covers the budget of the year, the plans of the board, and the staff.",
        "The form, which you must sign first, must be sent to the local office by mail.",
        "Send the form to the head of the local office in the city, which is open daily.",
        "The fees are as follows: adults must pay $5 each, and the family must pay $10 in all.",
        "The files (they are kept on two disks, and the disks are in Bonn) must not be lost.",
        "The applicant who owns a house in town and must sell it soon can ask for more time",
        "She wants the new house and the old car and the dog and the cat and the bird too.",
    ],
)
def test_sentences_are_not_split_where_meaning_hangs_together(sentence: str) -> None:
    found = atoms(sentence)
    assert split_long(found, 8) == found
