"""Conditions at run time (L30): the layers in their order, and every decision in the trace with its reason."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from prose_lang.conditions import (
    BOOLEAN_FIELDS,
    TEXT_FIELDS,
    Answer,
    Chosen,
    Compound,
    Decided,
    QuestionTooLarge,
    choice_question,
    decide_choice,
    question,
    read_answer,
    read_choice,
)
from prose_lang.conditions.rule import Rule
from prose_lang.diagnostics import RunError, ServiceError
from prose_lang.runtime.compiler.code import Frame
from prose_lang.runtime.compiler.shown import bounded, parts_read
from prose_lang.runtime.effects import Ask, Call, Service
from prose_lang.runtime.place import Place
from prose_lang.semantics import ConditionPlan
from prose_lang.syntax import nodes as n
from prose_lang.values import ServiceRef, handout, truth
from prose_lang.values import Value as AnyValue

if TYPE_CHECKING:
    from prose_lang.runtime.compiler.compiler import Compiler

_DECISION_FIELDS = frozenset((*BOOLEAN_FIELDS, *TEXT_FIELDS))


class Decider(NamedTuple):
    """A compiled condition. `quick` decides at once, or gives None where something has to be waited for: then `decide`
    does, which goes on from there. `waits` tells whether that can happen. A choice is always decided by `decide`."""

    quick: Callable[[Frame], bool | None]
    decide: Callable[[Frame], Awaitable[Any]]
    waits: bool


def compile_condition(c: Compiler, plan: ConditionPlan) -> Decider:
    """The decider of a condition; of a choice it gives the label instead of a truth value."""
    return _Condition(c, plan).decider()


class _Condition:
    def __init__(self, c: Compiler, plan: ConditionPlan) -> None:
        self.plan = plan
        self.place = Place(c.program.source, plan.site.span)
        text = plan.text
        self.quoted = text if len(text) <= 300 else f"{text[:299]}…"  # for messages
        self.expression = c.expression(plan.expression) if plan.expression is not None else None
        self.names = _names_in(plan.expression) if plan.expression is not None else ()
        self.readers = [c.expression(name) for name in self.names]
        parts = parts_read(c, plan.expression) if plan.expression is not None else []
        self.parts, self.looks = [part for part, _ in parts], [look for _, look in parts]
        # Whether a rule reads in turn is found out here: asking an abstract class costs as much as deciding.
        self.rules = [
            (rule, self.operands(c, rule), rule if isinstance(rule, Compound) else None) for rule in plan.rules
        ]
        self.reads = [(label, c.expression(expression)) for label, expression in plan.reads]

    def decider(self) -> Decider:
        if self.plan.labels:
            return Decider(self.by_waiting, self.choose, waits=True)
        if self.expression is not None:
            waits = self.expression.waits
            return Decider(self.by_waiting if waits else self.by_expression, self.decide, waits)
        return Decider(self.by_rules, self.decide, waits=not (self.rules and self.rules[-1][0].total))

    def operands(self, c: Compiler, rule: Rule) -> list[Callable[[Frame], Any]]:
        getters = []
        for operand in rule.operands:
            run = c.expression(operand).run
            if rule.layer == "verdict" and isinstance(operand, n.Name):
                run = _verdict_of(c, operand, run)
            getters.append(run)
        return getters

    # --- layers 0 to 4 -----------------------------------------------------------------------------------------------

    def by_waiting(self, f: Frame) -> bool | None:
        return self.by_host(f) if f[0].run.rules and not self.plan.labels else None

    def by_host(self, f: Frame) -> bool | None:
        """Layer 0: a rule that the embedder registered for this text."""
        predicate = self.host_rule(f)
        if predicate is None:
            return None
        values = self.shown(f)
        holds = bool(self.settled(f, lambda: bool(self.by_rule_of_host(predicate, values))))
        self.decided(f, "host", holds, values, "the host's rule")
        return holds

    def host_rule(self, f: Frame) -> Callable[..., Any] | None:
        """The embedder's rule for this text in this pattern, or for this text anywhere."""
        rules = f[0].run.rules
        if not rules:
            return None
        name, text = f[0].home.code.program.entry.name, self.plan.text
        found: Callable[..., Any] | None = rules.get(f"{name}: {text}") or rules.get(text)
        return found

    def by_expression(self, f: Frame) -> bool:
        """Layer 1: the truth of the expression that the whole text is."""
        if f[0].run.rules:
            host = self.by_host(f)
            if host is not None:
                return host
        assert self.expression is not None
        holds = truth(self.expression.run(f))
        self.by_expression_decided(f, holds)
        return holds

    def by_expression_decided(self, f: Frame, holds: bool) -> None:
        record = f[0].run.on_decision
        if record is not None:
            values = [look(f) for look in self.looks]
            record(self.plan, f[0], "expression", holds, (self.parts, values), None)

    def by_rules(self, f: Frame) -> bool | None:
        """Layers 2 to 4; None leaves the judge, or a predicate given as criteria."""
        if f[0].run.rules:
            host = self.by_host(f)
            if host is not None:
                return host
        for rule, getters, compound in self.rules:
            if compound is not None:
                values, found = _in_turn(compound, getters, f)
            else:
                values = [get(f) for get in getters]
                if rule.layer == "criteria" and isinstance(values[0], ServiceRef):
                    return None
                found = rule.decide(values)
            if found is not None:
                if found.warning is not None:
                    f[0].run.warn(self.place, "P304", found.warning)
                record = f[0].run.on_decision
                if record is not None:
                    shown = [bounded(value) for value in values]
                    record(self.plan, f[0], rule.layer, found.holds, (rule.parts[: len(shown)], shown), found)
                return found.holds
        return None

    async def decide(self, f: Frame) -> bool:
        """What could not be decided at once: an expression that calls something, a predicate, the judge."""
        if self.expression is not None:
            holds = truth(await self.expression.run(f))
            self.by_expression_decided(f, holds)
            return holds
        found = await self.by_predicate(f)
        if found is not None:
            return found
        answer = await self.ask(f, question, read_answer)
        assert isinstance(answer, Answer)
        return answer.holds

    async def by_predicate(self, f: Frame) -> bool | None:
        """Criteria given as a function or a service decide themselves (L30.4)."""
        for rule, getters, _ in self.rules:
            if rule.layer != "criteria":
                continue
            criteria = getters[0](f)
            if not isinstance(criteria, ServiceRef):
                continue
            service, subject = criteria.target, getters[1](f)
            names = service.signature.names
            inputs = {} if subject is None else {names[0] if names else "result": subject}
            here = f[0]
            effect = Call(self.plan.site, here, here.indices, service, inputs)
            result = await self.answered(effect)
            if not isinstance(result, bool):
                raise self.undecided(service.name, f"the predicate `{service.name}` gave no boolean")
            self.decided(f, "criteria", result, {rule.parts[1].text: subject}, f"the predicate {service.name}")
            return result
        return None

    # --- the judge (L30.5, L31) --------------------------------------------------------------------------------------

    async def choose(self, f: Frame) -> str:
        labels = self.plan.labels
        host = self.host_rule(f)
        label = None if host is None else self.settled(f, lambda: self.by_rule_of_host(host, self.shown(f)))
        if label is not None:  # None leaves the choice to the layers below
            if label not in labels:
                message = f"the host's rule for “{self.quoted}” chose {label!r}, which is no option"
                raise self.undecided(None, message)
            self.decided(f, "host", label, self.shown(f), "the host's rule")
            return str(label)
        if self.expression is not None:
            value = await self.expression.run(f) if self.expression.waits else self.expression.run(f)
            chosen = decide_choice(value, labels)
            if chosen is not None:
                self.decided(f, "value", chosen, {self.plan.text: value}, "its value is the label")
                return chosen

        def asked(text: str, values: dict[str, AnyValue]) -> dict[str, AnyValue]:
            return choice_question(text, values, labels)

        answer = await self.ask(f, asked, lambda found: read_choice(found, labels))
        assert isinstance(answer, Chosen)
        return answer.label

    def shown(self, f: Frame) -> dict[str, AnyValue]:
        """The values that the text names."""
        values = {label: value.run(f) for label, value in self.reads if not value.waits}
        values.update({name.id: reader.run(f) for name, reader in zip(self.names, self.readers, strict=True)})
        return values

    async def ask(self, f: Frame, pose: Callable[..., Any], read: Callable[[Any], Any]) -> Any:
        """Ask the judge; an answer of another shape is asked for once more, then P402."""
        here = f[0]
        run = here.run
        judge = run.judge
        if judge is None:
            raise RunError(
                "P403",
                f"no rule decides “{self.quoted}”, and there is no judge to ask",
                source=self.place.source,
                span=self.place.span,
                hint=f"give a judge (--judge), or write {self.plan.hint or 'an expression'}",
            )
        values = {label: await value.run(f) if value.waits else value.run(f) for label, value in self.reads}
        try:
            inputs = pose(self.plan.text, values)
        except QuestionTooLarge as error:
            raise self.undecided(judge.name, str(error)) from None
        if not getattr(judge, "metered", False):
            answer, _ = await self.put(here, judge, inputs, read)
            return self.judged(f, answer, values, None)
        # A model says the same of the same question, or ought to: within a run it is asked once.
        async with run.judged.question(inputs) as known:
            cached = known.answer is not None
            if not cached:
                known.answer = await self.put(here, judge, inputs, read)
            answer, model = known.answer
        told = {"model": model, "prompt": getattr(judge, "judge_prompt", None), "cached": cached}
        return self.judged(f, answer, values, told)

    def judged(self, f: Frame, answer: Any, values: dict[str, AnyValue], told: dict[str, Any] | None) -> Any:
        outcome = answer.holds if isinstance(answer, Answer) else answer.label
        self.decided(f, "judge", outcome, values, answer.reason, told)
        return answer

    async def put(
        self, here: Any, judge: Service, inputs: dict[str, AnyValue], read: Callable[[Any], Any]
    ) -> tuple[Any, str | None]:
        """Put a question to the judge; its answer, and the model that gave it if one did."""
        asked = []
        for turn in range(2):
            effect = Ask(self.plan.site, here, here.indices, judge, inputs)
            effect.turn = turn
            asked.append(effect)
            answer = read(await self.answered(effect))
            if answer is not None:
                return answer, effect.model
        if here.ledger is not None:
            for effect in asked:
                here.ledger.withdraw(effect)
        wanted = "{choice, reason}" if self.plan.labels else "{holds, reason}"
        shape = '{"choice": "…", "reason": "…"}' if self.plan.labels else '{"holds": true, "reason": "…"}'
        raise self.undecided(judge.name, f"the judge's answer is not {wanted}, twice", f"a judge answers {shape}")

    async def answered(self, effect: Call | Ask) -> Any:
        """What a judge or predicate answers. That it fails is no failure of what it judges: `catch` must not see it,
        or a fallback chain would pay every delegate for a judge that is down (L27)."""
        run, service = effect.place.run, effect.service
        try:
            return await (run.perform_composite(effect) if service.composite else run.perform(effect))
        except RunError as error:
            if not error.catchable:
                raise
            message = f"`{service.name}` was to decide “{self.quoted}” and failed: {error.message}"
            raise self.undecided(service.name, message) from error

    def settled(self, f: Frame, rule: Callable[[], Any]) -> Any:
        """What a rule of the host says: what it said before, where the run is gone on with (L35)."""
        ledger = f[0].ledger
        if ledger is None:
            return rule()
        key = self.plan.site.address(f[0].prefix, f[0].indices)
        known = ledger.recall("host", key)
        if known is not None:
            return known.value
        found = rule()
        if found is None or isinstance(found, (bool, str)):
            ledger.settle("host", key, found)
        return found

    def by_rule_of_host(self, rule: Callable[..., Any], values: dict[str, AnyValue]) -> Any:
        """What a rule of the host says about copies of the values: it cannot change what the program sees."""
        try:
            found = rule({name: handout(value) for name, value in values.items()})
        except Exception as error:
            message = f"the host's rule for “{self.quoted}” failed: {type(error).__name__}: {error}"
            raise self.undecided(None, message) from error
        if hasattr(found, "__await__"):
            getattr(found, "close", lambda: None)()
            message = f"the host's rule for “{self.quoted}” is asynchronous, and a rule answers at once"
            raise self.undecided(None, message, "use a plain function, or bind a judge")
        return found

    def undecided(self, service: str | None, message: str, hint: str | None = None) -> ServiceError:
        place = self.place
        return ServiceError("P402", message, source=place.source, span=place.span, service=service, hint=hint)

    def decided(
        self, f: Frame, layer: str, outcome: Any, values: Any, reason: str | None, judge: dict[str, Any] | None = None
    ) -> None:
        record = f[0].run.on_decision
        if record is not None:
            record(self.plan, f[0], layer, outcome, values, reason, judge)


