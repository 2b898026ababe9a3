"""`@prose.service`: the mark that makes a function callable by name. The function itself stays what it was.

The mark is an attribute, so a marked function can be called, tested and imported like any other; what reads
it is `FunctionService` (the options) and `registry.py` (the collecting).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeVar, overload

from prose_lang.services.function import OPTIONS_ATTRIBUTE, ServiceOptions, check_callable

_F = TypeVar("_F", bound=Callable[..., Any])
_NAME = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?")


@overload
def service(function: _F, /) -> _F: ...


@overload
def service(
    *, name: str | None = None, inline: bool = False, max_concurrency: int | None = None, cacheable: bool = False
) -> Callable[[_F], _F]: ...


def service(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    inline: bool = False,
    max_concurrency: int | None = None,
    cacheable: bool = False,
) -> Any:
    """Mark a function, sync or async, as a service. Bare, or with options:

    `name` is what programs call it, where that is not the function's own name. `inline` runs a synchronous
    function on the event loop instead of in a thread: for functions that return at once. `max_concurrency` is
    the most calls of it at one time (L34). `cacheable` says that it does nothing but answer, and that an old answer is
    as good as a new one: then `Engine(cache=…)` may give one. Its inputs decide, not its code.

    >>> @service(name="shout", inline=True)
    ... def upper(text: str) -> str:
    ...     return text.upper()
    >>> upper("ab")
    'AB'
    """
    if name is not None and not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} cannot be called by a program: a name is letters, digits, `_` and `-`")
    if max_concurrency is not None and (isinstance(max_concurrency, bool) or max_concurrency < 1):
        raise ValueError(f"max_concurrency must be 1 or more, not {max_concurrency!r}")
    options = ServiceOptions(name, inline, max_concurrency, cacheable)

    def mark(marked: _F) -> _F:
        if inspect.isclass(marked):
            raise TypeError(f"{marked.__name__} is a class; mark a function, or an object that can be called")
        check_callable(marked)
        try:
            setattr(marked, OPTIONS_ATTRIBUTE, options)
        except AttributeError:
            raise TypeError(f"{marked!r} cannot be marked; write a function around it") from None
        return marked

    return mark if function is None else mark(function)
