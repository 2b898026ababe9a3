"""What touches what: which pieces have no space before them, and what each bracket and minus is.

The language needs little of this (a bracket that touches a name is a list of arguments, any other a list of
modifiers, L13a); the rest is style.
"""

from __future__ import annotations

from collections.abc import Sequence

from prose_lang.formatter.pieces import Piece

#: Roles of brackets. What is in literals and arguments is set one a line where it does not fit on one.
LITERAL, ARGUMENTS, INDEX, MODIFIERS, GROUPING = "literal", "arguments", "index", "modifiers", "grouping"
#: Roles of operators.
BINARY, UNARY = "binary", "unary"

_OPERAND_ENDS = frozenset({"NAME", "NUMBER", "STRING", "TRUE", "FALSE", "NULL", "RPAR", "RBRACK", "RBRACE", "COND"})
#: Keywords that can be read as names where a value is wanted, so only behind the first word of a line.
_NAME_LIKE = frozenset({"RECORD", "APPEND", "AGENT", "USE", "BLOCK", "BREAK", "CONTINUE", "OPTION"})
_BINARY = frozenset({"EQEQ", "NE", "LT", "LE", "GT", "GE", "PLUS", "STAR", "SLASH", "AND", "OR", "IN"})
_OPENING = frozenset({"LPAR", "TIGHT_LPAR", "LBRACK", "LBRACE"})
_GLUED = frozenset({"COMMA", "COLON", "DOT", "TIGHT_LPAR", "RPAR", "RBRACK", "RBRACE"})


def mark(pieces: Sequence[Piece]) -> None:
    """Give the pieces of a row their roles, and glue those that have no space before them.

    >>> pieces = [Piece(kind, "") for kind in ("RETURN", "MINUS", "NAME", "LBRACK", "NUMBER", "RBRACK")]
    >>> mark(pieces)
    >>> [(piece.role, piece.glued) for piece in pieces]
    [('', False), ('unary', False), ('', True), ('index', True), ('', True), ('', True)]
    """
    previous: Piece | None = None
    operand = False  # an operand has just ended
    for index, piece in enumerate(pieces):
        piece.role = _role(pieces, index, operand)
        piece.glued = previous is not None and (
            piece.kind in _GLUED
            or previous.kind == "DOT"
            or previous.role == UNARY
            or previous.kind in _OPENING
            or piece.role == INDEX
            or (piece.role == ARGUMENTS and piece.kind == "LPAR")
        )
        operand = piece.kind in _OPERAND_ENDS or (piece.kind in _NAME_LIKE and index > 0)
        previous = piece


def _role(pieces: Sequence[Piece], index: int, operand: bool) -> str:
    piece = pieces[index]
    match piece.kind:
        case "MINUS":
            return BINARY if operand else UNARY
        case "NOT":
            return BINARY if operand else ""
        case "LBRACE":
            return LITERAL
        case "LBRACK":
            return INDEX if operand else LITERAL
        case "TIGHT_LPAR":
            return ARGUMENTS
        case "LPAR":
            if _takes_arguments(pieces, index):
                return ARGUMENTS
            headed = index > 0 and pieces[index - 1].kind in ("PARALLEL", "LOOP")
            return MODIFIERS if operand or headed else GROUPING
        case kind:
            return BINARY if kind in _BINARY else ""


def _takes_arguments(pieces: Sequence[Piece], index: int) -> bool:
    """Whether a bracket behind a space belongs to what is before it: `do name (…)`, `block name (…)`, `reduce (…)`."""
    if index and pieces[index - 1].kind == "REDUCE":
        return True
    return (index > 1 and pieces[index - 2].kind == "DO") or (index == 2 and pieces[0].kind == "BLOCK")
