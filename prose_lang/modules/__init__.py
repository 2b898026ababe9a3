"""Modules: refinement, samples, ensembles and pipelines of anything that is called with named inputs, from Python.

>>> from prose_lang.modules import refine
>>> async def drafter(question, feedback): return "Paris" if "Paris" not in question else "London"
>>> refine(drafter, n=2)(question="The capital of France?")
'Paris'

A module is a function, sync or async, a loaded pattern with its slots bound, a service, or what is made here: that is a
module again, to any depth, and is run by the interpreter on the patterns of the library.
"""

from prose_lang.modules.assertions import Assertion, assertion, with_assertions
from prose_lang.modules.attempts import Attempt, Failure, ModuleRun
from prose_lang.modules.ensembles import Reducer, best_by_metric, ensemble, first, majority, weighted_vote
from prose_lang.modules.errors import AttemptsError, IdenticalSamplesWarning, UnmetAssertionWarning
from prose_lang.modules.module import Module
from prose_lang.modules.pipelines import Step, pipeline, step
from prose_lang.modules.refining import best_of_n, refine
from prose_lang.modules.scores import as_reward_fn
from prose_lang.modules.wrapping import module

__all__ = [
    "Assertion",
    "Attempt",
    "AttemptsError",
    "Failure",
    "IdenticalSamplesWarning",
    "Module",
    "ModuleRun",
    "Reducer",
    "Step",
    "UnmetAssertionWarning",
    "as_reward_fn",
    "assertion",
    "best_by_metric",
    "best_of_n",
    "ensemble",
    "first",
    "majority",
    "module",
    "pipeline",
    "refine",
    "step",
    "weighted_vote",
    "with_assertions",
]
