"""The parent of one child, which outlives it and nothing else: kills it when told to, or when left alone.

The judge holds the other end of `control`. The keeper says there which process the child is and, at last, how
it ended; when the judge closes its end, be it by its own death, the child and all that it started are gone.
"""

import json
import os
import resource
import select
import signal
import socket
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path

from . import linux, sandbox


def keep(control: socket.socket, layers: Collection[str], enter: Callable[[], None]) -> None:
    """Run `enter` in a child and wait. Never returns."""
    os.setsid()
    linux.adopt_orphans()
    sandbox.enter_namespaces(layers)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    child = os.fork()
    if not child:
        control.close()
        try:
            enter()
        finally:
            os._exit(0)
    _say(control, pid=child)
    # what the child holds open must end with the child
    sandbox.close_all_but({0, 1, 2, control.fileno()})
    handle = os.pidfd_open(child)
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    poll.register(control, select.POLLIN | select.POLLHUP)
    poll.poll()
    signal.pidfd_send_signal(handle, signal.SIGKILL)
    _, status, usage = os.wait4(child, 0)
    _kill_orphans()
    inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = max(0, usage.ru_maxrss - inherited) * 1024
    _say(control, exit=os.waitstatus_to_exitcode(status), memory=memory)
    os._exit(0)


def _say(control: socket.socket, **facts: int) -> None:
    with suppress(OSError):  # the judge may have gone
        control.send(json.dumps(facts).encode())


def _kill_orphans() -> None:
    """With a process namespace there are none; else all that the child has started are adopted here."""
    me = os.getpid()
    while children := Path(f"/proc/{me}/task/{me}/children").read_text().split():
        for pid in map(int, children):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
