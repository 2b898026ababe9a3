"""Program text to tokens: words, layout (L9, L11), strings (L10) and the extent of conditions (L30).

A stateless pass: all state is in one `_Lexer` object per text. It never raises. A statement that it cannot read
(a bracket or string that is never closed) becomes one MALFORMED token that spans what was skipped: reading resumes at
the next line indented no deeper than the faulty statement (§9 L9). What the tokens mean is the grammar's business.
"""

from __future__ import annotations

import re
from typing import NoReturn

from prose_lang.diagnostics import Diagnostic
from prose_lang.syntax.loop_tails import end_of_condition
from prose_lang.syntax.margins import is_first, line_above, line_of, margin_of
from prose_lang.syntax.tokens import KEYWORDS, Token
from prose_lang.text import Source, Span

#: Deepest nesting of blocks and of brackets (P307): well inside what Python's stack carries in every later walk.
MAX_BLOCKS = 64
MAX_BRACKETS = 64
#: After so many faults of layout and brackets reading stops; nobody reads more, and each costs a scan.
MAX_FAULTS = 100

_SCAN = re.compile(
    r"""(?P<space>[ \t]+)
      | (?P<word>[^\W\d]\w*(?:-+\w+)*)
      | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
      | (?P<triple>\"\"\"(?:[^"\\]++|\\.|"(?!""))*+\"\"\")
      | (?P<string>"(?!"")(?:[^"\\\r\n]++|\\[^\r\n])*+")
      | (?P<op2>==|!=|<=|>=)
      | (?P<op>[=<>+\-*/|,:.])
      | (?P<open>[(\[{])
      | (?P<close>[)\]}])
      | (?P<newline>\r\n|\n|\r)
      | (?P<comment>\#[^\r\n]*)
    """,
    re.VERBOSE | re.DOTALL,
)
_INDENT = re.compile(r"[ \t]*")
#: The indentation of lines that hold more than a comment.
_INDENTED = re.compile(r"(?m)^( +)[^ \t\r\n#]")
_REST_OF_LINE = re.compile(r"[^\r\n]*")
_LINE_BREAK = re.compile(r"\r\n|\n|\r")
_KEY_AHEAD = re.compile(r"[ \t]*:")
_HEADER_AHEAD = re.compile(r"[ \t]*:[ \t]*(?:#[^\r\n]*)?(?:[\r\n]|\Z)")
_NAME_AHEAD = re.compile(r"[ \t]+(?!in(?![\w-]))[^\W\d]")
_STRING_AHEAD = re.compile(r'[ \t]*"')
_NOT_IN = re.compile(r"[ \t]+in(?![\w-])")
_IN_COLON = re.compile(r"[ \t]*:")
_CLOSED_STRING = re.compile(r'"(?:[^"\\\r\n]|\\[^\r\n])*"')

_OPERATORS = {
    "==": "EQEQ", "!=": "NE", "<=": "LE", ">=": "GE", "=": "EQ", "<": "LT", ">": "GT", "+": "PLUS", "-": "MINUS",
    "*": "STAR", "/": "SLASH", "|": "PIPE", ",": "COMMA", ":": "COLON", ".": "DOT",
}  # fmt: skip
_BRACKETS = {"(": "LPAR", ")": "RPAR", "[": "LBRACK", "]": "RBRACK", "{": "LBRACE", "}": "RBRACE"}
_CLOSES = {")": "(", "]": "[", "}": "{"}
_STAGES = {"map": "MAP", "pmap": "PMAP", "filter": "FILTER", "reduce": "REDUCE"}
_BINARY = frozenset({"EQEQ", "NE", "LT", "LE", "GT", "GE", "PLUS", "STAR", "SLASH", "AND", "OR", "PIPE", "EQ", "DOT"})
#: A line break inside { } or [ ] separates nothing after these (L11, §9) …
_NO_COMMA_AFTER = _BINARY | {"COMMA", "COLON", "LBRACE", "LBRACK", "LPAR", "TIGHT_LPAR", "MINUS", "NOT", "IN"}
#: … nor before these; `-` and `in` are looked at more closely.
_NO_COMMA_BEFORE = _BINARY | {"COMMA", "COLON", "RBRACE", "RBRACK", "RPAR"}
#: A condition follows these …
_CONDITION_FOLLOWS = frozenset({"IF", "ELIF", "CHOICE", "UNTIL", "WHILE"})
#: … after UNTIL and WHILE always, else where the keyword stands after these kinds, or at the start of a line.
_VALUE_FOLLOWS = frozenset({"EQ", "RETURN", "COLON"})


