"""The process that runs one submission for one check: it reads requests and writes answers, nothing else."""

import os
import random
from collections.abc import Callable
from typing import BinaryIO

import numpy as np

from . import autograph, protocol
from .servant import Servant


def serve(read: Callable[[int], bytes], write: Callable[[bytes], object]) -> None:
    """Answer until the judge hangs up."""
    random.seed(0)
    np.random.seed(0)
    autograph.keep_in_memory()
    servant = Servant()
    while True:
        try:
            request = protocol.read_frame(read)
        except protocol.Broken:
            return
        write(protocol.frame(servant.answer(request)))


def serve_socket(descriptor: int) -> None:
    import socket

    channel = socket.socket(fileno=descriptor)
    serve(channel.recv, channel.sendall)


def serve_pipes(seal: Callable[[], None]) -> None:
    """For a process of its own, where there is no fork: standard input and output are the channel.

    The submission gets none of both: its output goes where its errors go.
    """
    requests: BinaryIO = os.fdopen(os.dup(0), "rb", buffering=0)
    answers: BinaryIO = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    seal()
    serve(requests.read, lambda data: _write_all(answers, data))


def _write_all(stream: BinaryIO, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[stream.write(view) :]
