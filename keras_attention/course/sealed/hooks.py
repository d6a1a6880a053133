"""Refusals by Python itself, for systems without the walls of `sandbox`: a help, not a wall."""

import json
import os
import sys
from collections.abc import Collection
from typing import Any

PRIVATE = "KERAS_ATTENTION_PRIVATE"  # in the environment: a list, in JSON, of folders that are not read

REFUSED = (
    "os.exec", "os.fork", "os.kill", "os.posix_spawn", "os.spawn", "os.startfile", "os.system", "pty.spawn",
    "subprocess.Popen", "socket.bind", "socket.connect", "socket.getaddrinfo", "socket.sendto",
    "ctypes.dlopen", "ctypes.string_at", "os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename",
    "os.rmdir", "os.symlink", "os.truncate", "shutil.",
)  # fmt: skip
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def install(but: Collection[str] = ()) -> None:
    """From now on this process starts and signals nothing, writes no file, and reads none that is private.

    Args:
        but: what of `REFUSED` is allowed all the same.
    """
    refused = tuple(event for event in REFUSED if event not in but)
    private = set(map(_as_folder, json.loads(os.environ.get(PRIVATE, "[]"))))
    known = private.union(map(_as_folder, sys.path))  # libraries may lie in what is private, and it in them

    def refuse(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(refused):
            raise PermissionError(f"{event} is not allowed here")
        if event == "open":
            path, _, flags = arguments
            if isinstance(path, int):  # a descriptor that is open
                return
            place = _as_folder(os.fsdecode(path))
            around = max(filter(place.startswith, known), key=len, default="")
            if flags & WRITING or around in private:
                raise PermissionError(f"{path} may not be opened here")

    sys.addaudithook(refuse)


def _as_folder(path: str) -> str:
    """All names of a folder as one text, with which every path below begins; case makes no difference."""
    return os.path.join(os.path.realpath(path), "").casefold()
