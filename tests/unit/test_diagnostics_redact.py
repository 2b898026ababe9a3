"""Redaction: every occurrence of every secret, in every form it may be written in, and nothing else."""

from __future__ import annotations

import json
import re
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prose_lang.diagnostics.redact import MARK, Redactor

KEY = "sk-abcdef0123456789"


def test_every_occurrence() -> None:
    redactor = Redactor([KEY])
    assert redactor.text(f"{KEY} and {KEY}{KEY}.") == f"{MARK} and {MARK}{MARK}."
    assert redactor.text("nothing here") == "nothing here"


def test_nothing_to_hide_costs_nothing() -> None:
    value = {"a": ["b"]}
    for redactor in (Redactor([]), Redactor(["short", "1234567", ""]), Redactor.from_environment({})):
        assert redactor.value(value) is value
    text = "x" * 100
    assert Redactor([KEY]).text(text) is text


def test_short_secrets_are_left_alone() -> None:
    assert Redactor(["1234567"]).text("1234567") == "1234567"
    assert Redactor(["12345678"]).text("12345678") == MARK


def test_a_secret_inside_a_longer_one_and_overlapping_ones() -> None:
    assert Redactor(["abcdefgh", "abcdefgh-ijkl"]).text("abcdefgh-ijkl abcdefgh") == f"{MARK} {MARK}"
    assert Redactor(["abcdefgh", "cdefghijklmnop"]).text("<abcdefghijklmnop>") == f"<{MARK}>"
    assert Redactor(["abababab"]).text("ababababab!") == f"{MARK}!"


@pytest.mark.parametrize("secret", ['pass"word\\with/ü+& %', "line one key\nline two key\ttab", " padded-secret\n"])
def test_other_forms(secret: str) -> None:
    redactor = Redactor([secret])
    percent = quote(secret, safe="")
    for form in (
        secret,
        secret.strip(),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        percent,
        re.sub("%..", lambda match: match.group().lower(), percent),
        quote(secret),
        quote_plus(secret),
    ):
        assert MARK in redactor.text(f"<{form}>")
        assert secret.strip() not in redactor.text(f"<{form}>")
    assert redactor.text(f"<{secret.strip()}>") == f"<{MARK}>"


def test_lines_of_a_secret_are_secrets() -> None:
    redactor = Redactor(["-----BEGIN KEY-----\nMIIEvQIBADANBg\nshort\n-----END KEY-----"])
    assert redactor.text(" 3 | MIIEvQIBADANBg") == f" 3 | {MARK}"
    assert redactor.text("short") == "short"


def test_values_of_any_depth_with_their_keys() -> None:
    redactor = Redactor([KEY])
    value = {"k": [1, None, True, 2.5, f"a {KEY}", {KEY: {"x": (KEY, "y")}}], "l": {}, "m": []}
    assert redactor.value(value) == {
        "k": [1, None, True, 2.5, f"a {MARK}", {MARK: {"x": [MARK, "y"]}}],
        "l": {},
        "m": [],
    }
    assert list(redactor.value({"z": 1, "a": KEY, "m": 2})) == ["z", "a", "m"]
    assert value["k"][4] == f"a {KEY}"  # type: ignore[index]
    assert redactor.value(KEY) == MARK
    assert redactor.value(3) == 3
    deep: list[object] = [KEY]
    for _ in range(5_000):
        deep = [deep]
    result = redactor.value(deep)
    for _ in range(5_000):
        result = result[0]
    assert result == [MARK]


def test_not_shown_by_repr() -> None:
    assert KEY not in repr(Redactor([KEY]))


def test_what_the_mark_says_is_no_secret() -> None:
    redactor = Redactor(["redacted", KEY])
    assert redactor.text(redactor.text(KEY)) == MARK


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "openai_api_key",
        "APIKEY",
        "AZURE_KEY",
        "GITHUB_TOKEN",
        "CLIENT_SECRET",
        "PGPASSWORD",
        "DB_PASSWORD",
        "DB_PASS",
        "MYSQL_PWD",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ACCESS_KEY_ID",
        "AWS_SESSION_TOKEN",
        "GITHUB_PAT",
        "SSH_PASSPHRASE",
        "VERTEX_CREDENTIALS",
        "SECRET_KEY_BASE",
    ],
)
def test_names_that_look_like_keys(name: str) -> None:
    assert Redactor.from_environment({name: KEY, "USER": "someone-else"}).text(f"{KEY} someone-else") == (
        f"{MARK} someone-else"
    )


@pytest.mark.parametrize(
    "name",
    ["HOME", "PWD", "OLDPWD", "MAX_TOKENS", "MONKEY", "KEYBOARD", "GOOGLE_APPLICATION_CREDENTIALS", "TOKEN_FILE"],
)
def test_other_names(name: str) -> None:
    assert Redactor.from_environment({name: "/srv/ann/project"}).text("/srv/ann/project/x") == "/srv/ann/project/x"


def test_passwords_in_addresses() -> None:
    redactor = Redactor.from_environment({"DATABASE_URL": "postgresql://ann:pa%2Fss-word@db.example:5432/runs"})
    assert redactor.text("postgresql://ann:pa%2Fss-word@db.example") == f"postgresql://ann:{MARK}@db.example"
    assert redactor.text("password: pa/ss-word") == f"password: {MARK}"
    assert redactor.text("db.example:5432/runs") == "db.example:5432/runs"


def test_large_texts_are_fast() -> None:
    redactor = Redactor([f"{KEY}-{number}" for number in range(20)])
    text = f"word {KEY}-7 " * 50_000
    started = time.process_time()
    assert redactor.text(text) == f"word {MARK} " * 50_000
    assert time.process_time() - started < 1.0


@given(
    st.lists(st.text(alphabet='ab"\\/ é\n', min_size=8, max_size=12), max_size=4),
    st.lists(st.text(alphabet='ab"\\/ é\n', max_size=30), max_size=4),
)
def test_no_secret_remains(secrets: list[str], others: list[str]) -> None:
    redactor = Redactor(secrets)
    text = "".join(part for pair in zip(others, secrets, strict=False) for part in pair)
    redacted = redactor.text(text)
    assert not any(secret in redacted for secret in secrets)
    plain = redactor.value({"t": [text]})
    assert not any(secret in plain["t"][0] for secret in secrets)
