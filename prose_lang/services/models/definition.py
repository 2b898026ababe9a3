"""`prose.model_service`: a model service defined in Python. An engine makes a service of the definition."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, overload

import attrs

from prose_lang.semantics.signature import Signature
from prose_lang.services.models.annotated import answer_schema, is_wrapped, parameters_of
from prose_lang.services.models.contract import Contract, Described
from prose_lang.services.models.settings import PARAMETERS


@attrs.frozen(eq=False)
class ModelDefinition:
    """A model service that belongs to no engine yet. `contract` is None where the calls are the contract."""

    name: str
    model: str | None
    contract: Contract | None
    signature: Signature
    parameters: Mapping[str, Any]
    max_concurrency: int | None = None


@overload
def model_service(
    name: str, /, *, model: str | None = ..., takes: Any = ..., gives: Any = ..., about: str | None = ...,
    parameters: Mapping[str, Any] | None = ..., max_concurrency: int | None = ...,
) -> ModelDefinition: ...  # fmt: skip


@overload
def model_service(
    function: Callable[..., Any], /, *, model: str | None = ..., parameters: Mapping[str, Any] | None = ...,
    max_concurrency: int | None = ...,
) -> ModelDefinition: ...  # fmt: skip


@overload
def model_service(
    *, model: str | None = ..., parameters: Mapping[str, Any] | None = ..., max_concurrency: int | None = ...
) -> Callable[[Callable[..., Any]], ModelDefinition]: ...


def model_service(
    thing: Any = None, /, *, model: str | None = None, takes: Any = None, gives: Any = None, about: str | None = None,
    parameters: Mapping[str, Any] | None = None, max_concurrency: int | None = None,
) -> Any:  # fmt: skip
    """A service that a model does, with its contract in Python's terms.

    With a name: `takes` is a class whose fields are the inputs (attrs, dataclass, pydantic, typed dict), `gives` the
    type of the answer, `about` what the work is. As a decorator: the function's parameters are the inputs, its return
    annotation the type of the answer, its docstring the work; its body is never run. Without `takes` and `gives` each
    call is its own contract, as where a slot is bound to `model:PROVIDER/MODEL`.

    `model` is `PROVIDER/MODEL` or an alias, the engine's default if it is not given; `parameters` are `temperature` and
    the like. Raises TypeError for a type that has no JSON schema, ValueError for an unknown parameter.

    >>> from typing import Literal
    >>> @model_service(model="fast")
    ... def critic(output: str, criteria: str) -> Literal["accept", "reject"]:
    ...     "Decide whether the output meets the criteria."
    >>> critic.name, critic.signature.names, critic.contract.about
    ('critic', ('output', 'criteria'), 'Decide whether the output meets the criteria.')
    """
    given = dict(parameters or {})
    for name in given:
        if name not in PARAMETERS:
            raise ValueError(f"{name!r} is no parameter of a model service; there are {', '.join(PARAMETERS)}")
    if thing is None:
        return lambda function: model_service(
            function, model=model, parameters=parameters, max_concurrency=max_concurrency
        )
    if callable(thing):
        return _of_function(thing, model, given, max_concurrency)
    if not isinstance(thing, str) or not thing:
        raise TypeError("a model service needs a name, or a function to take its name and signature from")
    if takes is None and gives is None and about is None:
        return ModelDefinition(thing, model, None, Signature(open=True, positional=False), given, max_concurrency)
    return _defined(thing, takes, gives, about or "", model, given, max_concurrency)


def _of_function(
    function: Callable[..., Any], model: str | None, parameters: dict[str, Any], most: int | None
) -> ModelDefinition:
    from prose_lang.services.annotations import resolved_annotations

    name = getattr(function, "__name__", "")
    if not name.isidentifier():
        raise TypeError(f"{function!r} has no name; write model_service(NAME, takes=…, gives=…)")
    result = inspect.Parameter(
        "result", inspect.Parameter.KEYWORD_ONLY, annotation=inspect.signature(function).return_annotation
    )
    if result.annotation is inspect.Signature.empty:
        result = result.replace(annotation=str)
    gives = resolved_annotations(function, [result])["result"]
    return _defined(name, function, gives, inspect.getdoc(function) or "", model, parameters, most)


def _defined(
    name: str, takes: Any, gives: Any, about: str, model: str | None, parameters: dict[str, Any], most: int | None
) -> ModelDefinition:
    inputs, described, defaults = parameters_of(takes) if takes is not None else ((), (), {})
    schema = answer_schema(gives) if gives is not None else None
    wrapped = gives is not None and is_wrapped(gives)
    fields = () if schema is None or wrapped else _fields(schema)
    contract = Contract(
        name,
        about,
        described,
        fields,
        schema=schema,
        defaults=MappingProxyType(defaults),
        unwrap="answer" if wrapped else None,
    )
    signature = Signature(inputs, open=takes is None)
    return ModelDefinition(name, model, contract, signature, parameters, most)


def _fields(schema: Mapping[str, Any]) -> tuple[Described, ...]:
    return tuple(
        Described(name, text=part.get("description", "")) for name, part in schema.get("properties", {}).items()
    )
