"""What a program means: names bound, calls resolved, conditions compiled, addresses given. Never runs anything."""

from prose_lang.semantics.alone import Alone, analyze_condition
from prose_lang.semantics.check import analyze, entry_signature, parse_body
from prose_lang.semantics.environment import Environment, Nothing
from prose_lang.semantics.program import Base, CallPlan, ConditionPlan, Program, Site, Target
from prose_lang.semantics.signature import OPEN, Parameter, Signature

__all__ = [
    "OPEN",
    "Alone",
    "Base",
    "CallPlan",
    "ConditionPlan",
    "Environment",
    "Nothing",
    "Parameter",
    "Program",
    "Signature",
    "Site",
    "Target",
    "analyze",
    "analyze_condition",
    "entry_signature",
    "parse_body",
]
