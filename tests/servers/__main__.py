"""`python -m servers postgres` or `temporal`, as `make postgres` and `make temporal` call it: a server to try.

It runs on a free port of loopback until Ctrl-C, and what it keeps goes with it.
"""

from __future__ import annotations

import signal
import sys
import threading

from _pytest.outcomes import OutcomeException

from servers import postgres, temporal


def main(kind: str) -> int:
    """Start a server, say how it is reached, and wait to be stopped."""
    try:
        if kind == "postgres":
            postgres.need_driver()
            server: postgres.PostgresServer | temporal.TemporalServer = postgres.PostgresServer(postgres.binaries())
        else:
            server = temporal.TemporalServer(temporal.binary())
    except OutcomeException as error:
        print(error, file=sys.stderr)
        return 1
    try:
        if isinstance(server, postgres.PostgresServer):
            print(f"export PROSE_STORE={server.url()}", flush=True)
        else:
            print(f"export PROSE_TEMPORAL={server.address}", flush=True)
        threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    finally:
        server.close()
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main(sys.argv[1]))
