"""Channels to children forked from a zygote, which has Keras loaded."""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from keras_attention.course.channels import OUTPUT, Closing, Ended
from keras_attention.course.places import PACKAGE, content
from keras_attention.course.sealed import protocol
from keras_attention.course.sealed.hooks import PRIVATE
from keras_attention.course.sealed.sandbox import LAYERS, Limits, isolation
from keras_attention.course.verdict import GraderFault

START = 300.0  # seconds for the import of Keras on a slow machine
PATIENCE = 5  # times its limit that a submission may have waited for a processor
PASSED_ON = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT", "KERAS_BACKEND")


def sealed_command(module: str, *arguments: str) -> list[str]:
    """Python running `main` of a module of `sealed`, where keras_attention cannot be imported."""
    return _command("", Path(__file__).parent, "sealed", module, *arguments)


def own_command(*arguments: str) -> list[str]:
    """Python running the command line of this very package, wherever it is, and nothing of the user's."""
    name = "sys.orig_argv = ['keras-attention']; "  # which imports Keras only where it needs it
    return _command(name, PACKAGE.parent, PACKAGE.name, "cli", *arguments)


def _command(first: str, home: Path, package: str, module: str, *arguments: str) -> list[str]:
    code = (
        f"import sys; {first}sys.path[:] = {[str(home), *libraries()]!r}; import {package}; "
        f"del sys.path[0]; from {package} import {module}; {module}.main()"
    )
    return [sys.executable, "-I", "-c", code, *arguments]


def libraries() -> list[str]:
    """Of Python's path what is its own or installed: no folder of the user's, where submissions may lie."""
    own, installed = Path(os.__file__).parents[1], {"site-packages", "dist-packages"}
    path = map(Path, sys.path)
    return [str(folder) for folder in path if folder.is_relative_to(own) or installed & {*folder.parts}]


def private() -> list[str]:
    """The folders that no submission may read: of the course, and those that `PRIVATE` names."""
    ours = [PACKAGE, content("solutions"), content("exercises") / "checks"]
    ours += [Path(folder) / PACKAGE.name for folder in libraries()]
    return [*map(str, ours), *json.loads(os.environ.get(PRIVATE, "[]"))]


def keep_private(*folders: Path) -> None:
    """For all submissions that this process, or one that it starts, runs from now on."""
    os.environ[PRIVATE] = json.dumps([str(folder.resolve()) for folder in folders])


def sealed_environment(home: str) -> dict[str, str]:
    """Nothing of the user's but what Python needs; settings and caches in a folder that will be deleted."""
    kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    homes = dict.fromkeys(
        ("HOME", "TMPDIR", "TEMP", "TMP", "MPLCONFIGDIR", "KERAS_HOME", "USERPROFILE"), home
    )
    threads = dict.fromkeys(("TF_NUM_INTEROP_THREADS", "TF_NUM_INTRAOP_THREADS", "OMP_NUM_THREADS"), "1")
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "MPLBACKEND": "Agg"}
    start = {"TF_ENABLE_ONEDNN_OPTS": "0"}  # which small arrays do not need, and which is slow to begin
    rules = {"PYTHONHASHSEED": "0", PRIVATE: json.dumps(private())}
    return kept | homes | threads | quiet | start | rules


class Zygote(Closing):
    """The process that is forked. Starting it takes the seconds that the import of Keras takes.

    Args:
        layers: the layers of the sandbox to use, where this machine allows them.
    """

    def __init__(self, layers: Sequence[str] = LAYERS):
        self._wanted = tuple(layers)
        self._start()

    def _start(self) -> None:
        self._home = tempfile.mkdtemp(prefix="keras-attention-")
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                sealed_command("zygote", str(theirs.fileno()), self._home),
                pass_fds=[theirs.fileno()],
                env=sealed_environment(self._home),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        self._line.settimeout(START)
        hello = self._line.recv(4096)
        if not hello:
            _, errors = self._process.communicate()
            self.close()
            raise GraderFault(f"The process that loads Keras ended: {errors.decode(errors='replace')[-500:]}")
        state = json.loads(hello)
        self.layers = tuple(layer for layer in state["layers"] if layer in self._wanted)
        self.clean = state["clean"]
        if not self.clean:
            self.close()
            raise GraderFault("An operation ran before the first fork, so that forks would hang.")

    @property
    def isolation(self) -> str:
        return isolation(self.layers)

    def open(self, limits: Limits) -> "Forked":
        """A child for one check."""
        if self._process.poll() is not None:
            self.close()
            self._start()
        return Forked(self._line, self.layers, limits)

    @contextmanager
    def share(self, path: Path) -> Iterator[None]:
        """Let other processes of this user fork from this zygote: they find it at a socket."""
        with socket.socket(socket.AF_UNIX) as door:
            with suppress(FileNotFoundError):
                path.unlink()
            try:
                door.bind(str(path))
            except OSError:  # a path that is too long, or on a file system without sockets
                yield
                return
            path.chmod(0o600)
            door.listen()
            threading.Thread(target=self._lend, args=(door,), daemon=True).start()
            try:
                yield
            finally:
                path.unlink(missing_ok=True)
                door.shutdown(socket.SHUT_RDWR)

    def _lend(self, door: socket.socket) -> None:
        with suppress(OSError):
            while True:
                guest, _ = door.accept()
                with guest:
                    socket.send_fds(guest, [json.dumps(self.layers).encode()], [self._line.fileno()])

    @staticmethod
    @contextmanager
    def borrow(path: Path) -> "Iterator[Borrowed | None]":
        """The zygote that is shared at this socket, or None."""
        with socket.socket(socket.AF_UNIX) as guest:
            try:
                guest.settimeout(5)
                guest.connect(str(path))
                layers, descriptors, _, _ = socket.recv_fds(guest, 4096, 1)
                line = socket.socket(fileno=descriptors[0])
            except (OSError, IndexError):
                yield None
                return
        with line:
            yield Borrowed(line, json.loads(layers))

    def close(self) -> None:
        self._line.close()
        self._process.kill()
        self._process.wait()
        if self._process.stderr:
            self._process.stderr.close()
        shutil.rmtree(self._home, ignore_errors=True)


