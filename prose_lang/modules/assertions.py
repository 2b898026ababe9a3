"""`with_assertions`: a module whose predictions are checked, and that is asked again with what was wrong."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import attrs

from prose_lang.diagnostics import RunError, ServiceError
from prose_lang.engine import Engine
from prose_lang.modules.attempts import ModuleRun
from prose_lang.modules.calling import perform
from prose_lang.modules.errors import AttemptsError, UnmetAssertionWarning, refused
from prose_lang.modules.module import engine_for
from prose_lang.modules.refining import Refine
from prose_lang.modules.scores import positional_names
from prose_lang.runtime.effects import Effect, Service
from prose_lang.semantics.signature import Parameter, Signature
from prose_lang.services import FunctionService
from prose_lang.values import Value


@attrs.frozen(eq=False)
class Assertion:
    """Something that must be, or should be, true of a prediction; made by `assertion`."""

    check: Callable[..., Any]
    message: str
    soft: bool = False


def assertion(check: Callable[..., Any], message: str, *, soft: bool = False) -> Assertion:
    """What must be true of a prediction, and what to say where it is not.

    `check(prediction)` or `check(prediction, inputs)` gives true or false, or a text that says what is wrong, or raises
    AssertionError; anything else fails the attempt. A `soft` one is only wished for: it gives a warning and no retry.

    >>> short = assertion(lambda prediction: len(prediction) < 10, "be shorter")
    >>> short.message
    'be shorter'
    """
    if not callable(check):
        raise refused(f"an assertion's check is a function, not {type(check).__name__}")
    if not isinstance(message, str) or not message.strip():
        raise refused("an assertion needs a message: the module is told it")
    return Assertion(check, message, soft)


def with_assertions(
    module: Any,
    assertions: Iterable[Any],
    max_retries: int = 2,
    *,
    on_failure: str = "error",
    feedback_field: str = "feedback",
    name: str | None = None,
    engine: Engine | None = None,
) -> Asserted:
    """A module whose predictions are checked, and that is asked again, up to `max_retries` times, and told what failed.

    An assertion is made by `assertion`, or is a function whose docstring's first line, or else its name, is its text.
    The feedback lists the texts of what failed, a line each, and is given as that of `refine` is. If no attempt meets
    them all, AttemptsError (P404, `assertions-failed`) has all attempts; with `on_failure="warn"` the attempt with the
    fewest failures is taken, with a warning.

    Run by the library pattern `refine-with-feedback`. Raises CheckError P202 or P211 for what it cannot be made of.

    >>> async def drafter(question, feedback):
    ...     return "Paris" if "one word" in feedback else "It is Paris."
    >>> one_word = assertion(lambda prediction: len(prediction.split()) == 1, "say one word")
    >>> checked = with_assertions(drafter, [one_word])
    >>> checked(question="The capital of France?")
    'Paris'
    >>> checked.feedback_history()
    ['say one word']
    """
    return Asserted(module, assertions, max_retries, on_failure, feedback_field, name, engine)


class Checker:
    """Assertions in the slot `scorer` of the library pattern: the share that holds, and what to say of the others."""

    composite = False
    name = "assertions"
    signature = Signature((Parameter("task_brief", True), Parameter("result", False)))
    reads: tuple[str, ...] = ()

    def __init__(self, assertions: list[Assertion], engine: Engine) -> None:
        self.checks = [(one, engine.service(one.check)) for one in assertions]
        for _, service in self.checks:
            _names(service)

    async def invoke(self, effect: Effect) -> Any:
        """Check a prediction."""
        failed: list[str] = []
        wishes: list[str] = []
        hard = 0
        for one, service in self.checks:
            hard += not one.soft
            wrong = await self.wrong(one, service, effect)
            if wrong is not None:
                (wishes if one.soft else failed).append(wrong)
        score = 1 - len(failed) / hard if hard else 1
        return {"score": score, "feedback": "\n".join(failed), "failed": failed, "wishes": wishes}

    async def wrong(self, one: Assertion, service: Service, effect: Effect) -> str | None:
        """What is wrong with a prediction, or None."""
        values = (effect.inputs.get("result"), dict(effect.inputs["task_brief"]))
        try:
            found = await perform(service, effect, dict(zip(_names(service), values, strict=False)))
        except AssertionError as error:
            return str(error) or one.message
        except RunError:
            raise
        except Exception as error:
            raise ServiceError("P406", str(error) or type(error).__name__, service=service.name,
                               hint=f"the check `{service.name}` raised {type(error).__name__}") from error  # fmt: skip
        if found is True or found is False:
            return None if found else one.message
        if isinstance(found, str) and found.strip():
            return found
        raise ServiceError("P404", f"the check `{service.name}` gave {found!r:.60}; it gives true or false, or what is "
                                   "wrong", service=service.name)  # fmt: skip


class Asserted(Refine):
    """See `with_assertions`."""

    def __init__(self, module: Any, assertions: Iterable[Any], max_retries: int, on_failure: str, feedback_field: str,
                 name: str | None, engine: Engine | None) -> None:  # fmt: skip
        if isinstance(max_retries, bool) or not isinstance(max_retries, int) or max_retries < 0:
            raise refused(f"`max_retries` is a whole number from 0, not {max_retries!r}")
        if on_failure not in ("error", "warn"):
            raise refused(f"`on_failure` is error or warn, not {on_failure!r}")
        made = [_assertion(one) for one in assertions]
        if not made:
            raise refused("there are no assertions")
        self.on_failure = on_failure
        engine = engine_for(engine, (module,))
        super().__init__(
            module,
            max_retries + 1,
            None,
            1.0,
            None,
            None,
            feedback_field,
            name=name,
            engine=engine,
            verb="with_assertions",
            scorer=Checker(made, engine),
        )

    def read(self, value: Value) -> ModuleRun:
        attempts = self.attempts_of(value["history"])
        best = attempts[value["attempt"] - 1]
        failed, wishes = best.evaluation["failed"], best.evaluation["wishes"]
        if failed and self.on_failure == "error":
            raise AttemptsError(
                "P404",
                f"`{self.name}`: after {len(attempts)} attempts the best prediction still fails: {'; '.join(failed)}",
                history=attempts,
                error_name="assertions-failed",
                service=self.name,
            )
        for message in (*failed, *wishes):
            warnings.warn(f"`{self.name}`: the prediction fails: {message}", UnmetAssertionWarning, stacklevel=2)
        return ModuleRun(value["result"], attempts, best)


def _assertion(thing: Any) -> Assertion:
    if isinstance(thing, Assertion):
        return thing
    if not callable(thing):
        raise refused(f"an assertion is made by `assertion`, or is a function, not {type(thing).__name__}")
    own = getattr(thing, "__name__", type(thing).__name__)
    said = (thing.__doc__ or "").strip() if getattr(thing, "__name__", "") != "<lambda>" else ""
    if not said and own == "<lambda>":
        raise refused("an assertion without a name needs a message", "write assertion(check, message)")
    return Assertion(thing, said.splitlines()[0] if said else own.replace("_", " "))


def _names(service: Service) -> tuple[str, ...]:
    """The inputs of a check: the prediction, and the inputs if it takes them."""
    if isinstance(service, FunctionService):
        names = positional_names(service.function)
        if names is not None:
            if not names:
                raise refused(f"the check `{service.name}` takes nothing; it takes the prediction")
            return names[:2] if len(names) > 1 and service.signature.parameters[1].required else names[:1]
    return ("prediction", "inputs")
