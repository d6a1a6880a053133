"""Channels to children that are new processes: for systems that cannot fork, such as Windows and macOS.

Each check pays for the imports of the submission, so Keras is imported before the clock starts if the
submission names it.
"""

import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from typing import IO, Any

import psutil

from keras_attention.course.channels import OUTPUT, Closing, Ended
from keras_attention.course.forked import START, sealed_command, sealed_environment
from keras_attention.course.sealed import protocol
from keras_attention.course.sealed.sandbox import Limits
from keras_attention.course.verdict import GraderFault

PRELOADED = ("keras", "tensorflow", "matplotlib.pyplot")
TOKEN = "KERAS_ATTENTION_CHILD"  # in the environment of the child and of all that it starts


class Fresh(Closing):
    """A line to a process of its own; limits are all its isolation."""

    isolation = "process-only"

    def __init__(self, limits: Limits):
        self.output = b""
        self._limits, self._token = limits, uuid.uuid4().hex
        self._deadline = 0.0
        self._home = tempfile.mkdtemp(prefix="keras-attention-")
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._rest = b""
        self._threads: list[threading.Thread] = []

    def _start(self, preload: list[str]) -> subprocess.Popen[bytes]:
        wanted = {"layers": ["limits"], "limits": asdict(self._limits), "preload": preload}
        process = self._process = subprocess.Popen(
            sealed_command("fresh", json.dumps(wanted)),
            env=sealed_environment(self._home) | {TOKEN: self._token},
            cwd=self._home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=os.name == "posix",
        )
        for stream, use in ((process.stdout, self._answers.put), (process.stderr, self._print)):
            self._run(_pump, stream, use)
        try:
            ready = b"".join(self._read_until(time.monotonic() + START, 1) for _ in range(6))
        except (Ended, protocol.Broken, TimeoutError):
            self.close()
            raise GraderFault(f"A new process ended: {self.output.decode(errors='replace')[-500:]}") from None
        if ready != b"ready\n":
            self.close()
            raise GraderFault("A new process printed something before it was ready.")
        self.output = b""  # what Keras says at its start
        self._deadline = time.monotonic() + self._limits.seconds
        return process

    def ask(self, request: bytes) -> bytes:
        process = self._process or self._start(
            [name for name in PRELOADED if name.split(".")[0].encode() in request]
        )
        try:
            # a child that does not read must not hold up the judge
            self._run(_write, process.stdin, request)
            return protocol.read_frame(lambda length: self._read_until(self._deadline, length))
        except TimeoutError:
            self._kill()
            raise Ended("time", seconds=self._limits.seconds) from None
        except protocol.Broken:
            self._kill()
            raise Ended("crash", process.returncode) from None

    def _read_until(self, deadline: float, length: int) -> bytes:
        if not self._rest:
            try:
                self._rest = self._answers.get(timeout=max(deadline - time.monotonic(), 0.001))
            except queue.Empty:
                raise TimeoutError from None
        data, self._rest = self._rest[:length], self._rest[length:]
        return data

    def _run(self, action: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=action, args=arguments, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _print(self, data: bytes) -> None:
        self.output += data[: max(0, OUTPUT - len(self.output))]

    def _kill(self) -> None:
        """The process and all that it has started, also what has left its tree but kept its environment."""
        if self._process is None:
            return
        for _ in range(20):
            processes = list(_marked(self._token))
            if not processes and self._process.poll() is not None:
                break
            for process in processes:
                with suppress(psutil.Error):
                    process.kill()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=0.2)
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        self._kill()
        for thread in self._threads:
            thread.join(timeout=5)
        if self._process and self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
        shutil.rmtree(self._home, ignore_errors=True)


def _marked(token: str) -> Any:
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(TOKEN) == token:
                yield process


def _pump(stream: IO[bytes], use: Any) -> None:
    """Read to the end, so that the other side never waits; the end is an empty piece."""
    with suppress(OSError, ValueError), stream:
        while data := os.read(stream.fileno(), 2**16):
            use(data)
    use(b"")


def _write(stream: IO[bytes], request: bytes) -> None:
    with suppress(OSError, ValueError):
        stream.write(protocol.frame(request))
        stream.flush()
