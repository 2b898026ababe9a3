"""Budgets, rates and pauses of models (L34), in virtual time and with answers from a list."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from models_fakes import Fake

import prose_lang as prose
from prose_lang import Engine, Limits, ModelSettings, Outcome, Price, Provider, Quota, Reply, ServiceError
from prose_lang.testing.clock import run_virtual

REF = prose.ref("model:openai/m")
PRICES = {"openai/m": Price(input=1, output=10)}
CROWD = "return parallel repeat 40 as n:\n  return call writer\n    n: n"


def run(fake: Fake, body: str, **options: Any) -> tuple[Outcome, float]:
    settings = ModelSettings(**{"prices": PRICES, **options.pop("settings", {})})
    services = {"writer": prose.model_service("writer", model="openai/m"), **options.pop("services", {})}
    engine = Engine(completion=fake, models=settings, services=services, **options)
    loaded = engine.loads(body)

    async def timed() -> tuple[Outcome, float]:
        outcome = await engine.outcome_async(loaded, {})
        return outcome, asyncio.get_running_loop().time()

    return run_virtual(timed())


def passing(retry_after: float | None = None, **flags: Any) -> ServiceError:
    error = ServiceError("P406", "busy")
    error.transient, error.retry_after, error.uncharged = True, retry_after, flags.get("uncharged", True)
    return error


# --- budgets ---------------------------------------------------------------------------------------------------------


def test_who_does_not_fit_waits_for_others_to_settle() -> None:
    # Each call reserves about 4,900 tokens and settles 110.
    fake = Fake(seconds=1)
    outcome, seconds = run(fake, CROWD, limits=Limits(tokens=40 * 110 + 5_600))
    assert (outcome.status, len(fake.requests), outcome.usage.tokens_in) == ("ok", 40, 4000)
    assert fake.most_at_once == 2
    assert 20 <= seconds <= 40


def test_a_call_that_can_never_fit_is_refused_before_it_is_made() -> None:
    fake = Fake()
    outcome, _ = run(fake, "return call writer", limits=Limits(tokens=1000))
    assert (outcome.status, len(fake.requests)) == ("limited", 0)
    assert outcome.error is not None
    assert outcome.error.message.startswith("this call would go beyond what the run may spend: it may take 4,")
    assert outcome.trace.calls == ()


def test_a_set_max_tokens_is_what_is_reserved_and_sent() -> None:
    fake = Fake()
    settings = {"parameters": {"openai/m": {"max_tokens": 50}}}
    outcome, _ = run(fake, "return call writer", limits=Limits(tokens=1000), settings=settings)
    assert (outcome.status, dict(fake.requests[0].parameters)) == ("ok", {"max_tokens": 50})


def test_without_a_limit_nothing_is_sent_that_was_not_set() -> None:
    fake = Fake()
    run(fake, "return call writer")
    assert dict(fake.requests[0].parameters) == {}


def test_what_is_known_to_be_spent_has_a_limit_unless_it_is_lifted() -> None:
    dear = Reply("x", tokens_in=1_000_000, tokens_out=1)
    body = "repeat 9:\n  call writer"
    outcome, _ = run(Fake(then=dear), body)
    assert (outcome.status, outcome.usage.calls) == ("limited", 5)
    outcome, _ = run(Fake(then=dear), body, limits=Limits(known_cost=None))
    assert (outcome.status, outcome.usage.cost) == ("ok", pytest.approx(9.00009))


def test_an_unknown_price_passes_the_known_cost_and_no_limit_of_cost() -> None:
    services = {"other": prose.model_service("other", model="openai/unpriced")}
    outcome, _ = run(Fake(), "return call other", services=services)
    assert (outcome.status, outcome.usage.cost) == ("ok", None)
    fake = Fake()
    outcome, _ = run(fake, "return call other", services=services, limits=Limits(cost=100))
    assert (outcome.status, len(fake.requests)) == ("limited", 0)
    assert outcome.error is not None
    assert outcome.error.message == "the price of this model is unknown, and the run may cost at most $100"


def test_a_failure_that_cost_nothing_gives_its_reservation_back() -> None:
    fake = Fake(passing(0), passing(0), "at last")
    outcome, _ = run(fake, "return call writer", limits=Limits(tokens=4_300))
    assert (outcome.value, len(fake.requests)) == ("at last", 3)


def test_a_failure_that_may_have_cost_something_keeps_it() -> None:
    fake = Fake(passing(0, uncharged=False), then="never")
    outcome, _ = run(fake, "return call writer", limits=Limits(tokens=4_300))
    assert (outcome.status, len(fake.requests), outcome.usage.cost) == ("limited", 1, None)


def test_a_budget_is_no_failure_that_a_program_can_catch() -> None:
    body = 'try:\n  call writer\ncatch:\n  return "caught"'
    outcome, _ = run(Fake(), body, limits=Limits(tokens=10))
    assert (outcome.status, outcome.value) == ("limited", None)


NESTED = """\
---
name: outer
kind: pattern
---

### Patterns

```yaml
- name: careful
  pattern: inner
  with: {worker: writer}
```

### Delegation

```prose
call writer
call careful
call careful
call careful
```

## inner

### Slots

- `worker`

### Delegation

