"""What a callable takes and gives, as far as it is known before it is called."""

from __future__ import annotations

import attrs

from prose_lang.documents.model import ANY, Item, Type


@attrs.frozen
class Parameter:
    """One input of a callable. `pass_null` tells that an absent value is passed as None (L32: a Python function).

    `item` is what the contract says of it, where there is one; a `slot` takes a reference to a service.
    """

    name: str
    required: bool
    type: Type = ANY
    pass_null: bool = False
    item: Item | None = None
    slot: bool = False


@attrs.frozen(eq=False)
class Signature:
    """`open` callables take any input; `outputs` is None where nothing is declared.

    `positional` tells whether `f(a, b)` may be used: the parameters then have a meaningful order.
    """

    parameters: tuple[Parameter, ...] = ()
    open: bool = False
    outputs: tuple[Item, ...] | None = None
    positional: bool = True

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.parameters)


#: The signature of something about which nothing is known.
OPEN = Signature(open=True)
