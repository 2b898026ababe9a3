"""Services that a language model does: what they are asked, how they answer, what that may cost.

    contract ─┐
    inputs  ──┼─▶ prompt ─▶ Request ─▶ Completion ─▶ Reply ─▶ answer ─▶ value
    choice  ──┘             (litellm, or whatever is put in its place)

Only `litellm_completion.py` knows litellm, and imports it with the first request; `gathering.py` puts its streams
together. Limits, budgets, rates and retries are the business of `handlers/`; what a session remembers is in
`runtime/conversations.py`, and recordings are not here.
"""