@dataclass
class Borrowed:
    """Another process's zygote."""

    line: socket.socket
    layers: Sequence[str]

    def open(self, limits: Limits) -> "Forked":
        return Forked(self.line, self.layers, limits)


class Forked(Closing):
    """The line to one child; see `sealed.keeper` for who ends it."""

    def __init__(self, zygote: socket.socket, layers: Sequence[str], limits: Limits):
        self.output = b""
        self._began: float | None = None
        self._limits = limits
        self._channel, channel = socket.socketpair()
        self._control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._printed, printed = os.pipe()
        wanted = json.dumps({"layers": layers, "limits": asdict(limits)}).encode()
        try:
            socket.send_fds(zygote, [wanted], [channel.fileno(), control.fileno(), printed])
        except OSError as error:
            raise GraderFault(f"The process that is forked has gone: {error}.") from None
        finally:
            channel.close()
            control.close()
            os.close(printed)
        self._control.settimeout(30)
        self._pid = self._hear().get("pid")
        if self._pid is None:
            self.close()
            raise GraderFault("No process could be forked.")
        try:
            self._channel.settimeout(30)
            fault = protocol.read_frame(self._channel.recv).decode(errors="replace")
        except (protocol.Broken, OSError) as error:
            fault = f"its process ended ({error})"
        if fault:
            self.close()
            raise GraderFault(f"The sandbox could not be built: {fault}.")

    def ask(self, request: bytes) -> bytes:
        if self._began is None:
            self._began = time.monotonic()
        try:
            self._channel.settimeout(max(self._left(), 0.001))
            self._channel.sendall(protocol.frame(request))
            answer = protocol.read_frame(self._read)
        except TimeoutError:
            self._end()
            raise Ended("time", seconds=self._limits.seconds) from None
        except (protocol.Broken, OSError):
            status, memory = self._end()
            raise Ended("memory" if memory > 0.8 * self._limits.memory else "crash", status) from None
        self._drain_all()
        return answer

    def _left(self) -> float:
        """Seconds until its time is out; those in which it waits for a processor are not its own."""
        assert self._began is not None
        left = self._began + self._limits.seconds - time.monotonic()
        return left if left > 0 else left + min(self._waited(), PATIENCE * self._limits.seconds)

    def _waited(self) -> float:
        """Seconds in which it could have run, had there been a processor: of the thread that waited most."""
        waited = [0.0]
        for file in Path(f"/proc/{self._pid}/task").glob("*/schedstat"):
            with suppress(OSError, ValueError, IndexError):
                waited.append(int(file.read_text().split()[1]) / 1e9)
        return max(waited)

    def _read(self, length: int) -> bytes:
        """Wait for the channel, and meanwhile drain what the submission prints."""
        waiting: list[Any] = [self._channel, self._printed]
        while (left := self._left()) > 0:
            ready, _, _ = select.select(waiting, [], [], left)
            if self._channel in ready:
                return self._channel.recv(length)
            if ready and not self._drain():
                waiting.remove(self._printed)
        raise TimeoutError

    def _drain(self) -> bool:
        data = os.read(self._printed, 2**16)
        self.output += data[: max(0, OUTPUT - len(self.output))]
        return bool(data)

    def _drain_all(self) -> None:
        for _ in range(64):  # more than is kept; a submission may go on printing for ever
            if not (select.select([self._printed], [], [], 0)[0] and self._drain()):
                return

    def _end(self) -> tuple[int | None, int]:
        """Let the keeper kill the child; how it had ended, if it had, and its memory."""
        if self._pid is None:
            return None, 0
        with suppress(OSError):
            self._control.shutdown(socket.SHUT_WR)
        end = self._hear()
        if not end:  # the keeper has been killed before its child
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
        self._pid = None
        self._drain_all()
        return end.get("exit"), end.get("memory", 0)

    def _hear(self) -> dict[str, int]:
        with suppress(OSError, ValueError):
            return json.loads(self._control.recv(4096))
        return {}

    def close(self) -> None:
        self._end()
        self._channel.close()
        self._control.close()
        if self._printed >= 0:
            os.close(self._printed)
            self._printed = -1
