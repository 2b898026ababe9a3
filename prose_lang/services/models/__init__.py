"""Services that a language model does: what they are asked, how they answer, what that may cost.

    contract ─┐
    inputs  ──┼─▶ prompt ─▶ Request ─▶ Completion ─▶ Reply ─▶ answer ─▶ value
    choice  ──┘             (litellm, or whatever is put in its place)

Only `litellm_completion.py` knows litellm, and imports it with the first request. Limits, budgets, rates and retries
are the business of `handlers/`; sessions that remember, streams and recordings are not here.
"""
