"""Runs a command, and ends it when standard input ends: `python guard.py SIGNAL USER COMMAND…`.

Whoever holds the other end of that pipe may die in any way; the kernel closes it. Should this process be killed itself,
Linux kills the command with it. It is a script of the standard library alone, so that it starts at once.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading

_PR_SET_PDEATHSIG = 1


def main() -> None:
    stop_signal, user, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]

    def with_this_process() -> None:  # this one has no thread yet, so that it may run code between fork and exec
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

    other = {"user": user, "extra_groups": []} if user and os.getuid() == 0 else {}
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=with_this_process, **other)

    def watch() -> None:
        os._exit(child.wait() & 0xFF)

    threading.Thread(target=watch, daemon=True).start()
    sys.stdin.buffer.read()
    child.send_signal(stop_signal)
    threading.Timer(10, child.kill).start()
    threading.Event().wait()  # the watcher ends this process with the child


main()