def _in_turn(
    rule: Compound, getters: Sequence[Callable[[Frame], AnyValue]], f: Frame
) -> tuple[list[AnyValue], Decided | None]:
    """The values that a conjunction had to read, and what it decided."""
    values: list[AnyValue] = []

    def read(count: int) -> list[AnyValue]:
        new = [get(f) for get in getters[len(values) : len(values) + count]]
        values.extend(new)
        return new

    return values, rule.decide_in_turn(read)


def _names_in(expression: n.Expression) -> Sequence[n.Name]:
    """The names that an expression reads, each once."""
    found: dict[str, n.Name] = {}
    stack: list[n.Node] = [expression]
    from prose_lang.syntax.visiting import children

    while stack:
        node = stack.pop()
        if isinstance(node, n.Invoke):
            stack.extend(reversed(node.arguments))
            continue
        if isinstance(node, n.Name):
            found.setdefault(node.id, node)
        stack.extend(reversed(tuple(children(node))))
    return tuple(found.values())


def _verdict_of(c: Compiler, operand: n.Name, run: Callable[[Frame], Any]) -> Callable[[Frame], Any]:
    """What a verdict is read from: of a slot its latest result, of a variable its value.

    A value that was the single output of its service, and is a decision by that output's name, is one again.
    """
    cell = c.program.reads.get(operand)
    latest = c.program.latest.get(cell) if cell is not None else None
    if latest is not None:
        return lambda f: f[latest]
    alias = c.program.aliases.get(cell) if cell is not None else None
    if alias is None:
        return run

    def with_alias(f: Frame) -> Any:
        value = run(f)
        name = f[alias]
        return {name: value} if name in _DECISION_FIELDS else value

    return with_alias
