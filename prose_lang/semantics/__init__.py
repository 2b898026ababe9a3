"""What a program means: names bound, calls resolved, conditions compiled, addresses given. Never runs anything."""

from prose_lang.semantics.check import analyze, entry_signature, parse_body
from prose_lang.semantics.environment import Environment, Nothing
from prose_lang.semantics.program import Base, CallPlan, ConditionPlan, Program, Site, Target
from prose_lang.semantics.signature import OPEN, Parameter, Signature

__all__ = [
    "OPEN",
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
    "entry_signature",
    "parse_body",
]
