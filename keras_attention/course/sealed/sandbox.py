"""The walls around a child that runs a submission, each of them probed, since some hosts forbid some.

    namespaces   its own processes and network: it sees and signals nobody, and all of it ends with it
    files        Landlock: it reads Python's libraries and no other file, writes none
    calls        seccomp: it starts threads, but no process, no program and no connection
    limits       memory, processor time, open files, size of files

Isolation is "full" if all of them hold, "process-only" if only limits do, "partial" otherwise.
"""

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from . import linux

LAYERS = ("namespaces", "files", "calls", "limits")

READABLE = (
    "/usr/share/fonts", "/usr/share/zoneinfo", "/etc/fonts", "/etc/ld.so.cache", "/etc/localtime",
    "/dev/random", "/dev/urandom", "/dev/zero", "/proc/self", "/proc/cpuinfo", "/proc/meminfo",
    "/proc/filesystems", "/proc/sys/vm", "/sys/devices/system/cpu", "/sys/fs/cgroup",
)  # fmt: skip
LIBRARIES = ("/usr/lib", "/usr/lib64", "/lib", "/lib64")
CLOSED = re.compile(r".*keras_attention.*|(site|dist)-packages|python[\d.]+t?")  # unless on Python's path


@dataclass(frozen=True)
class Limits:
    """What one check may use."""

    seconds: float = 10.0
    memory: int = 2**30  # bytes beyond what the process has at its start


def isolation(layers: Iterable[str]) -> str:
    walls = {"namespaces", "files", "calls"} & set(layers)
    return "full" if len(walls) == 3 else "partial" if walls else "process-only"


@dataclass(frozen=True)
class Readable:
    """The files that a child may read, with all below them, and the folders that it may list."""

    files: tuple[str, ...]
    folders: tuple[str, ...]


def readable(path: Iterable[str], also: Iterable[str] = ()) -> Readable:
    """What of Python's path, and of the system's libraries, may be read.

    keras_attention lies in one of these folders, and with it solutions and checks: so a folder is allowed
    entry by entry, without it. An entry may be a link to a folder elsewhere.
    """
    beside = Path(os.__file__).parents[1].glob("*.so*")  # libraries of a Python that brings its own
    files = {*READABLE, *also, *map(str, beside)}
    folders = {os.path.realpath(folder) for folder in (*path, *LIBRARIES) if os.path.isdir(folder)}
    for folder in map(Path, folders):
        for entry in folder.iterdir():
            real = Path(os.path.realpath(entry))
            closed = any(map(CLOSED.fullmatch, (entry.name, real.name)))
            if not closed and not (real / "keras_attention").is_dir():
                files.add(str(real))
    return Readable(tuple(sorted(files)), tuple(sorted(folders)))


def enter_namespaces(layers: Iterable[str]) -> None:
    """For the parent of the child, which stays outside of the new process namespace itself."""
    if "namespaces" in layers:
        linux.unshare(sum(linux.NAMESPACES.values()))


def seal(layers: Iterable[str], limits: Limits, readable: Readable, keep: set[int]) -> None:
    """Build the walls from inside; for the child, before it meets the submission."""
    close_all_but({0, 1, 2, *keep})
    if "limits" in layers:
        set_limits(limits)
    if not {"namespaces", "files", "calls"} & set(layers):
        return
    linux.drop_capabilities()
    linux.no_new_privileges()
    linux.hide_memory()
    if "files" in layers:
        linux.landlock(readable.files, readable.folders, ["/dev/null"])
    if "calls" in layers:
        linux.refuse_system_calls()


def close_all_but(keep: set[int]) -> None:
    edges = sorted(keep)
    for low, high in zip(edges, [*edges[1:], 65536], strict=True):
        os.closerange(low + 1, high)


def set_limits(limits: Limits) -> None:
    import resource

    def limit(what: int, most: int) -> None:
        _, hard = resource.getrlimit(what)
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))

    seconds = int(limits.seconds) + 2
    limit(resource.RLIMIT_CORE, 0)
    limit(resource.RLIMIT_FSIZE, 0)
    limit(resource.RLIMIT_NOFILE, 128)
    limit(resource.RLIMIT_CPU, seconds * (os.cpu_count() or 1))
    if sys.platform == "linux":  # elsewhere these limits do not do what they say
        space, data = _sizes()
        limit(resource.RLIMIT_DATA, data + limits.memory)
        threads = 2**27 * min(os.cpu_count() or 1, 8)  # room that threads reserve and do not use
        limit(resource.RLIMIT_AS, space + 2 * limits.memory + threads)


def _sizes() -> tuple[int, int]:
    """Address space and data of this process, in bytes."""
    pages = Path("/proc/self/statm").read_text().split()
    return int(pages[0]) * os.sysconf("SC_PAGESIZE"), int(pages[5]) * os.sysconf("SC_PAGESIZE")


def probe() -> tuple[str, ...]:
    """The layers that hold on this machine: each is built in a process of its own, and tried."""
    if not hasattr(os, "fork") or sys.platform == "win32":
        return ()
    return tuple(layer for layer in LAYERS if _holds(_TRIALS[layer]))


def _holds(trial: Callable[[], bool]) -> bool:
    pid = os.fork()
    if not pid:
        held = False
        try:
            held = trial()
        except BaseException:
            held = False
        os._exit(not held)
    for _ in range(500):
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return status == 0
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


def _try_namespaces() -> bool:
    enter_namespaces(["namespaces"])
    child = os.fork()
    if not child:
        os._exit(os.getpid() != 1)
    return os.waitpid(child, 0)[1] == 0


def _try_files() -> bool:
    seal(["files"], Limits(), readable([os.path.dirname(os.__file__)]), set())
    Path(os.__file__).read_bytes()
    return _refused(lambda: os.listdir("/")) and _refused(lambda: os.open("/tmp/x", os.O_CREAT | os.O_RDWR))


def _try_calls() -> bool:
    import socket

    seal(["calls"], Limits(), Readable((), ()), set())
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    return _refused(os.fork) and _refused(socket.socket)


def _try_limits() -> bool:
    set_limits(Limits(memory=2**26))
    try:
        bytearray(2**27)
    except MemoryError:
        return True
    return sys.platform != "linux"


def _refused(action: Callable[[], object]) -> bool:
    try:
        action()
    except PermissionError:
        return True
    return False


_TRIALS = {
    "namespaces": _try_namespaces,
    "files": _try_files,
    "calls": _try_calls,
    "limits": _try_limits,
}
