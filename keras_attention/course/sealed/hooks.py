"""Refusals by Python itself, for systems without the walls of `sandbox`: a help, not a wall."""

import os
import sys
from typing import Any

REFUSED = (
    "os.exec", "os.fork", "os.kill", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "pty.spawn",
    "subprocess.Popen", "socket.bind", "socket.connect", "socket.getaddrinfo", "socket.sendto",
    "ctypes.dlopen", "ctypes.string_at", "os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename",
    "os.rmdir", "os.symlink", "os.truncate", "shutil.",
)  # fmt: skip
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def install() -> None:
    """From now on this process starts and signals nothing, writes no file, and reads none of the course."""
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[Any, ...]) -> None:
    if event.startswith(REFUSED):
        raise PermissionError(f"{event} is not allowed here")
    if event == "open":
        path, _, flags = arguments
        if isinstance(path, int):  # a descriptor that is open
            return
        if flags & WRITING or "keras_attention" in os.path.realpath(os.fsdecode(path)):
            raise PermissionError(f"{path} may not be opened here")
