"""Messages over a socket or a pipe: 4 bytes of length, then that many bytes; no more than `LARGEST`.

Requests, from judge to child:

    {"verb": "load", "source": …, "filename": …}                   → {"value": None}
    {"verb": "call", "name": …, "args": […], "kwargs": {…}}        → {"value": …}
    {"verb": "layer", …, "options": {…}, "weights": {path: array}} → {"value": …}

or else {"error": {"cause": …, "kind": …, "message": …, "line": …}}. `values` says how they become bytes.
"""

import struct
from collections.abc import Callable

LARGEST = 64 * 2**20


class Broken(Exception):
    """The other side has gone, or does not keep to the form."""


def frame(payload: bytes) -> bytes:
    return struct.pack(">I", len(payload)) + payload


def read_frame(read: Callable[[int], bytes]) -> bytes:
    """One message. `read(n)` gives at most n bytes, and none at the end.

    The length is a claim of the other side: memory is taken only for what has really come.
    """
    (length,) = struct.unpack(">I", _exactly(read, 4))
    if length > LARGEST:
        raise Broken(f"a message of {length} bytes")
    return _exactly(read, length)


def _exactly(read: Callable[[int], bytes], length: int) -> bytes:
    parts = []
    while length:
        part = read(min(length, 2**20))
        if not part:
            raise Broken("the end in the middle of a message")
        parts.append(part)
        length -= len(part)
    return b"".join(parts)
