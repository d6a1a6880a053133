"""A process that has imported Keras and has run nothing: its forks can use Keras at once.

The judge sends it, over a Unix socket, what one child needs: three descriptors (the child's channel, its
keeper's, and its output's) and limits. An operation of TensorFlow before the fork would make every child
hang, since a fork has none of its parent's threads: so there must be none, and `clean` tells.
"""

import importlib
import json
import os
import shutil
import signal
import socket
import sys
from collections.abc import Callable
from typing import Any

from . import forbidden, linux, sandbox
from .child import serve_socket
from .hooks import install
from .keeper import keep
from .protocol import frame
from .sandbox import Limits, Readable

PRELOADED = ("keras", "tensorflow", "matplotlib.pyplot", "safetensors.numpy")


class Zygote:
    def __init__(self, preload: tuple[str, ...] = PRELOADED) -> None:
        for name in preload:
            importlib.import_module(name)
        self.layers = sandbox.probe()
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers need no farewell
        if sys.platform == "linux":
            linux.hide_memory()
        self.readable = sandbox.readable(sys.path, _drawing())

    def serve(self, judge: socket.socket) -> None:
        """Fork a keeper for each message until the judge hangs up."""
        judge.send(json.dumps({"layers": self.layers, "clean": clean()}).encode())
        while True:
            message, descriptors, _, _ = socket.recv_fds(judge, 4096, 3)
            if not message:
                return
            self.fork(json.loads(message), *descriptors)

    def fork(self, wanted: dict[str, Any], channel: int, control: int, output: int) -> None:
        layers = [layer for layer in wanted["layers"] if layer in self.layers]
        limits = Limits(**wanted["limits"])
        if not os.fork():
            _never_return(
                lambda: keep(
                    socket.socket(fileno=control),
                    layers,
                    lambda: _enter(layers, limits, self.readable, channel, output),
                )
            )
        for descriptor in (channel, control, output):
            os.close(descriptor)


def clean() -> bool:
    """Whether TensorFlow has run no operation in this process."""
    context = sys.modules.get("tensorflow.python.eager.context")
    return context is None or context._context is None or context._context._context_handle is None


def _enter(layers: list[str], limits: Limits, readable: Readable, channel: int, output: int) -> None:
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir("/")
    os.setsid()
    fault = ""
    try:
        sandbox.seal(layers, limits, readable, {channel})
        if "files" not in layers:
            install(but=["os.fork"])  # its keeper ends what it forks
    except Exception as error:
        fault = repr(error)
    os.write(channel, frame(fault.encode()))  # before it meets the submission: the judge waits for it
    if not fault:
        serve_socket(channel)


def _drawing() -> list[str]:
    """What figures need: caches, and fonts wherever they are."""
    matplotlib, manager = map(sys.modules.get, ("matplotlib", "matplotlib.font_manager"))
    if not (matplotlib and manager):
        return []
    fonts = {font.fname for font in [*manager.fontManager.ttflist, *manager.fontManager.afmlist]}
    elsewhere = [font for font in fonts if not font.startswith((*sandbox.READABLE, *sys.path))]
    return [matplotlib.get_cachedir(), matplotlib.get_configdir(), *elsewhere]


def _never_return(action: Callable[[], None]) -> None:
    try:
        action()
    finally:
        os._exit(1)


def main() -> None:
    """Serve at the socket given; at the end remove the folder given, also when the judge was killed."""
    judge, home = socket.socket(fileno=int(sys.argv[1])), sys.argv[2]
    forbidden.take_away()
    try:
        Zygote().serve(judge)
    finally:
        shutil.rmtree(home, ignore_errors=True)