class _FaultyStatement(Exception):
    """The statement being read cannot be; `resume` is the offset from which the next line is looked for."""

    def __init__(self, resume: int) -> None:
        self.resume = resume


class Lexed:
    """Tokens, the indices of those that begin a line, and what was wrong.

    `explained` are stretches in which whatever does not fit has its reason in a fault that is told already.
    """

    __slots__ = ("diagnostics", "explained", "line_starts", "tokens")

    def __init__(self) -> None:
        self.tokens: list[Token] = []
        self.line_starts: list[int] = []
        self.diagnostics: list[Diagnostic] = []
        self.explained: list[Span] = []


def lex(source: Source, start: int, end: int, indent: int = 0) -> Lexed:
    """The tokens of a program text: `source.text[start:end]`, each line indented by `indent` more than it means."""
    lexer = _Lexer(source, start, end, indent)
    lexer.read_lines()
    return lexer.out


def lex_expression(source: Source, start: int, end: int) -> list[Token] | None:
    """The tokens of a lone expression, line breaks ignored; None if it cannot be one."""
    lexer = _Lexer(source, start, end, 0)
    try:
        lexer.read_tokens(start, lone=True)
    except _FaultyStatement:
        return None
    return None if lexer.out.diagnostics else lexer.out.tokens


class _Lexer:
    def __init__(self, source: Source, start: int, end: int, indent: int) -> None:
        self.source = source
        self.text = source.text
        self.start = start
        self.end = end
        self.base = indent
        self.out = Lexed()
        self.tokens = self.out.tokens
        self.levels = [0]
        #: What the indentation of closing brackets tells of the logical line in hand, and of the one before it: the
        #: bracket that is not closed, and the place where a line lacks one, with the start of the logical line.
        self.not_closed: tuple[str, int] | None = None
        self.lacking: tuple[int, int] | None = None

    def report(self, code: str, message: str, start: int, end: int, hint: str | None = None) -> None:
        self.out.diagnostics.append(Diagnostic(code, message, self.source, Span(start, end), hint=hint))

    # --- lines -------------------------------------------------------------------------------------------------------

    def read_lines(self) -> None:
        text, end = self.text, self.end
        position = self.start
        while position < end:
            match = _INDENT.match(text, position, end)
            assert match is not None
            first = match.end()
            if first >= end:
                break
            char = text[first]
            if char in "\r\n":
                position = first + (2 if text.startswith("\r\n", first) else 1)
                continue
            if char == "#":
                position = self.after_line(first)
                continue
            column = self.column(position, first)
            position = self.read_line(first, column)
            if len(self.out.diagnostics) >= MAX_FAULTS:
                self.report("P101", "there are too many faults to read on", position, position)
                break
        for _ in self.levels[1:]:
            self.tokens.append(Token("DEDENT", end, end))

    def read_line(self, first: int, column: int) -> int:
        tokens = self.tokens
        pipe = self.text.startswith("|", first)
        came_out = False
        while column < self.levels[-1]:
            self.levels.pop()
            tokens.append(Token("DEDENT", first, first))
            came_out = True
        if column > self.levels[-1]:
            if came_out and not pipe:
                self.report(
                    "P111",
                    "this line is indented like none of the blocks around it",
                    first,
                    first + 1,
                    hint="indent it exactly as the line that it belongs with",
                )
            elif not came_out:
                if len(self.levels) > MAX_BLOCKS:
                    self.report("P307", f"blocks are nested more than {MAX_BLOCKS} deep", first, first + 1)
                    resume = self.resume_after(first, self.levels[-1])
                    tokens.append(Token("INDENT", first, first))
                    self.out.line_starts.append(len(tokens))
                    end = self.trimmed(first, resume)
                    tokens.append(Token("MALFORMED", first, end))
                    tokens.append(Token("DEDENT", end, end))
                    return resume
                self.levels.append(column)
                tokens.append(Token("INDENT", first, first))
        elif pipe and tokens and tokens[-1].kind == "NEWLINE":
            tokens.pop()  # a line that begins with `|` continues the one above it
        here = len(tokens)
        self.out.line_starts.append(here)
        try:
            return self.read_tokens(first)
        except _FaultyStatement as fault:
            del tokens[here:]
            resume = self.resume_after(fault.resume, self.levels[-1])
            tokens.append(Token("MALFORMED", first, self.trimmed(first, resume)))
            return resume

    def column(self, line: int, first: int) -> int:
        """The column of the first word of a line; a tab is reported and counted as a step."""
        indentation = self.text[line:first]
        if "\t" not in indentation:
            return max(0, first - line - self.base)
        tab = line + indentation.index("\t")
        self.report("P111", "there is a tab in the indentation", tab, tab + 1, hint="indent with spaces only")
        return max(0, len(indentation.expandtabs(self.step())) - self.base)

    def step(self) -> int:
        """How far the lines of this text are indented at a time: what a tab is taken for, so that one is one fault."""
        found = _INDENTED.findall(self.text, self.start, self.end)
        return min((len(spaces) - self.base for spaces in found if len(spaces) > self.base), default=4)

    def after_line(self, position: int) -> int:
        match = _LINE_BREAK.search(self.text, position, self.end)
        return match.end() if match else self.end

    def resume_after(self, position: int, level: int) -> int:
        """The start of the next line (after the one that holds `position`) indented no deeper than `level`."""
        while position < self.end:
            position = self.after_line(position)
            match = _INDENT.match(self.text, position, self.end)
            assert match is not None
            first = match.end()
            if first >= self.end or self.text[first] in "\r\n#)]}":
                continue
            if first - position - self.base <= level:
                return position
        return self.end

    def trimmed(self, start: int, end: int) -> int:
        return start + len(self.text[start:end].rstrip())

    # --- the tokens of one logical line ------------------------------------------------------------------------------

    def read_tokens(self, position: int, lone: bool = False) -> int:
        """Read one logical line from `position`; returns the start of the next. Raises `_FaultyStatement`."""
        text, end, tokens = self.text, self.end, self.tokens
        scan, append = _SCAN.match, self.tokens.append
        here = len(tokens)
        brackets: list[tuple[str, int]] = []
        self.not_closed = None
        begin = position
        broken = False  # a line break inside { } or [ ] has been passed since the last token
        while position < end:
            match = scan(text, position, end)
            if match is None:
                self.unreadable(position)
            group = match.lastgroup
            stop = match.end()
            if group == "space" or group == "comment":
                position = stop
                continue
            if group == "newline":
                if not brackets and not lone:
                    append(Token("NEWLINE", position, stop))
                    self.finish(here)
                    return stop
                broken = bool(brackets) and brackets[-1][0] != "("
                position = stop
                continue
            previous = tokens[-1].kind if len(tokens) > here else ""
            piece = match.group()
            if group == "word":
                kind = self.word(piece, stop, previous, here, bool(brackets) or lone)
            elif group == "op" or group == "op2":
                kind = _OPERATORS[piece]
            elif group == "number":
                kind = "NUMBER"
            elif group == "open":
                kind = _BRACKETS[piece]
                if piece == "(" and previous == "NAME" and tokens[-1].end == position:
                    kind = "TIGHT_LPAR"
            elif group == "close":
                kind = _BRACKETS[piece]
                self.closing(piece, position, brackets, begin)
            else:
                kind = "STRING"
            if broken:
                broken = False
                if previous not in _NO_COMMA_AFTER and not self.continues(kind, stop):
                    append(Token("COMMA", position, position))
            append(Token(kind, position, stop, piece))
            if group == "open":
                brackets.append((piece, position))
                if len(brackets) > MAX_BRACKETS:
                    self.report("P307", f"brackets are nested more than {MAX_BRACKETS} deep", position, stop)
                    raise _FaultyStatement(position)
            position = stop
            if (
                kind in _CONDITION_FOLLOWS
                and not brackets
                and not lone
                and (kind in ("UNTIL", "WHILE") or previous == "" or previous in _VALUE_FOLLOWS)
            ):
                position = self.condition(kind, position)
        if brackets:
            self.unclosed(brackets[-1], here)
        if not lone:
            append(Token("NEWLINE", end, end))
            self.finish(here)
        return end

    def finish(self, here: int) -> None:
        """`record V in LIST`, `append V to LIST`: the first `in` or `to` outside brackets is no operator and no name
        (§9 L20)."""
        tokens = self.tokens
        if tokens[here].kind not in ("RECORD", "APPEND"):
            return
        depth = 0
        previous = "COMMA"
        for token in tokens[here + 1 :]:
            kind = token.kind
            if kind in ("RPAR", "RBRACK", "RBRACE"):
                depth -= 1
            elif kind in ("LPAR", "TIGHT_LPAR", "LBRACK", "LBRACE"):
                depth += 1
            elif not depth and (
                kind == "IN" or (kind == "NAME" and token.text == "to" and previous not in _NO_COMMA_AFTER)
            ):  # a variable called `to` stands where a value is wanted, a field after its dot
                token.kind = "INTO"
                return
            previous = kind

    def word(self, word: str, stop: int, previous: str, here: int, inside: bool) -> str:
        """The kind of a word, by where it stands."""
        keyword = KEYWORDS.get(word)
        if keyword is None:
            if previous == "PIPE" and word in _STAGES:
                return _STAGES[word]
            if previous == "LOOP" and word in ("until", "while"):
                return word.upper()
            if word == "each" and previous == "FOR" and _NAME_AHEAD.match(self.text, stop, self.end):
                return "EACH"
            if word == "option" and previous == "" and _STRING_AHEAD.match(self.text, stop, self.end):
                return "OPTION"
            return "NAME"
        if previous == "DOT" or previous == "CALL":
            return "NAME"
        if (previous == "" or inside) and _KEY_AHEAD.match(self.text, stop, self.end):
            if inside:
                return "NAME"
            if not _HEADER_AHEAD.match(self.text, stop, self.end) and keyword not in ("SESSION", "RESUME"):
                return "NAME"
        return keyword

    def continues(self, kind: str, stop: int) -> bool:
        """Whether a token at the start of a line inside { } or [ ] belongs to the entry before it (L11)."""
        if kind == "MINUS":
            return self.text[stop : stop + 1] in " \t"
        if kind == "IN":
            return not _IN_COLON.match(self.text, stop, self.end)
        if kind == "NOT":
            return _NOT_IN.match(self.text, stop, self.end) is not None
        return kind in _NO_COMMA_BEFORE

    def closing(self, piece: str, position: int, brackets: list[tuple[str, int]], begin: int) -> None:
        if not brackets:
            self.closes_nothing(piece, position)
            raise _FaultyStatement(position)
        opened, at = brackets.pop()
        margin = margin_of(self.text, position) if is_first(self.text, position) else None
        if margin is not None and (width := margin_of(self.text, at)) != margin:
            above = line_above(self.text, position, margin, self.start)
            lines = {line_of(self.text, one) for _, one in brackets}
            if width > margin and self.not_closed is None and above in lines:
                self.not_closed = opened, at  # a bracket around it is what this one closes
            elif width < margin and above is not None:
                self.lacking = above, begin
        if opened != _CLOSES[piece]:
            self.report("P102", f"`{opened}` is not closed before `{piece}`", at, at + 1)
            raise _FaultyStatement(position)

    def closes_nothing(self, piece: str, position: int) -> None:
        """A bracket that closes nothing. Where it begins its line, the indentation tells which line lacks the other."""
        line, begin = self.lacking or (None, 0)
        if line is None and is_first(self.text, position):
            line = line_above(self.text, position, margin_of(self.text, position), self.start)
            begin = line or 0
        if line is None:
            self.report("P101", f"there is no open bracket that `{piece}` could close", position, position + 1)
            return
        end = self.trimmed(line, self.line_end(line))
        number = self.source.position(position).line
        message = f"this line lacks the `{_CLOSES[piece]}` that `{piece}` on line {number} closes"
        self.report("P101", message, end, end)
        self.out.explained.append(Span(begin, position + 1))
        self.lacking = None

    def unclosed(self, bracket: tuple[str, int], here: int) -> None:
        opened, at = self.not_closed or bracket
        self.report("P102", f"`{opened}` is never closed", at, at + 1)
        raise _FaultyStatement(self.tokens[here].start)

    def unreadable(self, position: int) -> NoReturn:
        """Nothing matches here: an unclosed string, or a character that the language does not have."""
        char = self.text[position]
        if self.text.startswith('"""', position):
            self.report("P102", 'a text that begins with `"""` is never closed', position, position + 3)
        elif char == '"':
            rest = _REST_OF_LINE.match(self.text, position, self.end)
            assert rest is not None
            self.report("P102", "a string is not closed on its line", position, rest.end(),
                        hint='close it with `"`, or use `"""` for a text of several lines')  # fmt: skip
        elif char in "'‘’“”`":
            self.report("P101", f"`{char}` does not begin a string", position, position + 1,
                        hint='strings stand in double quotes: "…"')  # fmt: skip
        elif char == "!":
            self.report("P101", "`!` is not an operator", position, position + 1, hint="write `not x`, or `a != b`")
        elif char == "&":
            self.report("P101", "`&` is not an operator", position, position + 1, hint="write `a and b`")
        else:
            shown = char if char.isprintable() else f"U+{ord(char):04X}"
            self.report("P101", f"`{shown}` has no meaning here", position, position + 1)
        raise _FaultyStatement(position)

    # --- conditions --------------------------------------------------------------------------------------------------

    def condition(self, kind: str, position: int) -> int:
        """Cut out the text of a condition (L30); returns where reading goes on, at its modifiers or its colon."""
        text = self.text
        match = _INDENT.match(text, position, self.end)
        assert match is not None
        position = match.end()
        stars = "***" if text.startswith("***", position) else "**" if text.startswith("**", position) else ""
        if stars:
            return self.starred(stars, position)
        stop = self.end_of_header(position)
        colon = stop - 1
        if colon < position or text[colon] != ":":
            self.missing_colon(kind, position, stop)
        inner = text[position:colon]
        cut = len(inner)
        if kind in ("UNTIL", "WHILE"):
            cut = end_of_condition(inner)
        words = inner[:cut].rstrip()
        self.add_condition(words, position, kind)
        return position + cut

    def starred(self, stars: str, position: int) -> int:
        text = self.text
        limit = self.end if stars == "***" else self.line_end(position)
        close = text.find(stars, position + len(stars), limit)
        if close < 0:
            self.report("P112", f"the condition's `{stars}` is never closed", position, position + len(stars))
            raise _FaultyStatement(position)
        start, inner = position + len(stars), text[position + len(stars) : close]
        offset = len(inner) - len(inner.lstrip())
        self.add_condition(inner.strip(), start + offset, "")
        return close + len(stars)

    def add_condition(self, words: str, start: int, kind: str) -> None:
        if not words:
            at = self.tokens[-1]
            self.report("P112", "the condition is empty", at.start, max(start, at.end),
                        hint="write what has to hold between the keyword and the colon")  # fmt: skip
        self.tokens.append(Token("COND", start, start + len(words), words))

    def missing_colon(self, kind: str, position: int, stop: int) -> None:
        line = self.text[position:stop]
        inner = re.search(r":[ \t]+\S", line)
        if inner:
            at = position + inner.start()
            self.report("P101", "the body of this line must stand on the lines below it, indented", at + 1, stop,
                        hint="break the line after the colon")  # fmt: skip
        else:
            self.report("P101", f"expected `:` at the end of this `{kind.lower()}`", stop, stop)
        raise _FaultyStatement(position)

    def line_end(self, position: int) -> int:
        match = _REST_OF_LINE.match(self.text, position, self.end)
        assert match is not None
        return match.end()

    def end_of_header(self, position: int) -> int:
        """The offset after the last character of a header that is neither comment nor space.

        Brackets carry a header over several lines if, and only if, its first line does not end in a colon.
        """
        text = self.text
        depth = 0
        stop = position
        while position < self.end:
            char = text[position]
            if char == '"':
                closed = _CLOSED_STRING.match(text, position, self.end)
                position = closed.end() if closed else position + 1
                stop = position
                continue
            if char == "#":
                position = self.line_end(position)
                continue
            if char in "\r\n":
                if depth <= 0 or text[stop - 1] == ":":
                    break
            elif char not in " \t":
                if char in "([{":
                    depth += 1
                elif char in ")]}":
                    depth -= 1
                stop = position + 1
            position += 1
        return stop
