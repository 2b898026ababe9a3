"""Language models that run in this process, without a key and without a network: `local:NAME`.

    catalogue ─▶ fetching ─▶ store      once: `prose models install NAME`
                               │
    Request ─▶ completion ─▶ engine ─▶ Reply

Only `engine.py` knows xllamacpp, and imports it with the first request. What such a small model is good for is said in
`docs/models.md`.
"""
