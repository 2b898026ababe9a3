"""Conditions without a judge (L30 layers 2 to 4, L31), and what a judge is asked. Pure: no runtime, no async."""

from prose_lang.conditions.choices import decide_choice
from prose_lang.conditions.compounds import Compound
from prose_lang.conditions.hints import exact_form
from prose_lang.conditions.judge import (
    MAX_QUESTION,
    Answer,
    Chosen,
    QuestionTooLarge,
    choice_question,
    mentioned,
    question,
    read_answer,
    read_choice,
)
from prose_lang.conditions.rule import Decided, Parse, Rule, is_path, root
from prose_lang.conditions.rules import read_rules
from prose_lang.conditions.verdicts import BOOLEAN_FIELDS, TEXT_FIELDS

__all__ = [
    "BOOLEAN_FIELDS",
    "MAX_QUESTION",
    "TEXT_FIELDS",
    "Answer",
    "Chosen",
    "Compound",
    "Decided",
    "Parse",
    "QuestionTooLarge",
    "Rule",
    "choice_question",
    "decide_choice",
    "exact_form",
    "is_path",
    "mentioned",
    "question",
    "read_answer",
    "read_choice",
    "read_rules",
    "root",
]