```prose
return call worker
```
"""


@pytest.mark.parametrize(
    ("quotas", "requests"),
    [
        ({"careful": Quota(calls=2)}, 3), ({"inner": Quota(calls=1)}, 2), ({"writer": Quota(calls=3)}, 3),
        ({"careful": Quota(tokens=4_400)}, 3), ({"careful": Quota(cost=0.0411)}, 3), ({}, 4),
    ],
)  # fmt: skip
def test_nested_limits_of_a_service_a_pattern_and_an_instance(quotas: dict[str, Quota], requests: int) -> None:
    fake = Fake()
    prices = {"openai/m": Price(input=0, output=10)}  # $0.04096 are reserved, $0.0001 settled
    outcome, _ = run(fake, NESTED, limits=Limits(quotas=quotas), settings={"prices": prices})
    assert (outcome.status, len(fake.requests)) == ("limited" if quotas else "ok", requests)


def test_tokens_that_other_services_report_count_too() -> None:
    script = prose.Script.from_data({"paid": {"always": {"returns": 1, "usage": {"tokens_in": 60}}}})
    outcome, _ = run(Fake(), "repeat 9:\n  call paid", script=script, limits=Limits(tokens=100))
    assert (outcome.status, outcome.usage.calls) == ("limited", 2)


@pytest.mark.parametrize("limits", [{"tokens": 0}, {"cost": 0}, {"cost": True}, {"known_cost": -1}, {"tokens": 1.5}])
def test_limits_that_are_none(limits: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="the limit `"):
        Limits(**limits)


# --- rates -----------------------------------------------------------------------------------------------------------


def paced(**rates: int) -> dict[str, Any]:
    return {"providers": {"openai": Provider(**rates)}}


def most_in_a_minute(times: list[float]) -> int:
    return max(sum(1 for other in times if at <= other < at + 60) for at in times)


def test_no_minute_has_more_requests_than_the_rate() -> None:
    fake = Fake(seconds=3)
    outcome, seconds = run(fake, CROWD, settings=paced(requests_per_minute=10))
    assert (outcome.status, len(fake.times), most_in_a_minute(fake.times)) == ("ok", 40, 10)
    assert 180 <= seconds < 190


def test_waiting_for_a_turn_is_not_the_service_s_time() -> None:
    body = CROWD + "\n    timeout: 5"
    outcome, _ = run(Fake(seconds=3), body, settings=paced(requests_per_minute=10))
    assert outcome.status == "ok"


def test_tokens_per_minute_are_counted_as_used() -> None:
    # A request reserves 16,384 tokens of output and uses 110 in all.
    fake = Fake()
    outcome, seconds = run(fake, CROWD, settings=paced(tokens_per_minute=18_000), limits=Limits(concurrency=1))
    assert outcome.status == "ok"
    reserved = fake.requests[0].most_tokens_in + 16_384
    assert most_in_a_minute(fake.times) == (18_000 - reserved) // 110 + 1
    assert seconds % 60 == 0


# --- pauses ----------------------------------------------------------------------------------------------------------


def test_pauses_double_and_differ_from_run_to_run() -> None:
    seen = set()
    for _ in range(2):
        fake = Fake(passing(), passing())
        outcome, _ = run(fake, "return call writer")
        assert outcome.value == "fine"
        first, second = (later - sooner for sooner, later in zip(fake.times, fake.times[1:], strict=False))
        assert 0.25 <= first <= 0.75
        assert 0.5 <= second <= 1.5
        seen.add((first, second))
    assert len(seen) == 2


def test_retry_after_is_honoured_to_the_second() -> None:
    fake = Fake(passing(7), passing(0))
    run(fake, "return call writer")
    assert fake.times == [0, 7, 7]


def test_a_wait_that_is_too_long_is_not_begun() -> None:
    fake = Fake(passing(3600))
    outcome, seconds = run(fake, "return call writer")
    assert (outcome.status, len(fake.requests), seconds) == ("failed", 1, 0)
    assert outcome.error is not None
    assert outcome.error.hint == "it asks to wait 3600 s, and at most 120 s are waited"


def test_requests_and_pauses_share_the_call_s_timeout() -> None:
    fake = Fake(passing(2), passing(2), seconds=1)
    outcome, seconds = run(fake, "return call writer\n  timeout: 6.5")
    # 1 s, a pause of 2, 1 s, a pause of 2: half a second is left, and the answer takes one.
    assert (outcome.error and outcome.error.code, len(fake.requests), seconds) == ("P408", 3, 6.5)
    outcome, seconds = run(Fake(passing(2), passing(2), seconds=1), "return call writer\n  timeout: 7.5")
    assert (outcome.value, seconds) == ("fine", 7)


def test_each_attempt_of_the_program_has_its_own_time() -> None:
    fake = Fake(seconds=2)
    outcome, seconds = run(fake, "return call writer\n  timeout: 1\n  retry: 2")
    assert (outcome.error and outcome.error.code, len(fake.requests), seconds) == ("P408", 3, 3)


def test_usage_of_all_requests_of_a_call_is_summed() -> None:
    fake = Fake(Reply("", tokens_in=1, tokens_out=2), passing(0), Reply("x", tokens_in=10, tokens_out=20))
    outcome, _ = run(fake, "return call writer")
    usage = {"tokens_in": 11, "tokens_out": 22, "cost": pytest.approx(0.000231)}
    assert outcome.usage.as_json() == {"calls": 3, **usage}
    assert outcome.trace.calls[0].usage == {"calls": 0, **usage}
