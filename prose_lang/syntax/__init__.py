"""From program text to a tree of nodes and lossless tokens. The only room that knows Lark."""

from prose_lang.syntax import nodes
from prose_lang.syntax.parser import ExpressionParser, Parsed, parse, parse_condition, parse_expression
from prose_lang.syntax.tokens import Comment, Token, comments, with_trivia

__all__ = [
    "Comment",
    "ExpressionParser",
    "Parsed",
    "Token",
    "comments",
    "nodes",
    "parse",
    "parse_condition",
    "parse_expression",
    "with_trivia",
]
