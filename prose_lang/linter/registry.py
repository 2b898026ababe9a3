"""The rules by name. A new rule is a file in `rules/` and a line here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from prose_lang.linter.rule import Rule
from prose_lang.linter.rules.always_fails import AlwaysFails
from prose_lang.linter.rules.contradiction import Contradiction
from prose_lang.linter.rules.dropped_binding import DroppedBinding
from prose_lang.linter.rules.ignored_fence import IgnoredFence
from prose_lang.linter.rules.judge_needed import JudgeNeeded
from prose_lang.linter.rules.lone_backoff import LoneBackoff
from prose_lang.linter.rules.lost_value import LostValue
from prose_lang.linter.rules.misfit_binding import MisfitBinding
from prose_lang.linter.rules.missing_service import MissingService
from prose_lang.linter.rules.misspelt_condition import MisspeltCondition
from prose_lang.linter.rules.nothing_to_resume import NothingToResume
from prose_lang.linter.rules.placeholder_text import PlaceholderText
from prose_lang.linter.rules.promised_output_missing import PromisedOutputMissing
from prose_lang.linter.rules.re_let import ReLet
from prose_lang.linter.rules.read_before_set import ReadBeforeSet
from prose_lang.linter.rules.score_not_bounded import ScoreNotBounded
from prose_lang.linter.rules.shadowing import Shadowing
from prose_lang.linter.rules.stage_without_value import StageWithoutValue
from prose_lang.linter.rules.unbounded_loop import UnboundedLoop
from prose_lang.linter.rules.undeclared_input import UndeclaredInput
from prose_lang.linter.rules.unknown_config_key import UnknownConfigKey
from prose_lang.linter.rules.unknown_output import UnknownOutput
from prose_lang.linter.rules.unknown_property import UnknownProperty
from prose_lang.linter.rules.unreachable import Unreachable
from prose_lang.linter.rules.unused_agent import UnusedAgent
from prose_lang.linter.rules.unused_allow import UnusedAllow
from prose_lang.linter.rules.unused_block import UnusedBlock
from prose_lang.linter.rules.unused_config import UnusedConfig
from prose_lang.linter.rules.unused_input import UnusedInput
from prose_lang.linter.rules.unused_slot import UnusedSlot
from prose_lang.linter.rules.unused_use import UnusedUse
from prose_lang.linter.rules.unused_variable import UnusedVariable

_CLASSES: tuple[type[Rule], ...] = (
    AlwaysFails,
    Contradiction,
    DroppedBinding,
    IgnoredFence,
    JudgeNeeded,
    LoneBackoff,
    LostValue,
    MisfitBinding,
    MissingService,
    MisspeltCondition,
    NothingToResume,
    PlaceholderText,
    PromisedOutputMissing,
    ReLet,
    ReadBeforeSet,
    ScoreNotBounded,
    Shadowing,
    StageWithoutValue,
    UnboundedLoop,
    UndeclaredInput,
    UnknownConfigKey,
    UnknownOutput,
    UnknownProperty,
    Unreachable,
    UnusedAgent,
    UnusedAllow,
    UnusedBlock,
    UnusedConfig,
    UnusedInput,
    UnusedSlot,
    UnusedUse,
    UnusedVariable,
)

#: Every rule by its name, sorted.
RULES: Mapping[str, Rule] = MappingProxyType({kind.name: kind() for kind in sorted(_CLASSES, key=lambda k: k.name)})
