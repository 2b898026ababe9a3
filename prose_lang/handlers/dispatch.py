"""Dispatch: the innermost handler. Calls the service, takes its result in as a value, and names its failures."""

from __future__ import annotations

import asyncio
from typing import Any

from prose_lang.diagnostics import ProseError, RunError, ServiceError, described
from prose_lang.runtime.current import ANSWERED
from prose_lang.runtime.effects import Effect
from prose_lang.runtime.patterns import shaped
from prose_lang.runtime.place import Place
from prose_lang.values import NotAValue, TooLarge, intake


async def dispatch(effect: Effect) -> Any:
    """One attempt. Whatever a service raises becomes P406; what it returns and cannot be a value, P305 (L12)."""
    service = effect.service
    answered = ANSWERED.set(effect)
    try:
        found = await service.invoke(effect)
    except RunError as error:
        raise placed(error, effect) from error.__cause__
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise _failed(effect, "it cancelled itself", None) from None
    except TooLarge as error:
        raise _error(effect, "P305", f"an input of `{service.name}` cannot be handed to it: {error}") from None
    except Exception as error:
        raise _failed(effect, _message(error), error) from error
    except BaseException as error:
        if isinstance(error, (KeyboardInterrupt, GeneratorExit)):  # an interrupt is never a service's failure
            raise
        raise _failed(effect, f"the function raised {described(error)}", None) from error  # `sys.exit` ends no host
    finally:
        ANSWERED.reset(answered)
    try:
        value = intake(found)
    except NotAValue as error:
        raise _error(effect, "P305", f"`{service.name}` returned what is not a value: {error}") from None
    outputs = service.signature.outputs
    if outputs:
        site = effect.site
        return shaped(value, outputs, service.name, Place(site.source, site.span), effect.place.run.warn)
    return value


async def dispatch_composite(effect: Effect) -> Any:
    """A nested pattern: its values are values already, and its errors have their places."""
    return await effect.service.invoke(effect)


def _message(error: Exception) -> str:
    if issubclass(type(error), ProseError):  # a foreign error may lie about its class, or fail when asked
        return error.message  # type: ignore[attr-defined, no-any-return]
    try:
        text = str(error).strip()
    except Exception:  # an error that cannot say what it is has at least a type
        text = ""
    return text or type(error).__name__


def _failed(effect: Effect, message: str, error: Exception | None) -> ServiceError:
    made = _error(effect, "P406", message)
    if error is not None and not issubclass(type(error), ProseError):
        made.hint = f"the service `{effect.service.name}` raised {type(error).__name__}"
    return made


def _error(effect: Effect, code: str, message: str) -> ServiceError:
    site = effect.site
    return ServiceError(code, message, source=site.source, span=site.span, service=effect.service.name)


def placed(error: RunError, effect: Effect) -> RunError:
    """An error of a service that knows its reason but not the place it was called from."""
    if error.source is None:
        error.source, error.span = effect.site.source, effect.site.span
    if error.service is None:
        error.service = effect.service.name
    return error
